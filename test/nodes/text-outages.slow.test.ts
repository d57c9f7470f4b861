/**
 * People type into one text while links lose data, and nodes and Redis are frozen and killed. `npm run test:outages` runs
 * the long form: 10 rounds with 100 seconds of faults, or POPROOM_OUTAGE_ROUNDS and POPROOM_OUTAGE_SECONDS.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient, type LiveText, type Room, type RoomText } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { installationSettings, startNode, withoutLimits } from '../support/nodes.ts';
import { type Cleanup, createSuiteCleanup, type ServerProcess } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { startS3 } from '../support/s3.ts';
import { type Random, randomFromSeed } from '../support/seeded-random.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { createJournal, type Journal, recordSockets } from './message-journal.ts';
import { checkTokens, firstToken, startTypist, type TokenReport, type TokenTypist } from './token-typist.ts';

/** Longer absences are needed to miss more edits than the log keeps. */
const isLong = process.env.POPROOM_OUTAGES === 'long';
const faultSeconds = Number(process.env.POPROOM_OUTAGE_SECONDS ?? (isLong ? 100 : 16));
const rounds = Number(process.env.POPROOM_OUTAGE_ROUNDS ?? (isLong ? 10 : 1));

const settings = { ...withoutLimits, POPROOM_MAX_CHANNELS_PER_CLIENT: '10000' };
/** After long outages, a client waits up to 30 s between attempts. */
const settlesWithinMs = isLong ? 120_000 : 45_000;
const minuteMs = 60_000;
const timeout = rounds * (faultSeconds * 1000 + 5 * minuteMs);

describe('a text that is typed during outages', () => {
  it('[SYNC-1] [SYNC-2] [SYNC-3] has every token whole and once, and is the same everywhere', {
    timeout,
  }, async (t) => {
    const firstSeed = Number(process.env.POPROOM_TEST_SEED ?? randomInt(2 ** 31));
    const failed: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const lines = await runRound(firstSeed + round);
      for (const { line, isFailure } of lines) {
        t.diagnostic(`round ${round + 1}, seed ${firstSeed + round}: ${line}`);
        if (isLong) console.log(`round ${round + 1}, seed ${firstSeed + round}: ${line}`);
        if (isFailure) failed.push(`POPROOM_TEST_SEED=${firstSeed + round}: ${line}`);
      }
    }
    assert.deepEqual(failed, []);
  });
});

interface RoundLine {
  line: string;
  isFailure: boolean;
}

async function runRound(seed: number): Promise<RoundLine[]> {
  const cleanup = createSuiteCleanup();
  const journal = createJournal();
  const record = recordSockets(journal);
  const installation = await startInstallation(cleanup, journal);
  try {
    const rooms = [
      await openRoom(cleanup, installation, journal, { name: 'plain', typists: 6, readers: 4, seed }),
      await openRoom(cleanup, installation, journal, { name: 'encrypted', typists: 3, readers: 2, seed: ~seed }),
    ];
    const links = rooms.flatMap(({ links }) => links);
    await causeFaults(installation, links, seed, journal);
    const lines = await Promise.all(rooms.map((room) => checkRoom(room, installation, journal)));
    if (lines.some(({ isFailure }) => isFailure)) {
      const folder = await journal.write(installation.nodes.map(({ process }) => process));
      lines.push({ line: `details in ${folder}`, isFailure: true });
    }
    return lines;
  } finally {
    record.stop();
    await cleanup.end();
    await installation.stop();
  }
}

/* The installation */

interface Node {
  readonly name: string;
  process: ServerProcess;
  isRunning: boolean;
  /** Between the node and Redis. */
  readonly link: TcpProxy;
  start(): Promise<ServerProcess>;
}

type Installation = Awaited<ReturnType<typeof startInstallation>>;

async function startInstallation(t: Cleanup, journal: Journal) {
  const [redis, s3] = await Promise.all([startRedis(['--appendonly', 'yes', '--appendfsync', 'always']), startS3()]);
  const shared = installationSettings({ redis, s3 }, settings);

  async function createNode(name: string): Promise<Node> {
    const link = await startTcpProxy(t, () => redis.port);
    const store = String(shared.POPROOM_STORE).replace(redis.url, link.url.replace('http', 'redis'));
    /** A node that cannot reach Redis at its start exits. */
    const start = () =>
      eventually(
        `${name} starts`,
        () =>
          startNode(t, { ...shared, POPROOM_STORE: store }).catch((error: Error) => {
            journal.log('faults', `${name} did not start: ${error.message}`);
            return undefined;
          }),
        minuteMs,
      );
    return { name, link, start, process: await start(), isRunning: true };
  }

  return {
    redis,
    nodes: [await createNode('node 1'), await createNode('node 2')] as [Node, Node],
    async stop() {
      await Promise.all([redis.stop(), s3.stop()]);
    },
  };
}

/* The rooms */

interface RoomOptions {
  name: string;
  typists: number;
  readers: number;
  seed: number;
}

interface TestRoom {
  name: string;
  typists: TokenTypist[];
  readers: { name: string; text: LiveText }[];
  /** Between the devices and the nodes. */
  links: TcpProxy[];
  /** The room through a node. */
  at(node: Node): Room;
}

async function openRoom(
  t: Cleanup,
  { nodes }: Installation,
  journal: Journal,
  { name, typists, readers, seed }: RoomOptions,
): Promise<TestRoom> {
  const client = createClient({ url: nodes[0].process.url, deviceId: 'maker' });
  const created = await client.createRoom({ encrypted: name === 'encrypted' });
  await created.write(firstToken);
  const access = name === 'encrypted' ? { key: (created as unknown as { key: string }).key } : {};
  const roomAt = (url: string, deviceId: string) =>
    createClient({ url, deviceId, retry: true }).room(created.code, access);
  const links: TcpProxy[] = [];

  /** Like a load balancer: a device has its node, and another one while that is down. */
  async function openDevice(deviceId: string, index: number): Promise<Room> {
    const [home, other] = [nodes[index % 2] as Node, nodes[(index + 1) % 2] as Node];
    const link = await startTcpProxy(t, () => (home.isRunning ? home : other).process.port);
    links.push(link);
    return roomAt(link.url, deviceId);
  }

  const startedTypists: TokenTypist[] = [];
  for (let index = 1; index <= typists; index++) {
    const deviceId = `${name}-${index}`;
    const room = await openDevice(deviceId, index);
    const typist = startTypist({
      index,
      random: randomFromSeed(seed + 100 * index),
      open: (saved) => room.text({ saved }),
      log: (line) => journal.log(deviceId, line),
    });
    journal.watch(deviceId, () => typist.text);
    t.after(() => typist.text.close());
    startedTypists.push(typist);
  }
  const openedReaders: TestRoom['readers'] = [];
  for (let index = 1; index <= readers; index++) {
    const deviceId = `${name}-reader-${index}`;
    const text = (await openDevice(deviceId, index)).text();
    journal.watch(deviceId, () => text);
    t.after(() => text.close());
    openedReaders.push({ name: deviceId, text });
  }
  return {
    name,
    typists: startedTypists,
    readers: openedReaders,
    links,
    at: ({ process }) => roomAt(process.url, 'checker'),
  };
}

/* The faults */

interface Fault {
  name: string;
  begin(): unknown;
  end(): unknown;
}

/** A random number is chosen from it. */
type Range = readonly [least: number, most: number];

interface Rhythm {
  /** Between the faults. */
  healthyMs: Range;
  /** Of the length of a fault, of which one is chosen. */
  faultyMs: readonly Range[];
}

const both = { up: true, down: true };
const onlyResponses = { up: false, down: true };

/** Each target has one fault at a time. Those of different targets overlap. */
async function causeFaults(installation: Installation, links: TcpProxy[], seed: number, journal: Journal) {
  const ended = AbortSignal.timeout(faultSeconds * 1000);
  const between = (random: Random, [least, most]: Range) => least + random.number(most - least);
  const wait = (ms: number) => pause(ms, undefined, { signal: ended }).catch(() => undefined);

  async function run(faults: readonly Fault[], { healthyMs, faultyMs }: Rhythm, random: Random): Promise<void> {
    for (;;) {
      await wait(between(random, healthyMs));
      if (ended.aborted) return;
      const [fault, ms] = [random.pick(faults), between(random, random.pick(faultyMs))];
      journal.log('faults', `${fault.name} for ${ms} ms`);
      await fault.begin();
      await wait(ms);
      await fault.end();
      journal.log('faults', `end of ${fault.name}`);
    }
  }

  const short: Range = [200, 3000];
  const long: Range = isLong ? [12_000, 25_000] : [4000, 8000];
  const deviceRhythm: Rhythm = { healthyMs: [2000, 10_000], faultyMs: [short, short, short, short, long] };
  const linkRhythm: Rhythm = { healthyMs: [2000, 10_000], faultyMs: [short, short, [3000, 8000]] };
  const processRhythm: Rhythm = { healthyMs: [2000, 8000], faultyMs: [short] };
  const runOnLink = (name: string, link: TcpProxy, rhythm: Rhythm, own: number) =>
    run(linkFaults(name, link, randomFromSeed(own)), rhythm, randomFromSeed(own));
  await Promise.all([
    ...links.map((link, index) => runOnLink(`device link ${index}`, link, deviceRhythm, seed + 1000 + index)),
    ...installation.nodes.map(({ name, link }, index) =>
      runOnLink(`link of ${name} to Redis`, link, linkRhythm, seed + 2000 + index),
    ),
    run(processFaults(installation), processRhythm, randomFromSeed(seed + 3000)),
  ]);
}

function linkFaults(name: string, link: TcpProxy, random: Random): Fault[] {
  return [
    { name: `${name}: cut`, begin: () => link.reset(), end: () => undefined },
    { name: `${name}: hole`, begin: () => link.swallow(both), end: () => link.heal() },
    { name: `${name}: hole for responses`, begin: () => link.swallow(onlyResponses), end: () => link.heal() },
    {
      name: `${name}: hole for some connections`,
      begin: () => link.swallow(both, () => random.number(2) === 0),
      end: () => link.heal(),
    },
  ];
}

function processFaults({ redis, nodes }: Installation): Fault[] {
  return [
    { name: 'Redis frozen', begin: () => redis.signal('SIGSTOP'), end: () => redis.signal('SIGCONT') },
    { name: 'Redis killed', begin: () => redis.signal('SIGKILL'), end: () => redis.restart() },
    ...nodes.flatMap((node) => [
      {
        name: `${node.name} frozen`,
        begin: () => node.process.signal('SIGSTOP'),
        end: () => node.process.signal('SIGCONT'),
      },
      {
        name: `${node.name} killed`,
        begin: async () => {
          node.isRunning = false;
          await node.process.end('SIGKILL');
        },
        end: async () => {
          node.process = await node.start();
          node.isRunning = true;
        },
      },
    ]),
  ];
}

/* The result */

interface RoomResult {
  report: TokenReport;
  /** The states of the texts that could not store everything. */
  stuck: string[];
  /** Why texts ended. */
  failures: string[];
  diverged: { name: string; text: StoredText }[];
  stored: StoredText;
}

type StoredText = Pick<RoomText, 'content' | 'version'>;

async function checkRoom(room: TestRoom, { nodes }: Installation, journal: Journal): Promise<RoundLine> {
  const { name, typists } = room;
  await Promise.all(typists.map((typist) => typist.stop()));
  const isDone = (typist: TokenTypist) => isSettled(typist) || typist.hasEnded;
  await eventually('all is stored', () => typists.every(isDone), settlesWithinMs).catch(() => undefined);
  const stuck = typists.filter((typist) => !isSettled(typist));
  const texts = await Promise.all(nodes.map((node) => room.at(node).read()));
  const stored = texts[0] as RoomText;
  const report = checkTokens(stored.content, typists);
  // Tokens that a typist could not store are counted by typist.
  const isUnsent = (token: string) => stuck.some(({ text }) => text.value.includes(token));
  const result: RoomResult = {
    report: { ...report, lost: report.lost.filter((token) => !isUnsent(token)) },
    stuck: stuck.map(({ text }) => text.state),
    failures: typists.flatMap(({ failures }) => failures),
    diverged: await findDiverged(room, texts),
    stored,
  };
  journal.add(`${name}.json`, JSON.stringify(result, undefined, 2));
  const { loads, loadsWithEdits, requests } = journal.countLoads(name);
  const reloads = typists.reduce((sum, { reloads }) => sum + reloads, 0);
  const line =
    `${name}: ${describeResult(result)}; version ${stored.version}, ${loads} texts loaded from a snapshot, ` +
    `${loadsWithEdits} of them with unconfirmed edits, ${requests} on request, ${reloads} reloads`;
  return { line, isFailure: isFailure(result) };
}

const isSettled = ({ text }: TokenTypist) => text.isOnline && text.state === 'synchronized';

/** The nodes and devices that have another text than the first node, also after a while. */
async function findDiverged({ name, typists, readers }: TestRoom, stored: readonly StoredText[]) {
  const isSame = (text: StoredText) => text.content === stored[0]?.content && text.version === stored[0].version;
  const textOf = ({ text }: { text: LiveText }): StoredText => ({ content: text.value, version: text.version });
  const settled = typists.flatMap((typist, index) =>
    isSettled(typist) ? { name: `${name}-${index + 1}`, text: typist.text } : [],
  );
  const devices = [...settled, ...readers];
  const isConverged = () => devices.every((device) => isSame(textOf(device)));
  await eventually('all have the text', isConverged, settlesWithinMs).catch(() => undefined);
  const all = [
    ...stored.map((text, index) => ({ name: `node ${index + 1}`, text })),
    ...devices.map((device) => ({ name: device.name, text: textOf(device) })),
  ];
  return all.filter(({ text }) => !isSame(text));
}

function describeResult({ report, stuck, failures, diverged }: RoomResult): string {
  const withNames = (names: readonly string[]) => (names.length > 0 ? ` (${[...new Set(names)].join(', ')})` : '');
  return [
    `${report.tokens} tokens`,
    `${report.torn.length} torn`,
    `${report.lost.length} lost`,
    `${report.doubled.length} doubled`,
    `${report.undeleted.length} undeleted`,
    `${report.rest.length} loose characters`,
    `${diverged.length} diverged${withNames(diverged.map(({ name }) => name))}`,
    `${stuck.length} cannot store`,
    `${failures.length} ended${withNames(failures)}`,
  ].join(', ');
}

const isFailure = ({ report: { torn, lost, doubled, undeleted, rest }, stuck, failures, diverged }: RoomResult) =>
  [torn, lost, doubled, undeleted, rest, stuck, failures, diverged].some(({ length }) => length > 0);
