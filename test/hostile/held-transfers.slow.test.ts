/** Transfers that strangers hold: unread downloads and archives, and connections on a server with few descriptors. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { builtCommand, dataFolder, type ServerProcess, startProcess } from '../support/process.ts';
import { openHandles, peakMemory, residentMemory } from '../support/process-stats.ts';
import { requestHead } from '../support/raw-socket.ts';
import { isLongRun, onlyInLongRun } from './long-run.ts';

const MiB = 1024 * 1024;
const patience = { timeout: 300_000 };
/** Loopback has many addresses. */
const [bystander, owner] = ['127.0.0.2', '127.0.0.3'] as const;

describe('transfers that a stranger holds', () => {
  it('[TRANSFER-3] unread downloads leave descriptors for others', patience, async (t) => {
    const [descriptors, downloads] = isLongRun ? [1024, 3000] : [256, 300];
    const target = await startTarget(t, descriptors);
    const before = await openHandles(target.server.pid);
    await holdRequests(t, target, downloads, () => '127.0.1.1', target.file);
    const open = (await openHandles(target.server.pid)).length - before.length;
    assert.ok(open <= descriptors / 4, `${open} of ${descriptors} descriptors are in use`);
    await assertServes(target);
  });

  it('[TRANSFER-3] idle connections of many addresses leave descriptors for others', patience, async (t) => {
    const [descriptors, connections] = isLongRun ? [1024, 3000] : [256, 300];
    const target = await startTarget(t, descriptors);
    await holdRequests(t, target, connections, (n) => `127.0.1.${1 + (n % 20)}`, '/livez');
    await assertServes(target);
  });

  it(
    '[TRANSFER-4] [SAFE-1] unread downloads use bounded memory, which is free soon after them',
    patience,
    async (t) => {
      const target = await startTarget(t, 20_000);
      const { pid } = target.server;
      await assertServes(target);
      const before = await residentMemory(pid);
      const sockets = await holdRequests(t, target, isLongRun ? 3000 : 600, () => '127.0.1.1', target.file);
      await assertServes(target);
      for (const socket of sockets) socket.destroy();
      const endedAt = performance.now();
      const isAtRest = async () => (await residentMemory(pid)) <= before + 64;
      await eventually('the memory is back at rest', isAtRest, 20_000);
      const seconds = ((performance.now() - endedAt) / 1000).toFixed(1);
      const figures = `the memory grew from ${before.toFixed(0)} to ${(await peakMemory(pid)).toFixed(0)} MiB`;
      t.diagnostic(`${figures}, and was back at rest after ${seconds} s`);
      assert.ok((await peakMemory(pid)) - before <= (isLongRun ? 128 : 96), figures);
    },
  );

  it(
    '[TRANSFER-2] [ZIP-8] archives that nine addresses read slowly do not deny them to others',
    onlyLong(),
    async (t) => {
      const target = await startTarget(t, 20_000);
      const path = `/api/rooms/${target.room}/files.zip`;
      const sockets = await holdRequests(t, target, 510, (n) => `127.0.1.${1 + (n % 9)}`, path);
      const reading = setInterval(() => {
        for (const socket of sockets) socket.read(4000);
      }, 1000);
      t.after(() => clearInterval(reading));
      for (let seconds = 0; seconds < 30; seconds += 5) {
        assert.equal((await download(target, path)).status, 200, `after ${seconds} seconds`);
        await new Promise((resolve) => setTimeout(resolve, 5000));
      }
    },
  );
});

function onlyLong() {
  return { ...patience, ...onlyInLongRun };
}

interface Target {
  server: ServerProcess;
  room: string;
  /** The path of a file of 10 MiB. */
  file: string;
}

/** A server that may open this many descriptors. */
async function startTarget(t: TestContext, descriptors: number): Promise<Target> {
  const [node, ...args] = builtCommand;
  const program = ['/bin/sh', '-c', `ulimit -n ${descriptors} && exec "$0" "$@"`, node, ...args] as const;
  const server = await startProcess(t, await dataFolder(t), { POPROOM_FREE_LIMIT: '0' }, program);
  assert.match(await readFile(`/proc/${server.pid}/limits`, 'utf8'), new RegExp(`Max open files +${descriptors} `));
  const room = await server.api.room();
  const path = `/api/rooms/${room}/upload?fileName=large`;
  const headers = { 'content-type': 'application/octet-stream' };
  const { text } = await exchange(server, { method: 'POST', path, headers, from: owner, body: Buffer.alloc(10 * MiB) });
  return { server, room, file: new URL(JSON.parse(text).fileUrl).pathname };
}

/** Sends requests whose responses nobody reads. Resolves when the server has handled all of them. */
async function holdRequests(
  t: TestContext,
  { server: { port, api } }: Target,
  count: number,
  addressOf: (n: number) => string,
  path: string,
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  t.after(() => sockets.forEach((socket) => void socket.destroy()));
  for (let n = 0; n < count; n++) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: addressOf(n) });
    sockets.push(socket.on('error', () => undefined).pause());
    const isSent = new Promise<void>((resolve) => {
      socket.once('close', () => resolve()).write(requestHead('GET', path), () => resolve());
    });
    // The accept queue of the server has 511 places.
    if (n % 100 === 99) await isSent;
  }
  await api.get('/api/health');
  return sockets;
}

async function assertServes(target: Target): Promise<void> {
  const { server, room, file } = target;
  assert.equal((await exchange(server, { path: `/api/rooms/${room}/content`, from: bystander })).status, 200);
  const { status, text } = await download(target, file);
  assert.deepEqual([status, text.length], [200, 10 * MiB]);
}

const download = ({ server }: Target, path: string) => exchange(server, { path, from: bystander });

interface Exchange {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  from: string;
  body?: Buffer;
}

function exchange({ port }: ServerProcess, { method = 'GET', path, headers = {}, from, body }: Exchange) {
  return new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', localAddress: from, method, path, headers, agent: false });
    sent.on('error', reject).on('response', async (response) => {
      const bytes = Buffer.concat((await response.toArray().catch(reject)) ?? []);
      resolve({ status: response.statusCode, text: bytes.toString('latin1') });
    });
    sent.end(body);
  });
}
