/** Reading and writing the text, against a bare server that answers the same response. */
import { compare, type Figures, type Target } from '../load.ts';
import { makeRooms, type Server, startBare, startPoproom, writeText } from '../servers.ts';
import { atLeast, type Row } from '../table.ts';

export const textBody = JSON.stringify({ content: 'x'.repeat(100) });

const pin = '0427';

export async function compareReading(): Promise<Row[]> {
  return against({ work: 'reading the text, 64 connections', wanted: 0.7 });
}

/** What the hash of a PIN costs; there is no bound on that. */
export async function compareReadingWithPin(): Promise<Row[]> {
  const [row] = await against({ work: 'reading the text of a room with a PIN', wanted: 0, pin });
  return row ? [{ ...row, wanted: '—' }] : [];
}

export async function compareWriting(): Promise<Row[]> {
  return against({ work: 'durable writes, 64 connections', wanted: 0.45, body: textBody });
}

interface Plan {
  work: string;
  wanted: number;
  /** Sent with POST where there is one. */
  body?: string;
  pin?: string;
}

async function against({ work, wanted, body, pin }: Plan): Promise<Row[]> {
  const poproom = await startPoproom({ port: 18_080 });
  const paths = await contentPaths(poproom, 64, pin);
  const bare = await startBare('http.js', 18_081, JSON.stringify(await responseOf(poproom, paths[0] ?? '', body, pin)));
  try {
    const targets = [targetOf('bare', bare, ['/'], body, pin), targetOf('Poproom', poproom, paths, body, pin)];
    const [theirs, own] = compare(targets) as [Figures, Figures];
    const ratio = atLeast(own.perSecond / theirs.perSecond, wanted);
    return [{ work, against: `bare node:http: ${show(theirs)}`, poproom: show(own), ...ratio }];
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

/** Of rooms that have a text. */
export async function contentPaths(server: Server, rooms: number, pin?: string): Promise<string[]> {
  const paths = (await makeRooms(server, rooms, pin)).map((room) => `/api/rooms/${room}/content`);
  await Promise.all(paths.map((path) => writeText(server.url + path, 'x'.repeat(100), pin)));
  return paths;
}

/** Poproom's response with all its headers, except those that Node adds automatically. */
async function responseOf({ url }: Server, path: string, body?: string, pin?: string) {
  const headers = headersOf(body, pin);
  const response = await fetch(url + path, body === undefined ? { headers } : { method: 'POST', headers, body });
  const own = [...response.headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name));
  return { headers: Object.fromEntries(own), body: await response.text() };
}

export const show = ({ perSecond, cpuMicros }: Figures) => `${perSecond.toFixed(0)}/s, ${cpuMicros.toFixed(0)} µs CPU`;
