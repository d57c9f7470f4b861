/** Reading and writing the text, compared with a bare server that sends the same response. */
import { compare, type LoadResult, type Target } from '../load.ts';
import { createRooms, type Server, startBare, startPoproom, writeText } from '../servers.ts';
import { atLeast, type Row } from '../table.ts';

export const textBody = JSON.stringify({ content: 'x'.repeat(100) });

const pin = '0427';

export async function compareReading(): Promise<Row[]> {
  return compareWithBare({ work: 'reading the text, 64 connections', minRatio: 0.7 });
}

/** Shows the cost of hashing a PIN. It has no bound. */
export async function compareReadingWithPin(): Promise<Row[]> {
  const [row] = await compareWithBare({ work: 'reading the text of a room with a PIN', minRatio: 0, pin });
  return row ? [{ ...row, bound: '—' }] : [];
}

export async function compareWriting(): Promise<Row[]> {
  return compareWithBare({ work: 'durable writes, 64 connections', minRatio: 0.45, body: textBody });
}

interface Comparison {
  work: string;
  minRatio: number;
  /** If set, requests use POST. */
  body?: string;
  pin?: string;
}

async function compareWithBare({ work, minRatio, body, pin }: Comparison): Promise<Row[]> {
  const poproom = await startPoproom({ port: 18_080 });
  const paths = await contentPaths(poproom, 64, pin);
  const bare = await startBare('http.js', 18_081, JSON.stringify(await responseOf(poproom, paths[0] ?? '', body, pin)));
  try {
    const targets = [targetOf('bare', bare, ['/'], body, pin), targetOf('Poproom', poproom, paths, body, pin)];
    const [theirs, own] = compare(targets) as [LoadResult, LoadResult];
    const ratio = atLeast(own.perSecond / theirs.perSecond, minRatio);
    return [{ work, baseline: `bare node:http: ${show(theirs)}`, poproom: show(own), ...ratio }];
  } finally {
    await Promise.all([bare.stop(), poproom.stop()]);
  }
}

export function targetOf(name: string, server: Server, paths: string[], body?: string, pin?: string): Target {
  const { process, port } = server;
  return { name, process, port, paths, headers: headersOf(body, pin), ...(body !== undefined && { body }) };
}

function headersOf(body?: string, pin?: string): Record<string, string> {
  return {
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(pin !== undefined && { 'X-Room-Pin': pin }),
  };
}

/** Creates rooms with a text. */
export async function contentPaths(server: Server, rooms: number, pin?: string): Promise<string[]> {
  const paths = (await createRooms(server, rooms, pin)).map((room) => `/api/rooms/${room}/content`);
  await Promise.all(paths.map((path) => writeText(server.url + path, 'x'.repeat(100), pin)));
  return paths;
}

/** A response of Poproom, without the headers that Node adds. */
async function responseOf({ url }: Server, path: string, body?: string, pin?: string) {
  const headers = headersOf(body, pin);
  const response = await fetch(url + path, body === undefined ? { headers } : { method: 'POST', headers, body });
  const own = [...response.headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name));
  return { headers: Object.fromEntries(own), body: await response.text() };
}

export const show = ({ perSecond, cpuMicros }: LoadResult) =>
  `${perSecond.toFixed(0)}/s, ${cpuMicros.toFixed(0)} µs CPU`;
