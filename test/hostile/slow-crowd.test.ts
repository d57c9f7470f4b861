/** Two thousand slow clients: they delay nobody, and are disconnected in the end. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { assertError } from '../support/assert-error.ts';
import { storedBlobs, unfinishedBlobs } from '../support/data-folder.ts';
import { eventually } from '../support/eventually.ts';
import { dataFolder, type ServerProcess, startProcess } from '../support/process.ts';
import { openSockets, peakMemory } from '../support/process-stats.ts';
import { requestHead } from '../support/raw-socket.ts';
import { openConnection } from './connection.ts';
import { onlyInLongForm } from './long-form.ts';
import { type Crowd, openSlowCrowd, type SlowCrowd } from './slow-crowd.ts';

const crowdSize = 2000;
const patience = { timeout: 600_000 };
const inLongForm = { ...patience, ...onlyInLongForm };
const patienceMs = 30_000;
/** Of which a hundredth is still a number of answers that says something. */
const [enough, plenty] = [1000, 5000];

describe('two thousand slow clients', patience, () => {
  it('[RUN-7] with endless headers delay nobody, and are gone when they disconnect', async (t) => {
    const met = await meet(t, slowHeads);
    await assertServesOthers(t, met, whileAllAreThere(met));
    met.crowd.leave();
    await met.assertGone();
  });

  it('[RUN-7] [UP-6] with endless bodies delay nobody, and leave nothing behind', async (t) => {
    const met = await meet(t, slowBodies);
    await assertServesOthers(t, met, whileAllAreThere(met));
    met.crowd.leave();
    await met.assertGone();
  });

  it('[RUN-7] [ERR-5] with endless headers receive an error and are disconnected', inLongForm, async (t) => {
    const met = await meet(t, slowHeads);
    await assertServesOthers(t, met, untilAllAreGone(met));
    assertAllWereTold(met);
    await met.assertGone();
  });

  it('[RUN-7] [ERR-1] [UP-6] with endless bodies receive an error and are disconnected', inLongForm, async (t) => {
    const met = await meet(t, slowBodies);
    await assertServesOthers(t, met, untilAllAreGone(met));
    assertAllWereTold(met);
    await met.assertGone();
  });

  it('[RUN-7] [ERR-1] [UP-6] with stalled bodies receive an error and are disconnected', inLongForm, async (t) => {
    const met = await meet(t, slowBodies, 'is silent');
    await assertServesOthers(t, met, untilAllAreGone(met));
    assertAllWereTold(met);
    await met.assertGone();
  });
});

type Beginnings = (room: string) => string[];

const slowHeads: Beginnings = () => ['GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: '];

/** Bodies that say how long they will be and never get there: two texts, and two files that are written down as they come. */
const slowBodies: Beginnings = (room) => {
  const post = (path: string, type: string, begun: string) =>
    `POST /api/rooms/${room}${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\n` +
    `X-File-Name: a.txt\r\nContent-Length: 10000\r\n\r\n${begun}`;
  const part = '--xyzzy\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nbegun';
  return [
    post('/content', 'application/json', '{"content":"'),
    post('/upload', 'text/plain', 'begun'),
    post('/content', 'application/json', '{"content":"'),
    post('/upload', 'multipart/form-data; boundary=xyzzy', part),
  ];
};

interface Met {
  server: ServerProcess;
  crowd: SlowCrowd;
  assertGone: () => Promise<void>;
}

/** A server, the crowd at its door, and what must be true when the crowd is gone. */
async function meet(t: TestContext, beginnings: Beginnings, then: Crowd['then'] = 'drips'): Promise<Met> {
  const folder = await dataFolder(t);
  const server = await startProcess(t, folder, { POPROOM_FREE_LIMIT: '0' });
  const kinds = beginnings(await server.api.room());
  const before = await openSockets(server.pid);
  const crowd = await openSlowCrowd(t, { port: server.port, size: crowdSize, beginnings: kinds, then });
  const uploads = (crowdSize * kinds.filter((kind) => kind.includes('/upload ')).length) / kinds.length;
  await eventually('all are under way', async () => (await unfinishedBlobs(folder)).length === uploads, patienceMs);
  const assertGone = async () => {
    await eventually('the connections are gone', async () => (await openSockets(server.pid)) <= before, patienceMs);
    await eventually('no bytes are left', async () => (await storedBlobs(folder)).length === 0, patienceMs);
    t.diagnostic(`at its peak the server held ${Math.round(await peakMemory(server.pid))} MiB`);
  };
  return { server, crowd, assertGone };
}

/** On a busy machine, the first may have been cut off before all requests were made. */
const whileAllAreThere = ({ crowd }: Met): Visit => ({
  isOver: (requests) => requests === plenty || crowd.ended() > 0,
  everyMs: 0,
});
const untilAllAreGone = ({ crowd }: Met): Visit => ({ isOver: () => crowd.ended() === crowdSize, everyMs: 10 });

interface Visit {
  isOver: (requests: number) => boolean;
  /** A pause between requests, where it goes on for minutes. */
  everyMs: number;
}

/** A client that asks for this and that gets 99 of 100 answers within 100 ms. */
async function assertServesOthers(t: TestContext, { server }: Met, visit: Visit): Promise<void> {
  const took = await timesOf(t, server, visit);
  const [p99, slowest] = [quantile(took, 0.99), Math.max(...took)];
  t.diagnostic(`${took.length} answers: p99 ${p99.toFixed(1)} ms, slowest ${slowest.toFixed(1)} ms`);
  assert.ok(took.length >= enough, 'there were enough to tell');
  assert.ok(p99 < 100, `the 99th percentile is ${p99} ms`);
}

function assertAllWereTold({ crowd }: Met): void {
  const answers = crowd.answers();
  assert.equal(answers.length, crowdSize);
  for (const response of answers) {
    assert.ok(response, 'each got one whole answer');
    assertError(response, 400, 'VALIDATION_FAILED');
  }
}

function quantile(values: readonly number[], at: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * at) - 1] ?? 0;
}

async function timesOf(t: TestContext, { api, port }: ServerProcess, { isOver, everyMs }: Visit): Promise<number[]> {
  const asked = requestsTo(await api.room());
  const connection = openConnection(t, port);
  const took: number[] = [];
  while (!isOver(took.length)) {
    const since = performance.now();
    const { status } = await connection.ask(Buffer.from(asked[took.length % asked.length] as string));
    took.push(performance.now() - since);
    assert.equal(status, 200);
    // Now and then on a new connection: the crowd must not stand in the door either.
    if (took.length % 10 === 0) connection.close();
    if (everyMs > 0) await pause(everyMs);
  }
  connection.close();
  return took;
}

function requestsTo(room: string): string[] {
  const body = '{"content":"hello"}';
  const json = { 'Content-Type': 'application/json', 'Content-Length': body.length };
  return [
    requestHead('GET', '/api/health'),
    requestHead('GET', `/api/rooms/${room}`),
    requestHead('POST', `/api/rooms/${room}/content`, json) + body,
    requestHead('GET', `/api/rooms/${room}/content`),
  ];
}
