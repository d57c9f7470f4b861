/** Everything that people do with the service, by chance, over and over: rooms, texts, files, channels, wrong PINs. */
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { type Answered, createAsker } from './asker.ts';

export interface Visitors {
  /** Does one thing. */
  act(): Promise<void>;
  /** How many things were done. */
  done(): number;
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
  /** Once a visitor has asked for that. */
  isDeleted?: true;
}

type Act = (room: Room) => Promise<unknown>;

const livesMs = 55_000;
const pin = '0427';
const mostFiles = 40;

export function createVisitors(port: number): Visitors {
  const { ask, close } = createAsker(port);
  const rooms: Room[] = [];
  const open = new Set<Promise<unknown>>();
  const done = new Map<string, number>();
  const surprises = new Map<string, number>();

  const count = (counts: Map<string, number>, what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);

  function check(what: string, { status }: Answered, expected: number, room?: Room): void {
    if (status !== expected && !mayBeGone(room, status)) count(surprises, `${what} was answered ${status}`);
  }

  async function makeRoom(): Promise<void> {
    const answer = await ask('POST', '/api/rooms', { json: { pin } });
    check('a new room', answer, 201);
    if (answer.status === 201)
      rooms.push({ code: answer.json().roomId, until: performance.now() + livesMs, files: [] });
  }

  /** Those past their time are forgotten; the server has to do the same. */
  function someRoom(): Room | undefined {
    while (rooms[0] && rooms[0].until < performance.now()) rooms.shift();
    return oneOf(rooms);
  }

  async function upload(room: Room): Promise<void> {
    const { code, files } = room;
    if (files.length >= mostFiles) return;
    const body = Buffer.alloc(Math.floor(Math.random() * 64 * 1024), 'soak ');
    const headers = { 'x-file-name': 'soak.txt', 'content-type': 'text/plain' };
    const answer = await ask('POST', `/api/rooms/${code}/upload`, { body, headers, pin });
    check('an upload', answer, 201, room);
    if (answer.status === 201) files.push(new URL(answer.json().fileUrl).pathname);
  }

  async function endRoom(room: Room): Promise<void> {
    rooms.splice(rooms.indexOf(room), 1);
    room.isDeleted = true;
    check('an end', await ask('DELETE', `/api/rooms/${room.code}`, { pin }), 200);
  }

  async function removeFile(room: Room): Promise<void> {
    const path = room.files.pop();
    if (!path) return;
    const answer = await ask('DELETE', `/api/rooms/${room.code}/files/${path.split('/')[2]}`, { pin });
    check('a removal', answer, 200, room);
  }

  async function download(room: Room): Promise<void> {
    const path = oneOf(room.files);
    if (!path) return;
    const answer = await ask('GET', path);
    // Another visitor may have removed it meanwhile.
    if (room.files.includes(path)) check('a download', answer, 200, room);
  }

  /** From one of a few hundred addresses, most of which are soon locked out, as guessers are. */
  async function guess(room: Room): Promise<void> {
    const headers = { 'x-forwarded-for': `192.0.2.${Math.floor(Math.random() * 250)}` };
    const answer = await ask('GET', `/api/rooms/${room.code}`, { pin: '9999', headers });
    if (answer.status !== 429) check('a wrong PIN', answer, 403, room);
  }

  async function openChannel(room: Room): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/rooms/${room.code}/live`);
    let isExpected = false;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    closed.then(() => {
      if (!isExpected && !mayBeGone(room)) count(surprises, 'a WebSocket was closed');
    });
    // One that is left before it was open ends by an error, and so does one that is not let in; both are closed then.
    socket.on('error', () => undefined);
    socket.once('open', () => socket.send(JSON.stringify({ type: 'join', pin, deviceName: 'soak' })));
    stay(async () => {
      await pause(Math.random() * 4000);
      isExpected = true;
      socket.close();
      await closed;
    });
  }

  /** Leaves by breaking off, as browsers do. */
  async function openEvents(room: Room): Promise<void> {
    const leaving = new AbortController();
    const listening = ask('GET', `/api/rooms/${room.code}/events`, { pin, signal: leaving.signal });
    stay(() =>
      listening
        .catch(() => undefined)
        .then(() => {
          if (!leaving.signal.aborted && !mayBeGone(room)) count(surprises, 'a stream of events ended');
        }),
    );
    stay(async () => leaving.abort(await pause(Math.random() * 4000)));
  }

  function stay(visit: () => Promise<unknown>): void {
    const staying = visit().finally(() => open.delete(staying));
    open.add(staying);
  }

  const acts: [name: string, share: number, act: Act][] = [
    ['texts read', 38, async (room) => check('a read', await ask('GET', content(room), { pin }), 200, room)],
    ['texts written', 24, async (room) => check('a write', await ask('POST', content(room), text()), 200, room)],
    ['rooms looked at', 6, async (room) => check('a look', await ask('GET', pathOf(room), { pin }), 200, room)],
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
      count(done, name);
      await act(room);
    },
    done: () => [...done.values()].reduce((sum, times) => sum + times, 0),
    async leave() {
      await Promise.all(open);
      close();
    },
    told: () => [...done].map(([name, times]) => `${times} ${name}`).join(', '),
    surprises: () => [...surprises].map(([what, times]) => `${what}, ${times} times.`),
  };
}

/** By what another visitor did, or because its time is up. */
function mayBeGone(room: Room | undefined, status?: number): boolean {
  if (!room) return false;
  if (room.isDeleted) return status === undefined || status === 404;
  return room.until < performance.now() && (status === undefined || status === 410);
}

const pathOf = ({ code }: Room) => `/api/rooms/${code}`;
const content = (room: Room) => `${pathOf(room)}/content`;

const oneOf = <T>(from: readonly T[]): T | undefined => from[Math.floor(Math.random() * from.length)];

const text = () => ({ json: { content: 'soak '.repeat(Math.floor(Math.random() * 800)) }, pin });
