/** Everything that people do with the service, by chance, over and over: rooms, texts, files, channels, wrong PINs. */
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { type Answered, createAsker } from './asker.ts';

export interface Visitors {
  /** Does one thing. */
  act(): Promise<void>;
  requests(): number;
  /** Closes what is open. */
  leave(): Promise<void>;
  /** What was done, in a sentence. */
  told(): string;
  /** One sentence for each kind of answer that should not have come. */
  surprises(): string[];
}

interface Room {
  code: string;
  /** By this process's clock; a little early, so that no request is too late by chance. */
  until: number;
  /** Paths of its files. */
  files: string[];
}

type Act = (room: Room) => Promise<unknown>;

const livesMs = 55_000;
const pin = '0427';
const mostFiles = 40;

export function createVisitors(port: number): Visitors {
  const { ask, count, close } = createAsker(port);
  const rooms: Room[] = [];
  const open = new Set<Promise<unknown>>();
  const done = new Map<string, number>();
  const surprises = new Map<string, number>();

  /** A room may have been deleted by another visitor a moment ago. */
  function check(what: string, { status }: Answered, allowed: readonly number[]): void {
    if ([...allowed, 404].includes(status)) return;
    surprises.set(`${what} was answered ${status}`, (surprises.get(`${what} was answered ${status}`) ?? 0) + 1);
  }

  async function makeRoom(): Promise<void> {
    const answer = await ask('POST', '/api/rooms', { json: { pin } });
    check('a new room', answer, [201]);
    if (answer.status === 201)
      rooms.push({ code: answer.json().roomId, until: performance.now() + livesMs, files: [] });
  }

  /** Those past their time are forgotten; the server has to do the same. */
  function someRoom(): Room | undefined {
    while (rooms[0] && rooms[0].until < performance.now()) rooms.shift();
    return oneOf(rooms);
  }

  async function upload({ code, files }: Room): Promise<void> {
    if (files.length >= mostFiles) return;
    const body = Buffer.alloc(Math.floor(Math.random() * 64 * 1024), 'soak ');
    const headers = { 'x-file-name': 'soak.txt', 'content-type': 'text/plain' };
    const answer = await ask('POST', `/api/rooms/${code}/upload`, { body, headers, pin });
    check('an upload', answer, [201]);
    if (answer.status === 201) files.push(new URL(answer.json().fileUrl).pathname);
  }

  async function endRoom(room: Room): Promise<void> {
    rooms.splice(rooms.indexOf(room), 1);
    check('an end', await ask('DELETE', `/api/rooms/${room.code}`, { pin }), [200]);
  }

  async function removeFile({ code, files }: Room): Promise<void> {
    const path = files.pop();
    if (!path) return;
    check('a removal', await ask('DELETE', `/api/rooms/${code}/files/${path.split('/')[2]}`, { pin }), [200]);
  }

  async function download({ files }: Room): Promise<void> {
    const path = oneOf(files);
    if (path) check('a download', await ask('GET', path), [200]);
  }

  /** From one of a few hundred addresses, most of which are soon locked out, as guessers are. */
  async function guess({ code }: Room): Promise<void> {
    const headers = { 'x-forwarded-for': `192.0.2.${Math.floor(Math.random() * 250)}` };
    check('a wrong PIN', await ask('GET', `/api/rooms/${code}`, { pin: '9999', headers }), [403, 429]);
  }

  async function openChannel({ code }: Room): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/rooms/${code}/live`);
    // One that is left before it was open ends by an error.
    socket.on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.once('open', () => socket.send(JSON.stringify({ type: 'join', pin, deviceName: 'soak' })));
    stay(async () => {
      await pause(Math.random() * 4000);
      socket.close();
      await closed;
    });
  }

  /** Leaves by breaking off, as browsers do. */
  async function openEvents({ code }: Room): Promise<void> {
    const leaving = new AbortController();
    stay(() => ask('GET', `/api/rooms/${code}/events`, { pin, signal: leaving.signal }).catch(() => undefined));
    stay(async () => leaving.abort(await pause(Math.random() * 4000)));
  }

  function stay(visit: () => Promise<unknown>): void {
    const staying = visit().finally(() => open.delete(staying));
    open.add(staying);
  }

  const content = ({ code }: Room) => `/api/rooms/${code}/content`;
  const acts: [name: string, share: number, act: Act][] = [
    ['texts read', 38, async (room) => check('a read', await ask('GET', content(room), { pin }), [200])],
    ['texts written', 24, async (room) => check('a write', await ask('POST', content(room), text()), [200])],
    ['rooms looked at', 6, async ({ code }) => check('a look', await ask('GET', `/api/rooms/${code}`, { pin }), [200])],
    ['files uploaded', 6, upload],
    ['files fetched', 10, download],
    ['files removed', 3, removeFile],
    ['rooms made', 5, makeRoom],
    ['rooms deleted', 1, endRoom],
    ['wrong PINs', 3, guess],
    ['WebSockets', 3, openChannel],
    ['event streams', 1, openEvents],
  ];
  const drawn = acts.flatMap((act) => Array.from({ length: act[1] }, () => act));

  return {
    async act() {
      const room = someRoom();
      if (!room) return makeRoom();
      const [name, , act] = oneOf(drawn) as (typeof acts)[number];
      done.set(name, (done.get(name) ?? 0) + 1);
      await act(room);
    },
    requests: count,
    async leave() {
      await Promise.all(open);
      close();
    },
    told: () => [...done].map(([name, times]) => `${times} ${name}`).join(', '),
    surprises: () => [...surprises].map(([what, times]) => `${what}, ${times} times.`),
  };
}

const oneOf = <T>(from: readonly T[]): T | undefined => from[Math.floor(Math.random() * from.length)];

const text = () => ({ json: { content: 'soak '.repeat(Math.floor(Math.random() * 800)) }, pin });
