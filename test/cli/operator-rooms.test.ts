/** `poproom rooms`: what an operator sees and removes, with and without a running server. */
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { type Cli, createCli } from '../support/cli.ts';
import { storedBlobs } from '../support/data-folder.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { dataFolder, type ServerProcess, startProcess } from '../support/process.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { createSealedRoom } from '../support/sealed-room.ts';

type Env = Record<string, string>;
const KiB = 1024;
const [here, elsewhere] = ['203.0.113.7', '203.0.113.8'];

interface ListedRoom {
  roomId: string;
  createdAt: string;
  expiresAt: string;
  hasPin: boolean;
  encrypted: boolean;
  fileCount: number;
  fileBytes: number;
  textBytes: number;
  deviceCount: number | null;
  client: string | null;
}

describe('poproom rooms', () => {
  let redis: RedisServer;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());

  const engines: Record<string, () => Env> = {
    'the embedded engine': () => ({}),
    Redis: () => ({
      POPROOM_STORE: `${redis.url}?prefix=${Math.random().toString(36).slice(2)}`,
      POPROOM_SECRET: 'a secret that is long enough for all',
    }),
  };

  for (const [engine, settings] of Object.entries(engines)) {
    it(`[slow] [CLI-26] lists and shows rooms while a server runs on ${engine}, with masked codes and no user content [SEALED-1]`, async (t) => {
      const { cli, server } = await startBoth(t, settings());
      const large = await server.api.room({ pin: '0427', expiresIn: 7200, name: 'private room' }, { from: here });
      const small = await server.api.room({}, { from: elsewhere });
      const pinned = { from: here, pin: '0427' };
      await server.api.upload(large, 'private name.txt', Buffer.alloc(300 * KiB), pinned);
      await server.api.post(`/api/rooms/${small}/content`, { json: { content: 'private text' }, from: elsewhere });
      const device = await joinRoom(t, server.url, small, { deviceId: 'private-device' });
      await device.next('snapshot');

      const { stdout, stderr, code } = await cli.run(['rooms', 'list']);
      assert.deepEqual([code, stderr], [0, '']);
      const [head = '', ...rows] = stdout.trimEnd().split('\n');
      assert.match(head, /^ROOM +AGE +EXPIRES IN +SIZE +FILES +DEVICES +ENCRYPTED +CLIENT$/);
      assert.match(
        rows[0] ?? '',
        /^..\*{4} +\d min +[12] h \d+ min +300 KiB +1 +0 +no +[0-9a-f]{12}$/,
        'the largest first',
      );
      assert.match(rows[1] ?? '', /^..\*{4} +\d min +(1 d|23 h \d+ min) +\d+ bytes +0 +1 +no +[0-9a-f]{12}$/);

      const [first, second] = await listed(cli, ['--reveal']);
      assert.deepEqual([first?.roomId, second?.roomId], [large, small]);
      assert.notEqual(first?.client, second?.client);
      const { roomId, createdAt, expiresAt, client, textBytes, ...rest } = (await shown(cli, small)) as ListedRoom;
      assert.equal(roomId, `${small.slice(0, 2)}****`);
      assert.equal(client, second?.client);
      assert.ok(textBytes >= 'private text'.length && Date.parse(expiresAt) > Date.parse(createdAt));
      assert.deepEqual(rest, { hasPin: false, encrypted: false, fileCount: 0, fileBytes: 0, deviceCount: 1 });

      const own = await listed(cli, ['--client', String(first?.client), '--reveal']);
      assert.deepEqual(
        own.map((room) => room.roomId),
        [large],
      );
      assert.equal((await listed(cli, ['--limit', '1'])).length, 1);
      const { code: sealed } = await createSealedRoom(server.api, {}, { from: here });
      const encrypted = (await listed(cli, ['--reveal'])).find((room) => room.roomId === sealed);
      assert.deepEqual([encrypted?.encrypted, encrypted?.hasPin], [true, false], 'an encrypted room');
      const all = [
        stdout,
        (await cli.run(['rooms', 'list', '--json'])).stdout,
        (await cli.run(['rooms', 'show', large])).stdout,
      ];
      for (const secret of [large, small, 'private', here, elsewhere]) {
        assert.ok(!all.join('\n').includes(secret), secret);
      }
      // As a whole word: the hash of a client may contain the digits.
      assert.doesNotMatch(all.join('\n'), /\b0427\b/);
    });

    it(`[slow] [CLI-27] removes rooms while a server runs on ${engine}, which notices within seconds`, async (t) => {
      const { cli, server, folder } = await startBoth(t, settings());
      const [room, other, kept] = [await server.api.room(), await server.api.room(), await server.api.room()];
      await server.api.upload(room, 'a.txt', 'abc');
      // The server has the room in its caches.
      await server.api.post(`/api/rooms/${room}/content`, { json: { content: 'text' } });
      assert.equal((await server.api.get(`/api/rooms/${room}/content`)).status, 200);
      const device = await joinRoom(t, server.url, room);
      await device.next('snapshot');

      const { code, stdout } = await cli.run(['rooms', 'rm', room, other.toLowerCase()]);
      assert.deepEqual([code, stdout], [0, `${masked(room)}: Removed.\n${masked(other)}: Removed.\n`]);
      assert.equal((await device.next('closed')).reason, 'deleted');
      for (const gone of [room, other])
        assert.equal((await server.api.get(`/api/rooms/${gone}`)).code, 'ROOM_NOT_FOUND');
      const late = await server.api.post(`/api/rooms/${room}/content`, { json: { content: 'more' } });
      assert.equal(late.code, 'ROOM_NOT_FOUND');
      assert.equal((await server.api.get(`/api/rooms/${kept}`)).status, 200);
      await eventually('its blobs are deleted', async () => (await storedBlobs(folder)).length === 0);

      const again = await cli.run(['rooms', 'rm', room]);
      assert.deepEqual([again.code, again.stdout], [3, `${masked(room)}: There is no such room.\n`]);
      assert.equal((await cli.run(['rooms', 'show', room])).code, 3);
    });

    it(`[slow] [CLI-27] removes all rooms of a client on ${engine}, and works without a server`, async (t) => {
      const { cli, server } = await startBoth(t, settings());
      for (let i = 0; i < 3; i++) await server.api.room({}, { from: here });
      await server.api.room({}, { from: elsewhere });
      const clients = (await listed(cli)).map(({ client }) => client);
      const attacker = clients.find((client) => clients.filter((one) => one === client).length === 3);
      const { code, stdout } = await cli.run(['rooms', 'rm', '--client', String(attacker), '--json']);
      assert.equal(code, 0);
      assert.deepEqual(
        JSON.parse(stdout).map(({ outcome }: { outcome: string }) => outcome),
        Array(3).fill('removed'),
      );

      await server.end('SIGTERM');
      const [last] = await listed(cli, ['--reveal']);
      assert.equal(last?.deviceCount, 0);
      assert.equal((await cli.run(['rooms', 'rm', String(last?.roomId)])).code, 0);
      assert.deepEqual(await listed(cli), []);
    });
  }

  it('[CLI-27] asks for a confirmation on a terminal, and keeps the room unless the answer is yes', async (t) => {
    const { cli, server } = await startBoth(t, {});
    const room = await server.api.room();
    const asked = cli.terminal(`poproom rooms rm ${room}`);
    await asked.waitForOutput('Delete 1 room for everyone? [y/N]');
    asked.type('\r');
    assert.equal((await asked.result).code, 1);
    assert.equal((await server.api.get(`/api/rooms/${room}`)).status, 200);
    const confirmed = cli.terminal(`poproom rooms rm --yes ${room}`);
    await confirmed.waitForOutput('Removed.');
    assert.equal((await server.api.get(`/api/rooms/${room}`)).status, 404);
  });

  it('[CLI-26] reports incorrect usage in one sentence, and creates no data folder', async (t) => {
    const cli = await createCli(t, { POPROOM_DATA_DIR: 'missing' });
    for (const [args, said] of [
      [['all'], /^poproom: Usage: poproom rooms \[list/],
      [['--reveal'], /--reveal is for the rooms of a server/],
      [['show', '7KQ2MX', '--admin'], /Usage/],
      [['show'], /Usage/],
      [['rm'], /Which rooms\?/],
      [['rm', '7KQ2MX', '--client', '0123456789ab'], /Which rooms\?/],
      [['list', '--client', 'someone'], /12 hexadecimal digits/],
      [['list', '--limit', 'x'], /whole number/],
      [['show', 'no-code!'], /is not a valid room code/],
      [['list'], /There is no Poproom data in missing/],
    ] as const) {
      const { code, stderr } = await cli.run(['rooms', ...args]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, said);
    }
  });
});

async function startBoth(t: TestContext, settings: Env): Promise<{ cli: Cli; server: ServerProcess; folder: string }> {
  const folder = await dataFolder(t);
  const server = await startProcess(t, folder, { POPROOM_TRUSTED_PROXIES: '127.0.0.1', ...settings });
  return { cli: await createCli(t, { POPROOM_DATA_DIR: folder, ...settings }), server, folder };
}

async function listed(cli: Cli, options: string[] = []): Promise<ListedRoom[]> {
  const { code, stdout, stderr } = await cli.run(['rooms', 'list', '--json', ...options]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

async function shown(cli: Cli, room: string): Promise<ListedRoom> {
  return JSON.parse((await cli.run(['rooms', 'show', room, '--json'])).stdout);
}

const masked = (code: string) => `${code.slice(0, 2)}${'*'.repeat(code.length - 2)}`;
