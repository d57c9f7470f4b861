/** Requests with an Idempotency-Key that are repeated until they succeed, while servers, Redis and connections fail. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isLongRun } from '../hostile/long-run.ts';
import type { ApiResponse, RequestOptions } from '../support/api.ts';
import { installationSettings, startNode, startTwoNodes, withoutLimits } from '../support/nodes.ts';
import { createSuiteCleanup, dataFolder, type ServerProcess, startProcess } from '../support/process.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { type Random, seededRandom } from '../support/seeded-random.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const rounds = isLongRun ? 30 : 4;
const timeout = isLongRun ? 1800_000 : 120_000;
const settings = {
  ...withoutLimits,
  POPROOM_ROOM_MAX_FILES: '1000',
  POPROOM_CLIENT_MAX_BYTES: '0',
  POPROOM_TOTAL_MAX_BYTES: '0',
};
/** After the last fault: the lease of an upload ends after 10 seconds. */
const succeedWithinMs = 25_000;
const filesPerRoom = 500;

describe('requests with an idempotency key', () => {
  describe('on the embedded engine', () => {
    const suite = createSuiteCleanup();
    let folder: string;
    let server: ServerProcess;
    before(async () => {
      folder = await dataFolder(suite);
      server = await startProcess(suite, folder, settings);
    });
    after(suite.end);

    it('[IDEM-1] [FAULT-1] run once, although the server is killed again and again', { timeout }, async (t) => {
      const clients = await startClients(() => server);
      await repeatedly(rounds, seededRandom(t), clients, async () => {
        await server.end('SIGKILL');
        server = await startProcess(suite, folder, settings);
      });
      t.diagnostic(await clients.finish());
    });
  });

  describe('on several nodes', () => {
    const suite = createSuiteCleanup();
    let redis: RedisServer;
    let s3: TestS3;
    let link: TcpProxy;
    let env: Record<string, string>;
    let nodes: ServerProcess[];
    before(async () => {
      [redis, s3] = await Promise.all([startRedis(['--appendonly', 'yes', '--appendfsync', 'always']), startS3()]);
      link = await startTcpProxy(suite, () => redis.port);
      env = installationSettings({ redis: { url: link.url.replace('http', 'redis') }, s3 }, settings);
      nodes = await startTwoNodes(suite, env);
    });
    after(async () => {
      await suite.end();
      await Promise.all([redis.stop(), s3.stop()]);
    });

    const faults = [
      async function killNode() {
        await nodes.shift()?.end('SIGKILL');
        nodes.push(await startNode(suite, env));
      },
      async function killRedis() {
        redis.signal('SIGKILL');
        await redis.restart();
      },
      async function freezeRedis() {
        redis.signal('SIGSTOP');
        // Longer than a node waits for a response. Redis executes the commands afterwards.
        await pause(1_600);
        redis.signal('SIGCONT');
      },
      async function loseResponses() {
        link.pauseResponses();
        await pause(50);
        link.disconnect();
        link.resume();
      },
    ];

    it('[IDEM-1] [NODE-8] run once, although nodes, Redis and connections to it fail in turn', {
      timeout,
    }, async (t) => {
      let next = 0;
      const clients = await startClients(() => nodes[next++ % nodes.length] as ServerProcess);
      await repeatedly(2 * rounds, seededRandom(t), clients, (round) => faults[round % faults.length]?.());
      t.diagnostic(await clients.finish());
    });
  });
});

/** Causes a fault after a random number of responses. */
async function repeatedly(
  rounds: number,
  random: Random,
  clients: Clients,
  fault: (round: number) => Promise<void> | undefined,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await clients.answered(10 + random.number(60));
    await fault(round);
  }
}

interface Clients {
  /** Resolves after this many more successful requests. */
  answered(count: number): Promise<void>;
  /** Stops, and fails unless each request was executed once. */
  finish(): Promise<string>;
}

/** Clients that send request after request, each with a new key and until it succeeds. */
async function startClients(server: () => ServerProcess): Promise<Clients> {
  const tokens = { appended: [] as string[], uploaded: [] as string[], created: [] as string[] };
  const conflicts: string[] = [];
  const waiting = new Set<{ until: number; resolve: () => void }>();
  let [total, repeated, slowestMs, isStopped] = [0, 0, 0, false];
  const roomsBefore = await countRooms(server());
  const rooms: string[] = [];
  const [shared, ...own] = [await addRoom(), await addRoom(), await addRoom()];
  const drops = [await addRoom()];

  async function addRoom(): Promise<string> {
    const { roomId } = (await send('POST', '/api/rooms')).json;
    rooms.push(roomId);
    return roomId;
  }

  async function send(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    const headers = { ...options.headers, 'idempotency-key': randomUUID() };
    const since = performance.now();
    for (;;) {
      const response = await server()
        .api.call(method, path, { ...options, headers })
        .catch(connectionLost);
      if (response && ![409, 503].includes(response.status)) {
        total += 1;
        slowestMs = Math.max(slowestMs, performance.now() - since);
        for (const one of waiting) if (total >= one.until) one.resolve();
        return response;
      }
      repeated += 1;
      await pause(response ? 1000 * Number(response.headers.get('retry-after')) : 200);
    }
  }

  async function append(): Promise<void> {
    const token = `<${randomUUID()}>`;
    const response = await send('PATCH', `/api/rooms/${shared}/content`, { json: { append: token } });
    assert.equal(response.status, 200, response.text);
    tokens.appended.push(token);
  }

  async function create(): Promise<void> {
    const response = await send('POST', '/api/rooms', { json: { pin: '0427' } });
    assert.equal(response.status, 201, response.text);
    tokens.created.push(response.json.roomId);
  }

  async function upload(): Promise<void> {
    const name = randomUUID();
    const headers = { 'content-type': 'text/plain', 'x-file-name': name };
    if (tokens.uploaded.length > filesPerRoom * drops.length) drops.push(await addRoom());
    const response = await send('POST', `/api/rooms/${drops.at(-1)}/upload`, { body: name.repeat(50), headers });
    assert.equal(response.status, 201, response.text);
    tokens.uploaded.push(name);
  }

  /** The only writer of its room: if a write is executed twice, its second run conflicts with the first. */
  function writerOf(room: string): () => Promise<void> {
    let version = 0;
    return async () => {
      const headers = { 'if-match': `"${version}"` };
      const response = await send('POST', `/api/rooms/${room}/content`, { json: { content: `${version}` }, headers });
      if (response.status === 412) conflicts.push(response.text);
      else assert.equal(response.json.version, version + 1);
      version += 1;
    };
  }

  const repeat = async (act: () => Promise<void>) => {
    while (!isStopped) await act();
  };
  const acts = [append, append, append, create, create, create, upload, upload, upload, ...own.map(writerOf)];
  const running = Promise.all(acts.map(repeat));
  running.catch(() => undefined);

  return {
    answered(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add({ until: total + count, resolve });
      return Promise.race([promise, running.then(() => undefined)]);
    },

    async finish() {
      isStopped = true;
      const stoppedAt = performance.now();
      await running;
      const settledMs = performance.now() - stoppedAt;
      assert.ok(settledMs < succeedWithinMs, `the last one succeeded after ${settledMs} ms`);
      const { content } = (await server().api.get(`/api/rooms/${shared}/content`)).json;
      const lists = await Promise.all(drops.map((room) => server().api.get(`/api/rooms/${room}/files`)));
      const files = lists.flatMap(({ json }) => json.files);
      const roomCount = (await countRooms(server())) - roomsBefore - rooms.length;
      const executions = {
        appends: content.split('<').length - 1,
        files: files.length,
        rooms: roomCount,
        conflicts: conflicts.length,
      };
      const { appended, uploaded, created } = tokens;
      const once = { appends: appended.length, files: uploaded.length, rooms: created.length, conflicts: 0 };
      const summary = `${total} requests, ${repeated} repetitions, slowest ${Math.round(slowestMs)} ms`;
      assert.deepEqual(executions, once, summary);
      for (const token of appended) assert.equal(content.split(token).length, 2);
      assert.deepEqual(files.map(({ fileName }: { fileName: string }) => fileName).sort(), uploaded.sort());
      assert.equal(new Set(created).size, created.length);
      return summary;
    },
  };
}

function connectionLost(error: Error): undefined {
  if (!/^(fetch failed|terminated)$/.test(error.message)) throw error;
}

async function countRooms({ api }: ServerProcess): Promise<number> {
  const { text } = await api.get('/metrics');
  return Number(/^poproom_rooms (\d+)$/m.exec(text)?.[1]);
}
