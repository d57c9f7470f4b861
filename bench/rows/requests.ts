/** Reading and writing the text, compared with a bare server that sends the same response. */
import { compare, type LoadResult, type Target } from '../load.ts';
import { createRooms, type RoomOptions, type Server, startBare, startPoproom, writeText } from '../servers.ts';
import { atLeast, type Row } from '../table.ts';

export const textBody = JSON.stringify({ content: 'x'.repeat(100) });

export async function compareReading(): Promise<Row[]> {
  return compareWithBare({ work: 'reading the text, 64 connections', minRatio: 0.75 });
}

export async function compareWriting(): Promise<Row[]> {
  return compareWithBare({ work: 'durable writes of the same text', minRatio: 0.45, bodies: [textBody] });
}

/** Each write also stores the text before it in the history. */
export async function compareReplacing(): Promise<Row[]> {
  const bodies = bodiesOf(unrelatedTexts(1000));
  return compareWithBare({ work: 'durable writes of another text of 1 KB', minRatio: 0.2, bodies });
}

export interface Replacement {
  work: string;
  /** Each room receives them in turn. */
  bodies: string[];
  rooms: number;
  history: boolean;
  connections: number;
}

/** `POST …/content` with another text than before. */
export const replacements: Replacement[] = [
  ...inRooms('an unrelated text of 100 bytes', unrelatedTexts(100)),
  ...inRooms('an unrelated text of 1 KB', unrelatedTexts(1000)),
  ...inRooms('an unrelated text of 100 KB', unrelatedTexts(100_000)),
  ...inRooms('1 KB with another word in the middle', editedTexts(1000)),
  ...inRooms('100 KB with another word in the middle', editedTexts(100_000)),
];

function inRooms(text: string, texts: string[]): Replacement[] {
  const bodies = bodiesOf(texts);
  // Long texts of 64 connections would exceed the memory for bodies.
  const connections = (texts[0] ?? '').length > 10_000 ? 8 : 64;
  return [1, 100].flatMap((rooms) =>
    [true, false].map((history) => {
      const place = `${rooms === 1 ? 'one room' : `${rooms} rooms`}${history ? '' : ' without history'}`;
      return { work: `${text}, ${place}`, bodies, rooms, history, connections };
    }),
  );
}

export function bodiesOf(texts: readonly string[]): string[] {
  return texts.map((content) => JSON.stringify({ content }));
}

export function unrelatedTexts(length: number): string[] {
  return Array.from({ length: 4 }, (_, n) => words(n + 1).slice(0, length));
}

function editedTexts(length: number): string[] {
  const text = words(1);
  return ['here', 'there', 'elsewhere', 'nowhere'].map(
    (word) => `${text.slice(0, length / 2)} ${word} ${text.slice(length / 2, length)}`,
  );
}

/** 100 KB of prose: about 12,000 words of a small vocabulary, in lines of about 80 characters. */
function words(seed: number): string {
  let state = seed;
  let text = '';
  let line = 0;
  while (text.length < 100_000) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const word = (state % 4999).toString(36).repeat(1 + (state % 3));
    const isLineFull = text.length - line > 80;
    text += word + (isLineFull ? '\n' : ' ');
    if (isLineFull) line = text.length;
  }
  return text;
}

interface Comparison {
  work: string;
  minRatio: number;
  /** If set, requests use POST, with these bodies in turn. */
  bodies?: readonly string[];
}

async function compareWithBare({ work, minRatio, bodies }: Comparison): Promise<Row[]> {
  const poproom = await startPoproom({ port: 18_080 });
  const paths = await contentPaths(poproom, 64);
  const bare = await startBare(
    'http.js',
    18_081,
    JSON.stringify(await responseOf(poproom, paths[0] ?? '', bodies?.[0])),
  );
  try {
    const targets = [targetOf('bare', bare, ['/'], bodies), targetOf('Poproom', poproom, paths, bodies)];
    const [theirs, own] = compare(targets) as [LoadResult, LoadResult];
    const ratio = atLeast(own.perSecond / theirs.perSecond, minRatio);
    return [{ work, baseline: `bare node:http: ${show(theirs)}`, poproom: show(own), ...ratio }];
  } finally {
    await Promise.all([bare.stop(), poproom.stop()]);
  }
}

export function targetOf(name: string, { process, port }: Server, paths: string[], bodies?: readonly string[]): Target {
  return { name, process, port, paths, headers: headersOf(bodies?.[0]), ...(bodies && { bodies }) };
}

const headersOf = (body?: string): Record<string, string> =>
  body === undefined ? {} : { 'Content-Type': 'application/json' };

/** Creates rooms with a text. */
export async function contentPaths(server: Server, rooms: number, options: RoomOptions = {}): Promise<string[]> {
  const paths = (await createRooms(server, rooms, options)).map((room) => `/api/rooms/${room}/content`);
  await Promise.all(paths.map((path) => writeText(server.url + path, 'x'.repeat(100), options.pin)));
  return paths;
}

/** A response of Poproom, without the headers that Node adds. */
async function responseOf({ url }: Server, path: string, body?: string) {
  const headers = headersOf(body);
  const response = await fetch(url + path, body === undefined ? { headers } : { method: 'POST', headers, body });
  const own = [...response.headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name));
  return { headers: Object.fromEntries(own), body: await response.text() };
}

export const show = ({ perSecond, cpuMicros }: LoadResult) =>
  `${perSecond.toFixed(0)}/s, ${cpuMicros.toFixed(0)} µs CPU`;
