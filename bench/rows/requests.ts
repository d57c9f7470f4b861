/** Reading and writing the text, against a bare server that answers the same response. */
import { compare, type Figures, type Target } from '../load.ts';
import { makeRooms, type Server, startBare, startPoproom, writeText } from '../servers.ts';
import { atLeast, type Row } from '../table.ts';

export const textBody = JSON.stringify({ content: 'x'.repeat(100) });

export async function compareReading(): Promise<Row[]> {
  return against('reading the text, 64 connections', 0.7);
}

export async function compareWriting(): Promise<Row[]> {
  return against('durable writes, 64 connections', 0.45, textBody);
}

async function against(work: string, wanted: number, body?: string): Promise<Row[]> {
  const poproom = await startPoproom({ port: 18_080 });
  const paths = await contentPaths(poproom, 64);
  const bare = await startBare('http.ts', 18_081, JSON.stringify(await responseOf(poproom, paths[0] ?? '', body)));
  try {
    const targets = [targetOf('bare', bare, ['/'], body), targetOf('Poproom', poproom, paths, body)];
    const [theirs, own] = compare(targets) as [Figures, Figures];
    const ratio = atLeast(own.perSecond / theirs.perSecond, wanted);
    return [{ work, against: `bare node:http: ${show(theirs)}`, poproom: show(own), ...ratio }];
  } finally {
    await Promise.all([bare.stop(), poproom.stop()]);
  }
}

export function targetOf(name: string, { process, port }: Server, paths: string[], body?: string): Target {
  return { name, process, port, paths, ...(body !== undefined && { body }) };
}

/** Of rooms that have a text. */
export async function contentPaths(server: Server, rooms: number): Promise<string[]> {
  const paths = (await makeRooms(server, rooms)).map((room) => `/api/rooms/${room}/content`);
  await Promise.all(paths.map((path) => writeText(server.url + path, 'x'.repeat(100))));
  return paths;
}

/** As Poproom answers it, header by header; those that Node adds by itself are left to Node. */
async function responseOf({ url }: Server, path: string, body: string | undefined) {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(url + path, body === undefined ? {} : { method: 'POST', headers, body });
  const own = [...response.headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name));
  return { headers: Object.fromEntries(own), body: await response.text() };
}

export const show = ({ perSecond, cpuMicros }: Figures) => `${perSecond.toFixed(0)}/s, ${cpuMicros.toFixed(0)} µs CPU`;
