/** The cost of typing: bytes on the wire, CPU and disk of the server, and the time to other devices. */
import type { WebSocket } from 'ws';
import { joinAll, joinRoom } from '../devices.ts';
import { cpuOf, diskBytesOf, median, quantile } from '../processes.ts';
import { createRoom, type Server, startPoproom, writeText } from '../servers.ts';
import { atMost, boundedRow, type Row } from '../table.ts';
import { connectionOf, naturalText, Typist } from '../typist.ts';

const kib = 1024;
/** The maximum length of a text, with some space for typing. */
const maxLength = 1020 * kib;

export async function measureWire(): Promise<Row[]> {
  const keys = 200;
  return withServer(18_080, async (poproom) => {
    const room = await roomWith(poproom, naturalText(500_000));
    const { socket: reader } = await joinRoom(room);
    const typist = await Typist.join(room, 'typist');
    const [up, down] = [typist.connection, connectionOf(reader)];
    const before = { up: up.bytesWritten, down: down.bytesRead };
    const received = untilReceived(reader, `"ref":"${keys}"`);
    await typist.type(keys, 20);
    await received;
    return [
      wireRow('bytes from the typist', (up.bytesWritten - before.up) / keys),
      wireRow('bytes to each other device', (down.bytesRead - before.down) / keys),
    ];
  });
}

const wireRow = (metric: string, bytes: number): Row =>
  boundedRow(`a key in a text of 500 KB, ${metric}`, bytes, 2 * kib, (value) => `${value.toFixed(0)} bytes`);

function untilReceived(socket: WebSocket, part: string): Promise<void> {
  return new Promise((resolve) => {
    socket.on('message', (data) => String(data).includes(part) && resolve());
  });
}

/** More than `maxEntriesSinceFullText` of `src/core/text/retention.ts`, so that storing a full text is a part of it. */
const edits = 2200;
const roomsPerServer = 10;

/**
 * Types in texts of different lengths concurrently, at the rate of the page. For the disk, a server has one room, because
 * writes in several rooms share commits.
 */
export async function measureEdits(): Promise<Row[]> {
  const [text, oneLine] = [naturalText(maxLength), 'x'.repeat(maxLength)];
  const servers = await Promise.all([0, 1, 2, 3, 4].map((n) => startPoproom({ port: 18_080 + n })));
  const [small, large, line, alone, withoutHistory] = servers as [Server, Server, Server, Server, Server];
  try {
    const typists = [
      await joinTypists(small, naturalText(kib), roomsPerServer),
      await joinTypists(large, text, roomsPerServer),
      await joinTypists(line, oneLine, roomsPerServer),
      await joinTypists(alone, text, 1),
      await joinTypists(withoutHistory, text, 1, { history: false }),
    ].flat();
    const used = servers.map(({ process }) => [cpuOf(process), diskBytesOf(process)] as const);
    await Promise.all(typists.map((typist) => typist.type(edits)));
    const [cpu, disk] = [0, 1].map((of) =>
      servers.map(({ process }, n) => ((of ? diskBytesOf : cpuOf)(process) - (used[n]?.[of] ?? 0)) / edits),
    ) as [number[], number[]];
    for (const typist of typists) typist.leave();
    return [
      cpuRow('1 MiB', cpu[0], cpu[1]),
      cpuRow('1 MiB in one line', cpu[0], cpu[2]),
      diskRow('', disk[3]),
      { ...diskRow(', in a room without history', disk[4]), bound: '—', isMet: true },
    ];
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Creates rooms, each with a typist and a reader. */
async function joinTypists(server: Server, text: string, rooms: number, creation = {}): Promise<Typist[]> {
  const typists: Typist[] = [];
  for (let n = 0; n < rooms; n++) {
    const room = await roomWith(server, text, creation);
    await joinAll(1, room);
    typists.push(await Typist.join(room, 'typist'));
  }
  return typists;
}

function cpuRow(text: string, small = Number.NaN, large = Number.NaN): Row {
  const show = (micros: number) => `${(micros / roomsPerServer).toFixed(0)} µs`;
  const work = `an edit in a text of ${text}, CPU of the server`;
  return { work, baseline: `in 1 KB: ${show(small)}`, poproom: show(large), ...atMost(large / small, 2) };
}

const diskRow = (where: string, bytes = Number.NaN): Row =>
  boundedRow(
    `an edit in a text of 1 MiB${where}, written to the disk`,
    bytes / kib,
    16,
    (value) => `${value.toFixed(1)} KiB`,
  );

/** Ten devices type in one room, and fifty watch. */
export async function measureWatchers(): Promise<Row[]> {
  const [typing, watching, seconds, perSecond] = [10, 50, 20, 5];
  return withServer(18_080, async (poproom) => {
    const room = await roomWith(poproom, naturalText(10 * kib));
    const watchers = await joinAll(watching, room);
    const names = Array.from({ length: typing }, (_, n) => `typist-${n}`);
    const typists = await Promise.all(names.map((name) => Typist.join(room, name)));
    const times: number[] = [];
    const sentAt = new Map<string, number>();
    const keys = seconds * perSecond;
    const complete = new Promise<void>((resolve) => {
      for (const watcher of watchers) {
        watcher.on('message', (data) => {
          const { type, deviceId, ref } = JSON.parse(String(data));
          if (type !== 'edit') return;
          times.push(performance.now() - (sentAt.get(`${deviceId} ${ref}`) ?? Number.NaN));
          if (times.length === keys * typing * watching) resolve();
        });
      }
    });
    for (const [n, typist] of typists.entries()) {
      typist.onSend = (ref) => void sentAt.set(`${names[n]} ${ref}`, performance.now());
    }
    await Promise.all(typists.map((typist) => typist.type(keys, perSecond)));
    await complete;
    const show = (value: number) => `${value.toFixed(1)} ms, p50 ${median(times).toFixed(1)} ms`;
    const work = '10 type 5 keys a second, 50 watch: from a key to each of them, p99';
    return [{ ...boundedRow(work, quantile(times, 0.99), 250, show), wanted: '≤ 250 ms' }];
  });
}

/** Twenty devices that type in one room, each five keys per second. */
export interface TypistGroup {
  server: Server;
  typists: Typist[];
}

export interface Typing {
  /** Microseconds per edit, for each round. */
  cpu: number[];
  /** Milliseconds from a key until it is stored, for each round. */
  p50: number[];
  p99: number[];
}

export async function typistGroup(server: Server): Promise<TypistGroup> {
  const room = await roomWith(server, naturalText(10 * kib));
  const names = Array.from({ length: 20 }, (_, n) => `typist-${n}`);
  return { server, typists: await Promise.all(names.map((name) => Typist.join(room, name))) };
}

/** Alternates, so that other load on the machine affects all groups. The first round warms up. */
export async function typeInTurns(groups: readonly TypistGroup[], rounds: number): Promise<Typing[]> {
  const [keys, perSecond] = [15, 5];
  const results: Typing[] = groups.map(() => ({ cpu: [], p50: [], p99: [] }));
  for (let round = 0; round <= rounds; round++) {
    for (const [n, { server, typists }] of groups.entries()) {
      const before = cpuOf(server.process);
      const times = (await Promise.all(typists.map((typist) => typist.type(keys, perSecond)))).flat();
      if (round === 0) continue;
      results[n]?.cpu.push((cpuOf(server.process) - before) / times.length);
      results[n]?.p50.push(quantile(times, 0.5));
      results[n]?.p99.push(quantile(times, 0.99));
    }
  }
  for (const { typists } of groups) for (const typist of typists) typist.leave();
  return results;
}

export async function measureTypists(): Promise<Row[]> {
  return withServer(18_080, async (poproom) => {
    const [typing] = (await typeInTurns([await typistGroup(poproom)], 7)) as [Typing];
    const show = (micros: number) =>
      `${micros.toFixed(0)} µs (stored after ${median(typing.p50).toFixed(1)} ms, p99 ${median(typing.p99).toFixed(1)} ms)`;
    return [
      { ...boundedRow('an edit that 20 typists receive, CPU', median(typing.cpu), 750, show), bound: '≤ 750 µs' },
    ];
  });
}

async function withServer<T>(port: number, work: (server: Server) => Promise<T>): Promise<T> {
  const server = await startPoproom({ port });
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/** Creates a room with this text, and returns the URL of its live channel. */
async function roomWith(server: Server, text: string, creation = {}): Promise<string> {
  const path = `/api/rooms/${await createRoom(server, creation)}`;
  await writeText(`${server.url}${path}/content`, text);
  return `ws://127.0.0.1:${server.port}${path}/live`;
}
