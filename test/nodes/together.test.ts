/**
 * Three nodes with one Redis and one S3 store act as one service. Starting them is most of the work, so all tests that
 * need no other settings share them.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { createClient } from '@redis/client';
import { hashOf } from '../support/acknowledged.ts';
import { createCli } from '../support/cli.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { bearer } from '../support/keys.ts';
import { type SharedNodes, type Stores, startSharedNodes } from '../support/nodes.ts';
import type { ServerProcess } from '../support/process.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { crashTests } from './crash.ts';
import { editTests } from './edits.ts';
import { oneTimeFileTests } from './one-time-files.ts';
import { clientMaxBytes, quotaTests } from './quotas.ts';
import { sealedTests } from './sealed.ts';

/** More than the tests without an address of their own need together. */
const freeLimit = 300;
const limits = {
  POPROOM_FREE_LIMIT: String(freeLimit),
  POPROOM_PRO_LIMIT: '50',
  POPROOM_CLIENT_MAX_BYTES: String(clientMaxBytes),
};

describe('several nodes', () => {
  let stores: Stores & { redis: RedisServer; s3: TestS3 };
  let shared: SharedNodes;
  before(async () => {
    stores = { redis: await startRedis(), s3: await startS3() };
    shared = await startSharedNodes(stores, limits);
  });
  after(async () => {
    await shared.stop();
    await Promise.all([stores.redis.stop(), stores.s3.stop()]);
  });

  it('[NODE-1] send the devices of one what is written on another, immediately and in order', async (t) => {
    const [one, two, three] = shared.nodes;
    const room = await one.api.room();
    const there = await joinRoom(t, two.url, room, { deviceId: 'there' });
    const elsewhere = await joinRoom(t, three.url, room, { deviceId: 'elsewhere' });
    await Promise.all([there.next('snapshot'), elsewhere.next('snapshot')]);

    const path = `/api/rooms/${room}/content`;
    for (const content of ['first', 'second']) {
      const { headers } = await one.api.post(path, { json: { content } });
      const version = Number(headers.get('etag')?.slice(1, -1));
      for (const device of [there, elsewhere]) {
        assert.equal((await device.next('content', (message) => message.version === version)).content, content);
      }
      for (const { api } of [one, two, three]) assert.equal((await api.get(path)).json.content, content);
    }

    there.send({ type: 'content', content: 'from a device', baseVersion: 2, ref: '1' });
    assert.equal((await there.next('written')).version, 3);
    assert.equal((await elsewhere.next('content', ({ version }) => version === 3)).content, 'from a device');
    elsewhere.send({ type: 'content', content: 'too late', baseVersion: 2, ref: '1' });
    assert.equal((await elsewhere.next('conflict')).content, 'from a device');
    for (const { received } of [there, elsewhere])
      assert.deepEqual(seqsOf(received), seqsOf(received).toSorted(byNumber));
  });

  it('[NODE-24] read a text with one command, and write it with two', async (t) => {
    const [one, two] = shared.nodes;
    const counts: number[] = [];
    // Nodes send each script in full once, so the second room counts.
    for (const room of [await one.api.room(), await one.api.room()]) {
      const path = `/api/rooms/${room}/content`;
      const commands = await watchCommands(t, stores.redis, room);
      const requests = [
        () => one.api.get(path),
        () => one.api.get(`/api/rooms/${room}`),
        () => one.api.post(path, { json: { content: 'first' } }),
        () => one.api.post(path, { json: { content: 'second' } }),
        () => two.api.get(path),
      ];
      counts.length = 0;
      for (const request of requests) {
        assert.equal((await request()).status, 200);
        counts.push(await commands.count());
      }
    }
    // The list of devices is a command of its own. The first write reads the text too, in the same round trip.
    assert.deepEqual(counts, [1, 2, 3, 2, 1]);
  });

  it('[IDEM-1] return the response of another to a request with the same key', async () => {
    const [one, two] = shared.nodes;
    const request = { json: { name: 'Once' }, headers: { 'idempotency-key': 'of-several-nodes-1' } };
    const responses = await Promise.all([one, two, one, two].map(({ api }) => api.post('/api/rooms', request)));
    const created = responses.map(({ json }) => json.roomId);
    assert.deepEqual([responses.map(({ status }) => status), new Set(created).size], [[201, 201, 201, 201], 1]);
    for (const { api } of [one, two]) {
      const again = await api.post('/api/rooms', request);
      assert.deepEqual([again.json.roomId, again.headers.get('idempotency-replayed')], [created[0], 'true']);
    }
  });

  it('[NODE-2] serve a file that was uploaded on another, and stop when it is removed on a third', async (t) => {
    const [one, two, three] = shared.nodes;
    const room = await one.api.room();
    const device = await joinRoom(t, two.url, room);
    await device.next('snapshot');
    const bytes = Buffer.alloc(1_500_000, 'a file of several nodes ');
    const { fileUrl } = (await one.api.upload(room, 'a.txt', bytes)).json;
    const { file } = await device.next('file-added');
    const path = new URL(fileUrl).pathname;
    assert.equal(file.fileUrl, two.url + path);
    for (const { url } of [two, three]) {
      const fetched = await fetch(url + path);
      assert.equal(fetched.status, 200);
      assert.equal(hashOf(await fetched.bytes()), hashOf(bytes));
    }
    assert.equal((await three.api.delete(`/api/rooms/${room}/files/${file.fileId}`)).status, 200);
    assert.equal((await device.next('file-removed')).fileId, file.fileId);
    for (const { url } of [one, two]) assert.equal((await fetch(url + path)).status, 404);
    // Until the room ends, the file could be restored for a minute.
    assert.equal((await two.api.delete(`/api/rooms/${room}`)).status, 200);
    const prefix = shared.settings.POPROOM_FILES?.split('/').at(-1) ?? '';
    await eventually(
      'its blobs are deleted',
      async () => !(await stores.s3.keys()).some((key) => key.startsWith(prefix)),
    );
  });

  it('[NODE-3] count and list the devices of all of them', async (t) => {
    const [one, two] = shared.nodes;
    const room = await one.api.room();
    const laptop = await joinRoom(t, one.url, room, { deviceId: 'laptop', deviceName: 'Laptop' });
    await laptop.next('snapshot');
    const phone = await joinRoom(t, two.url, room, { deviceId: 'phone', deviceName: 'Phone' });
    const { devices } = await phone.next('snapshot');
    assert.deepEqual(devices.map(({ deviceName }) => deviceName).sort(), ['Laptop', 'Phone']);
    await laptop.next('devices', ({ devices }) => devices.length === 2);

    const again = await joinRoom(t, two.url, room, { deviceId: 'laptop', deviceName: 'Laptop' });
    await again.next('snapshot');
    await one.api.get(`/api/rooms/${room}`, { headers: { 'x-device-id': 'script' } });
    for (const { api } of [one, two]) assert.equal((await api.get(`/api/rooms/${room}`)).json.deviceCount, 3);

    await laptop.leave();
    await phone.leave();
    const left = ({ devices }: { devices: { deviceId: string }[] }) =>
      String(devices.map(({ deviceId }) => deviceId).sort()) === 'laptop,script';
    await again.next('devices', left);
    for (const { api } of [one, two]) assert.equal((await api.get(`/api/rooms/${room}`)).json.deviceCount, 2);
  });

  it('[NODE-4] close a room on all of them when it is deleted on one', async (t) => {
    const [one, two] = shared.nodes;
    const room = await one.api.room();
    const devices = await Promise.all([one, two, two].map(({ url }) => joinRoom(t, url, room)));
    for (const device of devices) await device.next('snapshot');
    const { fileUrl } = (await two.api.upload(room, 'a.txt', 'abc')).json;
    assert.equal((await one.api.delete(`/api/rooms/${room}`)).status, 200);
    assert.equal((await two.api.get(`/api/rooms/${room}`)).code, 'ROOM_NOT_FOUND');
    assert.equal((await two.api.get(new URL(fileUrl).pathname)).code, 'FILE_NOT_FOUND');
    for (const device of devices) {
      assert.equal((await device.next('closed')).reason, 'deleted');
      assert.equal((await device.closed).code, 4410);
    }
  });

  it('[NODE-5] [LIVE-22] grant exactly the limit, of 400 concurrent requests on three of them, and then allow a channel of another node to resume', async (t) => {
    const { nodes } = shared;
    const [one, two] = nodes;
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    const room = await one.api.room({ pin: '0427' });
    const device = await joinRoom(t, one.url, room, { pin: '0427' }, { headers });
    const { resumeToken } = await device.next('snapshot');
    await device.leave();
    await assertGranted(nodes, { requests: 400, granted: freeLimit - 1, headers });

    await assert.rejects(joinRoom(t, two.url, room, { pin: '0427' }, { headers }), /429/);
    const resumed = await joinRoom(t, two.url, room, {}, { headers, resumeToken });
    await resumed.next('snapshot');
  });

  it('[slow] [NODE-5] grant exactly the limit, of 1,000 concurrent requests on three of them', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.10' };
    await assertGranted(shared.nodes, { requests: 1000, granted: freeLimit, headers });
  });

  it('[RATE-8] grant exactly the uploads of a ticket, of concurrent ones on three of them', async () => {
    const from = '203.0.113.77';
    const room = await shared.nodes[0].api.room({}, { from });
    const path = `/api/rooms/${room}/tickets`;
    const { ticket } = (await shared.nodes[1].api.post(path, { json: { uploads: 7 }, from })).json;
    const send = (i: number) =>
      (shared.nodes[i % 3] ?? shared.nodes[0]).api.upload(room, `${i}.txt`, 'x', {
        headers: { 'x-upload-ticket': ticket },
        from,
      });
    const responses = await Promise.all(Array.from({ length: 15 }, (_, i) => send(i)));
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([201]));
    const { headers } = await shared.nodes[2].api.get('/livez', { from });
    assert.equal(Number(headers.get('x-ratelimit-remaining')), freeLimit - 2 - (15 - 7));
  });

  it('[NODE-6] evaluate at most 5 of 60 wrong PINs that are sent to two of them concurrently', async (t) => {
    const [one, two] = shared.nodes;
    const nodes = [one, two] as const;
    const room = await nodes[0].api.room({ pin: '0427' });
    const member = await joinRoom(t, nodes[1].url, room, { pin: '0427' });
    await member.next('snapshot');
    const tries = Array.from({ length: 60 }, (_, i) =>
      nodes[i % 2]?.api.get(`/api/rooms/${room}`, { pin: String(1000 + i), from: '203.0.113.8' }),
    );
    const codes = (await Promise.all(tries)).map((response) => response?.code);
    assert.equal(codes.filter((code) => code === 'PIN_INCORRECT').length, 5);
    assert.equal(codes.filter((code) => code === 'PIN_LOCKED').length, 55);
    for (const { api } of nodes) {
      const locked = await api.get(`/api/rooms/${room}`, { pin: '0427', from: '203.0.113.8' });
      assert.equal(locked.code, 'PIN_LOCKED', 'the right one does not help either');
      assert.equal((await api.get(`/api/rooms/${room}`, { pin: '0427' })).status, 200, 'the maker goes on');
    }
    await member.next('pin-attempts', ({ pinAttempts }) => pinAttempts === 5);
  });

  it('[NODE-7] accept the keys that the command creates, and no longer those that it revokes', async (t) => {
    const [one, two] = shared.nodes;
    const nodes = [one, two];
    const cli = await createCli(t, shared.settings);
    const made = await cli.run(['keys', 'create', 'script']);
    assert.equal(made.code, 0, made.stderr);
    const headers = bearer(made.stdout.trim());
    const left: number[] = [];
    for (const { api } of [...nodes, ...nodes]) {
      const { status, headers: received } = await api.post('/api/rooms', { headers });
      assert.equal(status, 201);
      left.push(Number(received.get('x-ratelimit-remaining')));
    }
    assert.deepEqual(left, [49, 48, 47, 46]);
    assert.match((await cli.run(['keys', 'list'])).stdout, /script +pro/);
    assert.equal((await cli.run(['keys', 'revoke', 'script'])).code, 0);
    for (const { api } of nodes) assert.equal((await api.post('/api/rooms', { headers })).code, 'INVALID_API_KEY');
  });

  editTests(() => shared);
  sealedTests(() => shared);
  quotaTests(() => shared);
  // These kill the third and the second node, so they are the last.
  oneTimeFileTests(() => shared);
  crashTests(() => shared);
});

/** Counts the commands of nodes that name a room since the last call, except messages, which no response waits for. */
async function watchCommands(t: TestContext, { url }: RedisServer, room: string) {
  const [monitor, other] = [createClient({ url }), createClient({ url })];
  t.after(() => [monitor, other].map((client) => client.destroy()));
  await Promise.all([monitor.connect(), other.connect()]);
  const lines: string[] = [];
  await monitor.monitor((line) => void lines.push(String(line)));
  let calls = 0;
  return {
    async count(): Promise<number> {
      calls += 1;
      const marker = `marker-${calls}`;
      await other.sendCommand(['ECHO', marker]);
      await eventually('all commands are seen', () => lines.some((line) => line.includes(marker)));
      // Commands within scripts have `lua` as their address.
      return lines.splice(0).filter((line) => line.includes(room) && !/ lua\]|"publish"/i.test(line)).length;
    },
  };
}

interface Grant {
  requests: number;
  granted: number;
  /** Of a client. */
  headers: Record<string, string>;
}

/** Sends these requests, and fails unless exactly so many are granted. */
async function assertGranted(nodes: SharedNodes['nodes'], { requests, granted: limit, headers }: Grant): Promise<void> {
  const send = (i: number) => statusOf(nodes, i, '/api/health', { headers });
  const answers = await race(requests, 64, send);
  const granted = answers.filter((status) => status === 200).length;
  const refused = answers.filter((status) => status === 429).length;
  // Requests that time out on a busy machine may count or not.
  const failed = requests - granted - refused;
  assert.ok(granted <= limit && granted + failed >= limit, `${granted} granted, ${refused} refused`);
  await eventually('the limit is used up', async () => (await send(0)) === 429 || undefined);
}

/** Runs `work` a number of times, with limited concurrency. */
async function race<T>(times: number, atOnce: number, work: (i: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const runner = async () => {
    while (next < times) results.push(await work(next++));
  };
  await Promise.all(Array.from({ length: atOnce }, runner));
  return results;
}

async function statusOf(nodes: readonly ServerProcess[], i: number, path: string, init: RequestInit): Promise<number> {
  const response = await fetch(`${nodes[i % nodes.length]?.url}${path}`, init);
  await response.bytes();
  return response.status;
}

const seqsOf = (messages: object[]): number[] =>
  messages.flatMap((message) => ('seq' in message ? [Number(message.seq)] : []));
const byNumber = (a: number, b: number) => a - b;
