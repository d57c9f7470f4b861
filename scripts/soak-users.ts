/** Simulated users of `npm run soak`, who do everything at random: rooms, texts, files, channels, wrong PINs. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';

export interface SimulatedUsers {
  /** Runs a random action. */
  act(): Promise<void>;
  /** The number of actions so far. */
  actionCount(): number;
  /** Waits for open channels, and closes all connections. */
  close(): Promise<void>;
  /** The number of each action, in a sentence. */
  summary(): string;
  /** One sentence for each kind of unexpected response. */
  unexpected(): string[];
}

interface Room {
  code: string;
  /** When to stop using it. A little before it expires, so that no request is too late. */
  until: number;
  /** Paths of its files. */
  files: string[];
  /** Set when a user has deleted it. */
  isDeleted?: true;
}

type Action = (room: Room) => Promise<unknown>;

const lifetimeMs = 55_000;
const pin = '0427';
const maxFiles = 40;

export function createSimulatedUsers(port: number): SimulatedUsers {
  const { send, close } = createHttpClient(port);
  const rooms: Room[] = [];
  const open = new Set<Promise<unknown>>();
  const done = new Map<string, number>();
  const unexpected = new Map<string, number>();

  const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);

  function check(action: string, { status }: SoakResponse, expected: number, room?: Room): void {
    if (status !== expected && !mayBeGone(room, status)) count(unexpected, `${action} failed with status ${status}`);
  }

  async function createRoom(): Promise<void> {
    const response = await send('POST', '/api/rooms', { json: { pin } });
    check('a new room', response, 201);
    if (response.status === 201)
      rooms.push({ code: response.json().roomId, until: performance.now() + lifetimeMs, files: [] });
  }

  /** Drops expired rooms, as the server has to. */
  function randomRoom(): Room | undefined {
    while (rooms[0] && rooms[0].until < performance.now()) rooms.shift();
    return randomItem(rooms);
  }

  async function upload(room: Room): Promise<void> {
    const { code, files } = room;
    if (files.length >= maxFiles) return;
    const body = Buffer.alloc(Math.floor(Math.random() * 64 * 1024), 'soak ');
    const headers = { 'x-file-name': 'soak.txt', 'content-type': 'text/plain' };
    const response = await send('POST', `/api/rooms/${code}/upload`, { body, headers, pin });
    check('an upload', response, 201, room);
    if (response.status === 201) files.push(new URL(response.json().fileUrl).pathname);
  }

  async function deleteRoom(room: Room): Promise<void> {
    rooms.splice(rooms.indexOf(room), 1);
    room.isDeleted = true;
    check('a deletion', await send('DELETE', `/api/rooms/${room.code}`, { pin }), 200);
  }

  async function removeFile(room: Room): Promise<void> {
    const path = room.files.pop();
    if (!path) return;
    const response = await send('DELETE', `/api/rooms/${room.code}/files/${path.split('/')[2]}`, { pin });
    check('a removal', response, 200, room);
  }

  async function download(room: Room): Promise<void> {
    const path = randomItem(room.files);
    if (!path) return;
    const response = await send('GET', path);
    // Another user may have removed it in the meantime.
    if (room.files.includes(path)) check('a download', response, 200, room);
  }

  /** Uses one of a few hundred addresses, most of which are locked out soon. */
  async function guess(room: Room): Promise<void> {
    const headers = { 'x-forwarded-for': `192.0.2.${Math.floor(Math.random() * 250)}` };
    const response = await send('GET', `/api/rooms/${room.code}`, { pin: '9999', headers });
    if (response.status !== 429) check('a wrong PIN', response, 403, room);
  }

  async function openChannel(room: Room): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/rooms/${room.code}/live`);
    let isExpected = false;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    closed.then(() => {
      if (!isExpected && !mayBeGone(room)) count(unexpected, 'a WebSocket was closed');
    });
    // A socket that closes before it is open, or that is rejected, emits an error and then closes.
    socket.on('error', () => undefined);
    socket.once('open', () => socket.send(JSON.stringify({ type: 'join', pin, deviceName: 'soak' })));
    trackOpen(async () => {
      await pause(Math.random() * 4000);
      isExpected = true;
      socket.close();
      await closed;
    });
  }

  /** Disconnects by aborting the request, as browsers do. */
  async function openEvents(room: Room): Promise<void> {
    const leaving = new AbortController();
    const listening = send('GET', `/api/rooms/${room.code}/events`, { pin, signal: leaving.signal });
    trackOpen(() =>
      listening
        .catch(() => undefined)
        .then(() => {
          if (!leaving.signal.aborted && !mayBeGone(room)) count(unexpected, 'an event stream ended');
        }),
    );
    trackOpen(async () => leaving.abort(await pause(Math.random() * 4000)));
  }

  function trackOpen(use: () => Promise<unknown>): void {
    const using = use().finally(() => open.delete(using));
    open.add(using);
  }

  const actions: [name: string, share: number, act: Action][] = [
    ['texts read', 38, async (room) => check('a read', await send('GET', content(room), { pin }), 200, room)],
    ['texts written', 24, async (room) => check('a write', await send('POST', content(room), text()), 200, room)],
    ['room infos read', 6, async (room) => check('room info', await send('GET', pathOf(room), { pin }), 200, room)],
    ['files uploaded', 6, upload],
    ['files downloaded', 10, download],
    ['files removed', 3, removeFile],
    ['rooms created', 5, createRoom],
    ['rooms deleted', 1, deleteRoom],
    ['wrong PINs', 3, guess],
    ['WebSockets', 3, openChannel],
    ['event streams', 1, openEvents],
  ];
  const weighted = actions.flatMap((act) => Array.from({ length: act[1] }, () => act));

  return {
    async act() {
      const room = randomRoom();
      if (!room) return createRoom();
      const [name, , act] = randomItem(weighted) as (typeof actions)[number];
      count(done, name);
      await act(room);
    },
    actionCount: () => [...done.values()].reduce((sum, times) => sum + times, 0),
    async close() {
      await Promise.all(open);
      close();
    },
    summary: () => [...done].map(([name, times]) => `${times} ${name}`).join(', '),
    unexpected: () => [...unexpected].map(([problem, times]) => `${problem}, ${times} times.`),
  };
}

/** Because another user deleted it, or because it has expired. */
function mayBeGone(room: Room | undefined, status?: number): boolean {
  if (!room) return false;
  if (room.isDeleted) return status === undefined || status === 404;
  return room.until < performance.now() && (status === undefined || status === 410);
}

const pathOf = ({ code }: Room) => `/api/rooms/${code}`;
const content = (room: Room) => `${pathOf(room)}/content`;

const randomItem = <T>(from: readonly T[]): T | undefined => from[Math.floor(Math.random() * from.length)];

const text = () => ({ json: { content: 'soak '.repeat(Math.floor(Math.random() * 800)) }, pin });

interface SoakResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of all shapes
  json(): any;
}

interface RequestOptions {
  json?: unknown;
  body?: Buffer;
  pin?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Requests on keep-alive connections. This needs much less CPU than `fetch`, so that the server has most of it. */
function createHttpClient(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  /** Event streams need their own connections. */
  const streams = new Agent();

  async function send(method: string, path: string, options: RequestOptions = {}): Promise<SoakResponse> {
    const body = options.json === undefined ? options.body : Buffer.from(JSON.stringify(options.json));
    const target = { method, path, port, host: '127.0.0.1', agent: options.signal ? streams : agent };
    const response = await responseTo({ ...target, headers: headersOf(options), signal: options.signal }, body);
    const text = await textOf(response);
    return { status: response.statusCode ?? 0, json: () => JSON.parse(text) };
  }

  function close(): void {
    agent.destroy();
    streams.destroy();
  }

  return { send, close };
}

function headersOf({ json, pin, headers }: RequestOptions): Record<string, string> {
  return {
    ...(json !== undefined && { 'content-type': 'application/json' }),
    ...(pin !== undefined && { 'x-room-pin': pin }),
    ...headers,
  };
}

function responseTo(
  target: Parameters<typeof request>[1] & object,
  body: Buffer | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(target, resolve).on('error', reject).end(body);
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
