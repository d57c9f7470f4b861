/** Commands in loops and scripts: standard input, existing files, PINs of new rooms, limits and requests. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createCli } from '../support/cli.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe('standard input', () => {
  it('[slow] [CLI-57] of a loop is left to the loop', { skip: process.platform !== 'linux' }, async (t) => {
    const { cli, server } = await atServer(t);
    const room = await server.api.room();
    await writeFile(join(cli.home, 'list'), 'one\ntwo\nthree\n');
    const loop = `while read name; do poproom new --name "$name"; poproom get ${room}; done < list`;
    const piped = 'cat list | while read name; do poproom new --no-input --name "$name"; done';
    const [fromFile, fromPipe] = await Promise.all([cli.shell(loop).result, cli.shell(piped).result]);
    for (const result of [fromFile, fromPipe]) {
      const codes = result?.stdout.trim().split('\n') ?? [];
      assert.deepEqual([result?.code, codes.length], [0, 3], result?.stderr);
      for (const code of codes) assert.equal((await server.api.get(`/api/rooms/${code}/content`)).json.content, '');
    }
    const { stdout } = await cli.shell('{ read first; poproom new -; } < list').result;
    const text = await server.api.get(`/api/rooms/${stdout.trim()}/content`);
    assert.equal(text.json.content, 'two\nthree\n', 'with -, it is always the text');
  });
});

describe('POPROOM_PIN without --pin', () => {
  it('[CLI-58] does not protect a new room, and says so, unless --no-pin is given', async (t) => {
    const { cli } = await atServer(t);
    const env = { POPROOM_PIN: '4821' };
    await writeFile(join(cli.home, 'a.txt'), 'one');
    for (const args of [['new'], ['send', 'a.txt']]) {
      const { code, stdout, stderr } = await cli.run([...args, '--json'], { env });
      assert.deepEqual([code, JSON.parse(stdout).hasPin], [0, false]);
      assert.match(stderr, /^POPROOM_PIN is set, but the new room has no PIN: add --pin to protect it/);
      const silent = await cli.run([...args, '--json', '--no-pin'], { env });
      assert.deepEqual([JSON.parse(silent.stdout).hasPin, silent.stderr], [false, '']);
      const pinned = await cli.run([...args, '--json', '--pin'], { env });
      assert.deepEqual([JSON.parse(pinned.stdout).hasPin, pinned.stderr], [true, '']);
    }
    const both = await cli.run(['new', '--pin', '--no-pin'], { env });
    assert.deepEqual([both.code, both.stdout], [2, '']);
  });

  it('[slow] [CLI-58] is offered on a terminal', async (t) => {
    const { cli } = await atServer(t);
    const answered = async (keys: string) => {
      const asking = cli.terminal('poproom new', { env: { POPROOM_PIN: '4821' } });
      await asking.waitForOutput('POPROOM_PIN is set. Protect the new room with it? [Y/n] ');
      asking.type(keys);
      return (await asking.result).stdout.includes('protected by a PIN');
    };
    assert.deepEqual(await Promise.all([answered('\r'), answered('n\r')]), [true, false]);
  });
});

describe('a lifetime that is too long', () => {
  it('[CLI-59] is incorrect usage, with the maximum in days', async (t) => {
    const { cli, server } = await atServer(t);
    const room = await server.api.room();
    for (const args of [['new'], ['set', room]]) {
      const { code, stdout, stderr } = await cli.run([...args, '--expires', '8d']);
      assert.deepEqual([code, stdout], [2, '']);
      assert.equal(stderr, 'poproom: --expires is too long: this server keeps a room for at most 7 days.\n');
    }
  });
});

describe('poproom fetch with existing files', () => {
  it('[CLI-56] creates a folder that ends with a slash, and removes it again if the download fails', async (t) => {
    const { cli, server } = await atServer(t);
    const room = await server.api.room();
    for (const name of ['a.txt', 'b.txt']) await server.api.upload(room, name, name);
    assert.equal((await cli.run(['fetch', room, '-o', 'new/deep/'])).code, 0);
    assert.deepEqual((await readdir(join(cli.home, 'new/deep'))).sort(), ['a.txt', 'b.txt']);
    assert.equal((await cli.run(['fetch', room, 'a.txt', '-o', 'one/'])).stdout, 'one/a.txt\n');
    assert.equal((await cli.run(['fetch', room, '--zip', '-o', 'zips/'])).stdout, `zips/poproom-${room}.zip\n`);
    const plain = await cli.run(['fetch', room, '-o', 'missing']);
    assert.match(plain.stderr, /missing is not a folder, but the room has 2 files; .*missing\/ creates one/);
    assert.equal((await cli.run(['fetch', room, 'c.txt', '-o', 'none/'])).code, 3);
    assert.deepEqual([existsSync(join(cli.home, 'missing')), existsSync(join(cli.home, 'none'))], [false, false]);
  });

  it('[CLI-56] skips, renames or overwrites them, as --existing says', async (t) => {
    const { cli, server } = await atServer(t);
    const room = await server.api.room();
    for (const name of ['a.txt', 'b.txt']) await server.api.upload(room, name, `new ${name}`);
    const folder = join(cli.home, 'files');
    const text = (name: string) => readFile(join(folder, name), 'utf8');
    await mkdir(folder);
    for (const name of ['a.txt', 'a (2).txt']) await writeFile(join(folder, name), 'old');
    const fetchWith = (...args: string[]) => cli.run(['fetch', room, '-o', 'files', ...args]);

    assert.equal((await fetchWith()).code, 9, 'the default');
    const skipped = await fetchWith('--existing', 'skip');
    assert.deepEqual(skipped, {
      code: 0,
      stdout: 'files/b.txt\n',
      stderr: 'Skipped files/a.txt: it already exists.\n',
    });
    const renamed = await fetchWith('--existing', 'rename', '--json');
    const paths = JSON.parse(renamed.stdout).map(({ path }: { path: string }) => path);
    assert.deepEqual(paths, ['files/a (3).txt', 'files/b (2).txt']);
    assert.deepEqual([await text('a.txt'), await text('a (3).txt')], ['old', 'new a.txt']);
    assert.equal((await fetchWith('--existing', 'overwrite')).code, 0);
    assert.equal(await text('a.txt'), 'new a.txt');
    for (const args of [
      ['--existing', 'ask'],
      ['--existing', 'skip', '--force'],
    ])
      assert.equal((await fetchWith(...args)).code, 2);
    const zip = [await fetchWith('--zip'), await fetchWith('--zip', '--existing', 'rename')];
    assert.deepEqual([zip[0]?.code, zip[1]?.stdout], [0, `files/poproom-${room} (2).zip\n`]);
    assert.equal((await fetchWith('--zip', '--existing', 'skip')).stdout, '');
  });
});

describe('the requests of a command', () => {
  it('[CLI-63] are as few as possible', async (t) => {
    const { cli, server } = await atServer(t);
    const room = await server.api.room();
    const old = await server.api.room();
    for (const name of ['a.txt', 'b.txt']) {
      await server.api.upload(room, name, name);
      await writeFile(join(cli.home, name), name);
    }
    for (const content of ['This is long enough to be kept.', 'short'])
      await server.api.post(`/api/rooms/${room}/content`, { json: { content } });
    const expected: [args: string[], requests: number][] = [
      [['new'], 1],
      [['put', room, 'text'], 1],
      [['put', room, 'text', '--append'], 1],
      [['get', room], 1],
      [['info', room], 1],
      [['set', room, '--name', 'Kitchen'], 1],
      [['history', room], 1],
      [['history', room, '1'], 1],
      [['restore', room, '1'], 2],
      [['history', room, '--delete'], 1],
      [['send', room, 'a.txt'], 1],
      [['send', 'a.txt'], 2],
      [['fetch', room, '--list'], 1],
      [['fetch', room, 'b.txt', '-o', 'copy'], 2],
      [['fetch', room, '--zip'], 1],
      [['rm', room, 'b.txt'], 2],
      [['rm', old], 1],
      [['recent'], 0],
      [['config', 'list'], 0],
    ];
    for (const [args, requests] of expected) {
      const counted = countRequests(server);
      const { code, stderr } = await cli.run(args);
      assert.deepEqual([code, counted.stop()], [0, requests], `${args.join(' ')}: ${stderr}`);
    }
  });
});

function countRequests(server: TestServer) {
  let count = 0;
  const listen = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    if (request.socket.localPort === server.port) count++;
  };
  subscribe('http.server.request.start', listen);
  return {
    stop() {
      unsubscribe('http.server.request.start', listen);
      return count;
    },
  };
}

async function atServer(t: TestContext) {
  const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
  server.clock.now = Date.now();
  return { cli: await createCli(t, { POPROOM_URL: server.url }), server };
}
