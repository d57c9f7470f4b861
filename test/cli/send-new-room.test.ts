/** `poproom send` without a code, and the invitation to a new room. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { lanAddress } from '../../src/cli/server-context.ts';
import { createCli } from '../support/cli.ts';
import { startTestServer } from '../support/server.ts';

describe('poproom send without a code', () => {
  it('[CLI-50] creates a room, prints its code first, and sends the files and standard input', async (t) => {
    const { cli, server, namesIn } = await atServer(t);
    await writeFile(join(cli.home, 'a.txt'), 'one');
    await writeFile(join(cli.home, 'b.txt'), 'two');
    const { code, stdout, stderr } = await cli.run(['send', 'a.txt', 'b.txt']);
    assert.deepEqual([code, stderr], [0, '']);
    const [room = '', ...urls] = stdout.trim().split('\n');
    assert.match(room, /^[0-9A-Z]{6}$/);
    assert.deepEqual([urls.length, await namesIn(room)], [2, ['a.txt', 'b.txt']]);

    const piped = await cli.run(['send', '-', '--name', 'in.txt', '--json', '--expires', '2h'], { stdin: 'three' });
    const { roomId, link, expiresAt, hasPin, files } = JSON.parse(piped.stdout);
    assert.deepEqual([link, hasPin, files[0].fileName], [`${server.url}/r/${roomId}`, false, 'in.txt']);
    assert.equal(Date.parse(expiresAt), server.clock.now + 7_200_000);
    assert.deepEqual(await namesIn(roomId), ['in.txt']);
  });

  it('[CLI-50] takes the first argument as a file if it exists, and asks if it could also be a code', async (t) => {
    const { cli, server, namesIn } = await atServer(t);
    const room = await server.api.room();
    await mkdir(join(cli.home, 'photos'));
    for (const name of ['photos/a.jpg', 'garden', 'b.txt']) await writeFile(join(cli.home, name), name);
    const created = await cli.run(['send', '-r', 'photos', 'b.txt']);
    assert.deepEqual(await namesIn(created.stdout.split('\n')[0] ?? ''), ['a.jpg', '.poproom-folder.json', 'b.txt']);
    assert.equal((await cli.run(['send', 'garden'])).code, 0, 'alone, it is a file');
    assert.equal((await cli.run(['send', room, 'garden'])).code, 0);
    assert.equal((await cli.run(['send', '--to', room, 'b.txt'])).code, 0);
    assert.deepEqual(await namesIn(room), ['garden', 'b.txt']);
    const wrong: [args: string[], exit: number, says: RegExp][] = [
      [['garden', 'b.txt'], 2, /"garden" is a file here, and could be a room code; write \.\/garden .* --to garden/],
      [[], 2, /Which files\?/],
      [[room], 2, /There is no file .*; if it is a room code, give the paths/],
      [['readme'], 2, /There is no file "readme"/],
      [['missing.txt'], 9, /missing\.txt does not exist/],
      [['not-a-code!', 'b.txt'], 2, /"not-a-code!" is not a valid room code, and there is no such file/],
      [[room, 'b.txt', '--expires', '2h'], 2, /--expires is for a new room/],
    ];
    for (const [args, exit, says] of wrong) {
      const ended = await cli.run(['send', ...args]);
      assert.deepEqual([ended.code, ended.stdout], [exit, ''], args.join(' '));
      assert.match(ended.stderr, says);
    }
  });

  it('[CLI-50] leaves no room if nothing can be sent', async (t) => {
    const { cli, server } = await atServer(t, { POPROOM_FILE_MAX: '1024' });
    await writeFile(join(cli.home, 'large'), Buffer.alloc(6 * 1024 * 1024));
    const { code, stdout } = await cli.run(['send', 'large']);
    assert.deepEqual([code, stdout], [6, '']);
    assert.match((await server.api.get('/metrics')).text, /^poproom_rooms 0$/m);
  });
});

describe('the invitation', () => {
  it('[slow] [CLI-52] has the address of this machine in its network if the server is reachable there', async (t) => {
    const address = lanAddress(networkInterfaces());
    if (address === undefined) return t.skip('This machine is not in a network.');
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0', POPROOM_HOST: '0.0.0.0' });
    server.clock.now = Date.now();
    const local = `http://localhost:${server.port}`;
    const cli = await createCli(t, { POPROOM_URL: local });
    await writeFile(join(cli.home, 'a.txt'), 'one');
    const [shared, off, alone] = await Promise.all([
      cli.terminal('poproom send a.txt').result,
      cli.terminal('poproom new', { env: { POPROOM_LAN_LINK: 'off' } }).result,
      cli.terminal('poproom new --no-lan').result,
    ]);
    assert.ok(shared?.stdout.includes(`  http://${address}:${server.port}/r/`), shared?.stdout);
    assert.match(shared?.stdout ?? '', /instead of localhost/);
    assert.match(shared?.stdout ?? '', /[▀▄█]{10}/u);
    for (const { stdout } of [off, alone]) assert.ok(stdout.includes(`  ${local}/r/`) && !stdout.includes(address));
    assert.equal(JSON.parse((await cli.run(['new', '--json'])).stdout).link.startsWith(local), true);
  });

  it('[CLI-52] keeps the link, and says so, if the server is reachable only on this machine', async (t) => {
    const { cli, server } = await atServer(t);
    const { stdout } = await cli.terminal('poproom new').result;
    assert.ok(stdout.includes(`  ${server.url}/r/`));
    assert.match(stdout, /The link works only on this machine/);
  });

  it('[CLI-52] prefers home networks to containers and VPNs', () => {
    const at = (address: string, internal = false) => [{ address, internal, family: 'IPv4' }];
    const named = {
      lo: at('127.0.0.1', true),
      docker0: at('172.17.0.1'),
      tun0: at('10.8.0.2'),
      eth0: at('203.0.113.9'),
    };
    const withWifi = { ...named, wlan0: at('192.168.1.20') };
    assert.equal(lanAddress(named as never), '203.0.113.9');
    assert.equal(lanAddress(withWifi as never), '192.168.1.20');
    assert.equal(lanAddress({ lo: at('127.0.0.1', true), eth0: at('169.254.1.1') } as never), undefined);
  });

  it('[CLI-59] replaces a QR code that does not fit, and wraps the help', async (t) => {
    const { cli, server } = await atServer(t);
    const [narrow, ...helps] = await Promise.all([
      cli.terminal('poproom new', { columns: 24 }).result,
      ...[40, 60].map((columns) => cli.terminal('poproom config --help', { columns }).result),
    ]);
    assert.doesNotMatch(narrow?.stdout ?? '', /[▀▄█]/u);
    assert.match(narrow?.stdout.replaceAll(/\s+/g, ' ') ?? '', /The QR code needs \d+ columns/);
    assert.ok(narrow?.stdout.includes(`${server.url}/r/`));
    for (const [i, columns] of [40, 60].entries()) {
      const lines = helps[i]?.stdout.split('\r\n') ?? [];
      assert.ok(lines.length > 20);
      // A word that is longer than the line cannot be wrapped.
      for (const line of lines) assert.ok(line.length <= columns || !line.trim().includes(' '), line);
    }
  });
});

async function atServer(t: TestContext, env: Record<string, string> = {}) {
  const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0', ...env });
  server.clock.now = Date.now();
  const namesIn = async (room: string) => {
    const { files } = (await server.api.get(`/api/rooms/${room}/files`)).json;
    return files.map(({ fileName }: { fileName: string }) => fileName);
  };
  return { cli: await createCli(t, { POPROOM_URL: server.url }), server, namesIn };
}
