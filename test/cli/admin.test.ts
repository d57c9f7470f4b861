/** `poproom admin`: the admin API from the command line. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it } from 'node:test';
import { adminEnv, adminToken, masked } from '../support/admin.ts';
import { createCli } from '../support/cli.ts';
import { apiKeysOf, bearer } from '../support/keys.ts';
import { sharedServer, startTestServer } from '../support/server.ts';

describe('poproom admin', () => {
  it('[slow] [ADMIN-12] [CLI-120] [REPORT-4] shows numbers, rooms, reports, clients, blocks and keys, as text and as JSON', async (t) => {
    const server = await startTestServer(t, { ...adminEnv, POPROOM_ABUSE_CONTACT: 'abuse@example.org' });
    server.clock.now = Date.now();
    const { api, url } = server;
    const cli = await createCli(t, { POPROOM_URL: url, ...adminEnv });
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await cli.run(['admin', ...args]);
      assert.deepEqual([code, stderr], [0, ''], args.join(' '));
      return stdout;
    };
    const json = async (...args: string[]) => JSON.parse(await run(...args, '--json'));
    const key = await apiKeysOf(t, server).make('build-server', 'pro');
    const room = await api.room({ pin: '0427', name: 'private room' }, { from: '203.0.113.7' });
    await api.get('/api/health', { headers: bearer(key) });

    assert.match(await run('numbers'), /^Nodes +1\nRooms +1\n.*\nSINCE +REQUESTS .* 2 /s);
    assert.equal((await json('numbers', '--hours', '1')).points.at(-1).roomsCreated, 1);
    const rooms = (await cli.run(['rooms', '--admin', '--sort', 'age'])).stdout;
    assert.match(rooms, /^ROOM +AGE +EXPIRES IN +SIZE +FILES +DEVICES +ENCRYPTED +CLIENT +CREATED BY +ID\n/);
    assert.ok(rooms.includes(masked(room)) && !rooms.includes(room) && !rooms.includes('private'));
    const listed = await json('rooms');
    assert.deepEqual(JSON.parse((await cli.run(['rooms', '--admin', '--json'])).stdout), listed);
    const [{ id }] = listed.rooms;
    assert.equal(await run('reveal', id), `${room}\n`);
    const shown = await run('clients', '--sort', 'requests', '--limit', '2');
    assert.match(shown, /^203\.0\.113\.7 +1 +0 /m);
    assert.match(shown, /^key:[0-9a-f]{10} +1 +0 /m);

    await api.post(`/api/rooms/${room}/reports`, { json: { reason: 'malware', comment: 'a virus' }, pin: '0427' });
    assert.match(await run('reports'), /^[0-9a-f]{10} +\S+ \S+ +\S+ +malware +a virus +r\S+$/m);
    const [report] = (await json('reports')).reports;
    assert.equal(await run('dismiss', report.id), 'The report was removed.\n');

    assert.match(
      await run('block', '198.51.100.9/24', '--reason', 'a test', '--expires', '2h'),
      /^Blocked 198\.51\.100\.0\/24/,
    );
    assert.match(await run('blocks'), /^[0-9a-f]{10} +198\.51\.100\.0\/24 +20.*Z +a test$/m);
    assert.equal((await api.get('/api/health', { from: '198.51.100.1' })).code, 'ADDRESS_BLOCKED');
    assert.equal(await run('unblock', '198.51.100.0/24'), 'Unblocked 198.51.100.0/24.\n');
    assert.equal((await json('blocks')).blocks.length, 0);

    const keys = await run('keys');
    const [keyId = ''] = /^[0-9a-f]{10}(?= +build-server +pro +active +1 )/m.exec(keys) ?? [];
    assert.match(await run('revoke', keyId), /^Revoked the key "build-server"/);
    assert.match(await run('keys'), / revoked /);
    assert.match((await cli.run(['rooms', 'rm', `${url}/r/${room}`, '--admin'])).stdout, /was removed/);
    assert.equal((await api.get(`/api/rooms/${room}`)).status, 404);
  });

  it('[ADMIN-12] explains a wrong token, a server without one, and its own usage', async (t) => {
    const [{ url }, off] = [await startTestServer(t, adminEnv), await sharedServer(t)];
    const cli = await createCli(t, { POPROOM_URL: url });
    const fail = async (args: string[], env: Record<string, string> = {}) => {
      const { code, stdout, stderr } = await cli.run(['admin', ...args], { env });
      assert.equal(stdout, '');
      return [code, stderr] as const;
    };
    const wrong = await fail(['numbers'], { POPROOM_ADMIN_TOKEN: 'a wrong token here' });
    assert.deepEqual(wrong, [
      4,
      'poproom: The admin token is missing or wrong. Send it as Authorization: Bearer TOKEN.\n',
    ]);
    const disabled = await fail(['numbers', '--url', off.url], adminEnv);
    assert.equal(disabled[0], 2);
    assert.match(disabled[1], /admin interface of .* is disabled; set POPROOM_ADMIN_TOKEN/);
    assert.match((await fail(['numbers']))[1], /Set POPROOM_ADMIN_TOKEN/);
    for (const args of [[], ['nothing'], ['reveal'], ['numbers', 'x'], ['block', '10.0.0.0/8'], ['revoke', 'x']]) {
      assert.equal((await fail(args, adminEnv))[0], 2, args.join(' '));
    }
    const [code, message] = await fail(['block', '127.0.0.1', '--reason', 'x'], adminEnv);
    assert.equal(code, 1);
    assert.match(message, /contains this machine/);
    assert.ok(!JSON.stringify([wrong, disabled, message]).includes(adminToken));
  });

  it('[ADMIN-12] gives up on a server that does not respond', async (t) => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    t.after(() => silent.close());
    const { port } = silent.address() as AddressInfo;
    const cli = await createCli(t, { POPROOM_URL: `http://127.0.0.1:${port}`, ...adminEnv });
    const { code, stderr } = await cli.run(['admin', 'blocks', '--timeout', '0.2s']);
    assert.equal(code, 8, stderr);
  });
});
