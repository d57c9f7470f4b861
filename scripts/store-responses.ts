/**
 * Stores what a server of this version sends, in `test/client/stored-responses/`, for `npm run generate` and the tests of
 * later versions: node scripts/store-responses.ts http://localhost:8080
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import packageJson from '../package.json' with { type: 'json' };
import { type Client, createClient, type Room } from '../src/client/index.ts';
import { endpoints } from '../src/protocol/endpoints.ts';
import type { ServerMessage } from '../src/protocol/types.ts';
import { nameOf } from './protocol-schemas.ts';

const [url] = process.argv.slice(2);
if (!url) throw new Error('usage: node scripts/store-responses.ts URL');

const bodies: Record<string, unknown[]> = {};
const messages: Record<string, unknown[]> = {};
const heartbeatMs = 26_000;

recordBodies();
await usePlainRoom();
await useEncryptedRoom();
const file = new URL(`../test/client/stored-responses/${packageJson.version}.json`, import.meta.url);
writeFileSync(file, `${JSON.stringify({ bodies: sorted(bodies), messages: sorted(messages) }, null, 2)}\n`);
process.exit();

async function usePlainRoom(): Promise<void> {
  const client = connectAs('laptop', 'Laptop');
  const room = await client.createRoom({ name: 'Kitchen table', pin: '0427' });
  const channel = await join(room.code, { pin: '0427', deviceId: 'screen', deviceName: 'Screen' });
  const editor = await join(room.code, { pin: '0427', deviceId: 'phone', edits: true, deviceChanges: true });
  await client.health();
  await useText(room);
  await useFiles(room);
  await connectAs('guest', 'Guest')
    .room(room.code, { pin: '0000' })
    .info()
    .catch(() => undefined);
  for (const baseVersion of [0, 1e6]) channel.send({ type: 'content', content: 'Stale', baseVersion, ref: 'a1' });
  channel.send({ type: 'content', content: 1 });
  const third = await join(room.code, { pin: '0427', deviceId: 'third', deviceName: 'Third' });
  third.close();
  await delay(heartbeatMs);
  await room.update({ name: 'Workshop', pin: '1234' });
  await room.info();
  await room.details();
  await room.delete();
  await delay(1000);
  editor.close();
}

async function useText(room: Room): Promise<void> {
  const text = room.text();
  await text.synchronized();
  text.append('Hello, world. This text is long enough to be kept.');
  await text.synchronized();
  text.append(' And again.');
  await text.synchronized();
  text.close();
  await room.write('Another text, which replaces the one before.');
  await room.read();
  await room.append('!');
  const [entry] = await room.history();
  if (entry) await room.historyText(entry.version);
  await room.clearHistory();
}

async function useFiles(room: Room): Promise<void> {
  const { fileId } = await room.upload(new Blob(['photo']), { name: 'photo.jpg', folder: 'photos' });
  const { fileId: secret } = await room.upload(new Blob(['secret']), { name: 'key.txt', once: true });
  await room.files();
  await room.zipUrl();
  await room.removeFile(fileId);
  await room.restoreFile(fileId);
  const { claim } = await room.claim(secret);
  await room.confirmClaim(claim);
}

async function useEncryptedRoom(): Promise<void> {
  const room = await connectAs('laptop', 'Laptop').createRoom({ encrypted: true, name: 'Vault' });
  // Records the messages of the text below as the server has sent them, before the SDK opens them.
  const NativeSocket = globalThis.WebSocket;
  globalThis.WebSocket = class extends NativeSocket {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args);
      this.addEventListener('message', ({ data }) => recordMessage(String(data)));
    }
  };
  for (const content of ['One.', 'Two.']) {
    const text = room.text();
    await text.synchronized();
    text.append(content);
    await text.synchronized();
    await room.append(content);
    await delay(500);
    text.close();
  }
  await room.upload(new Blob(['photo']), { name: 'photo.jpg' });
  await room.read();
  await room.files();
  await room.info();
  await room.delete();
}

function connectAs(deviceId: string, deviceName: string): Client {
  return createClient({ url: url as string, deviceId, deviceName });
}

/** A channel of a client that is not the SDK, which receives the devices and the texts in another form. */
async function join(code: string, options: object) {
  const socket = new WebSocket(`${(url as string).replace(/^http/, 'ws')}/api/rooms/${code}/live`);
  socket.onmessage = ({ data }) => recordMessage(String(data));
  await new Promise((resolve) => {
    socket.onopen = resolve;
  });
  const send = (message: object) => socket.send(JSON.stringify(message));
  send({ type: 'join', ...options });
  await delay(500);
  return { send, close: () => socket.close() };
}

function recordMessage(data: string): void {
  const message = JSON.parse(data) as ServerMessage;
  record(messages, message.type, message);
}

/** Of all successful responses with a JSON body that has a named schema. */
function recordBodies(): void {
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    const name = response.ok ? schemaOf(init?.method ?? 'GET', new URL(String(input)).pathname) : undefined;
    if (name) record(bodies, name, await response.clone().json());
    return response;
  };
}

function schemaOf(called: string, pathname: string): string | undefined {
  const endpoint = Object.values(endpoints).find(
    ({ method, path }) => method === called && new RegExp(`^${path.replace(/:\w+|\{\w+\}/g, '[^/]+')}$`).test(pathname),
  );
  return endpoint?.successes
    .map((success) => nameOf('schema' in success ? success.schema : undefined))
    .find((name) => name !== undefined && name !== 'ErrorBody');
}

/** Each form once: two bodies have the same form if they have the same fields. */
function record(into: Record<string, unknown[]>, name: string, value: unknown): void {
  into[name] ??= [];
  if (!into[name].some((other) => formOf(other) === formOf(value))) into[name].push(value);
}

function formOf(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(formOf))].sort().join()}]`;
  if (typeof value !== 'object' || value === null) return typeof value;
  return `{${Object.entries(value)
    .map(([name, inner]) => `${name}:${formOf(inner)}`)
    .sort()
    .join()}}`;
}

function sorted(record: Record<string, unknown[]>): object {
  return Object.fromEntries(Object.entries(record).sort());
}
