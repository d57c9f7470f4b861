/** `poproom config` and `poproom recent`. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createCli } from '../support/cli.ts';
import { apiKeysOf } from '../support/keys.ts';
import { startTestServer } from '../support/server.ts';

describe('poproom config', () => {
  it('[CLI-60] stores servers and keys in a private file, and shows no key in full', async (t) => {
    const cli = await createCli(t);
    const key = `pop_${'k'.repeat(28)}WXYZ`;
    const file = join(cli.home, '.config/poproom/config.json');
    const ok = async (args: string[], stdin?: string) => {
      const { code, stdout, stderr } = await cli.run(['config', ...args], stdin === undefined ? {} : { stdin });
      assert.deepEqual([code, stderr], [0, ''], args.join(' '));
      return stdout;
    };
    await ok(['set', 'url', 'https://pop.example.org']);
    await ok(['set', 'api-key'], `${key}\n`);
    await ok(['set', 'server.work.url', 'https://pop.work.example']);
    await ok(['set', 'server.work.api-key'], key);
    await ok(['set', 'default', 'work']);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(JSON.parse(await readFile(file, 'utf8')).servers.work.apiKey, key);

    assert.equal(await ok(['get', 'api-key']), 'pop_…WXYZ\n');
    const shown = [await ok(['list']), await ok(['list', '--json'])].join('');
    assert.ok(!shown.includes(key) && shown.includes('https://pop.work.example'));
    await ok(['unset', 'default']);
    await ok(['unset', 'server.work.url']);
    assert.deepEqual(JSON.parse(await ok(['list', '--json'])).settings, {
      url: 'https://pop.example.org',
      'api-key': 'pop_…WXYZ',
    });
  });

  it('[CLI-60] rejects what it cannot store, and never a key as an argument', async (t) => {
    const cli = await createCli(t);
    const wrong: [args: string[], says: RegExp][] = [
      [['set', 'api-key', 'pop_secret'], /Do not pass the API key as an argument/],
      [['set', 'api-key'], /Cannot prompt for the API key without a terminal; pipe it in/],
      [['set', 'url', 'pop.example.org'], /is not a valid server URL/],
      [['set', 'url', 'https://me:pass@pop.example.org'], /must not contain a user name or a password/],
      [['set', 'colour', 'red'], /"colour" is not a setting/],
      [['set', 'default', 'work'], /There is no server "work"/],
      [['set', 'url'], /Which value\?/],
      [['get', 'url'], /"url" is not set/],
      [['get'], /Which setting\?/],
      [['add'], /"add" is not an action/],
    ];
    for (const [args, says] of wrong) {
      const { code, stderr } = await cli.run(['config', ...args]);
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, says);
      assert.ok(!stderr.includes('pop_secret') && !stderr.includes('me:pass'));
    }
    assert.equal(existsSync(join(cli.home, '.config/poproom/config.json')), false);
  });

  it('[CLI-60] chooses the server by option, variable, default and url, each with its own key only', async (t) => {
    const server = await startTestServer(t, { POPROOM_REQUIRE_API_KEY: 'true' });
    const key = await apiKeysOf(t, server).make('laptop', 'pro');
    const cli = await createCli(t);
    const unreachable = 'http://127.0.0.1:1';
    await cli.run(['config', 'set', 'url', unreachable]);
    await cli.run(['config', 'set', 'server.work.url', server.url]);
    await cli.run(['config', 'set', 'server.work.api-key'], { stdin: key });
    assert.equal((await cli.run(['new'])).code, 8, 'the one without a name');
    assert.equal((await cli.run(['new', '--url', 'work'])).code, 0);
    assert.equal((await cli.run(['new', '--url', server.url])).code, 0, 'its key is for its URL');
    assert.equal((await cli.run(['new'], { env: { POPROOM_URL: 'work' } })).code, 0);
    await cli.run(['config', 'set', 'default', 'work']);
    assert.equal((await cli.run(['new'])).code, 0);
    assert.equal((await cli.run(['new'], { env: { POPROOM_URL: unreachable } })).code, 8);
  });
});

describe('the password for creating rooms', () => {
  it('[CREATE-8] is from the environment or the config file, for its own server only, and never an argument', async (t) => {
    const password = 'correct horse battery';
    const server = await startTestServer(t, { POPROOM_CREATE: 'password', POPROOM_CREATE_PASSWORD: password });
    const cli = await createCli(t, { POPROOM_URL: server.url });
    const refused = await cli.run(['new']);
    assert.equal(refused.code, 4);
    assert.match(
      refused.stderr,
      /requires a password .*; set POPROOM_CREATE_PASSWORD, or run poproom config set create-p/,
    );
    const inEnvironment = { env: { POPROOM_CREATE_PASSWORD: password } };
    const code = (await cli.run(['new'], inEnvironment)).stdout.trim();
    assert.equal((await cli.run(['get', code])).code, 0, 'joining needs no password');
    assert.equal((await cli.run(['config', 'set', 'create-password', password])).code, 2);
    await cli.run(['config', 'set', 'server.home.url', server.url]);
    await cli.run(['config', 'set', 'server.home.create-password'], { stdin: `${password}\n` });
    assert.equal((await cli.run(['new'])).code, 0);
    assert.equal((await cli.run(['config', 'get', 'server.home.create-password'])).stdout, '…\n');
    await cli.run(['config', 'set', 'server.home.url', 'http://127.0.0.1:1']);
    assert.equal((await cli.run(['new'])).code, 4, 'it is for another server');
  });
});

describe('poproom recent', () => {
  it('[CLI-120] [CLI-61] lists used rooms with name, server and time left, in a private file, without a request', async (t) => {
    const { cli, server } = await atServer(t);
    const created = (await cli.run(['new', '--name', 'Kitchen', '--expires', '2h'])).stdout.trim();
    const other = await server.api.room();
    await cli.run(['get', other]);
    const list = await cli.run(['recent'], { env: { POPROOM_URL: 'http://127.0.0.1:1' } });
    assert.match(list.stdout, new RegExp(`^${other} +unknown +${server.url}\\n`, 'm'));
    assert.match(list.stdout, new RegExp(`^${created} +(2 h|1 h 59 min) .*Kitchen\\n`, 'm'));
    assert.equal((await stat(fileOf(cli.home))).mode & 0o777, 0o600);
    await cli.run(['info', other]);
    const listed = (await cli.run(['recent', '--json'])).stdout;
    assert.equal((await cli.run(['rooms', '--json'])).stdout, listed);
    const [first] = JSON.parse(listed);
    assert.deepEqual([first.roomId, first.link], [other, `${server.url}/r/${other}`]);
    assert.ok(Date.parse(first.expiresAt) > Date.now());
    assert.equal((await cli.run(['recent', '--codes'])).stdout, `${other}\n${created}\n`);
    assert.equal(
      (await cli.run(['recent', '--codes', '--json'], { env: { POPROOM_URL: 'http://127.0.0.1:1' } })).stdout,
      '',
    );
  });

  it('[CLI-61] forgets deleted rooms, missing rooms and those that the user removes', async (t) => {
    const { cli, server } = await atServer(t);
    const codes = async () => (await cli.run(['recent', '--codes'])).stdout.split('\n').slice(0, -1);
    const made: string[] = [];
    for (let i = 0; i < 4; i++) made.unshift((await cli.run(['new'])).stdout.trim());
    const [kept = '', removed = '', missing = '', forgotten = ''] = made;
    await cli.run(['rm', removed]);
    await server.api.delete(`/api/rooms/${missing}`);
    await cli.run(['get', missing]);
    assert.equal((await cli.run(['recent', 'forget', forgotten.toLowerCase()])).code, 0);
    assert.deepEqual(await codes(), [kept]);
    assert.equal((await cli.run(['recent', 'forget', forgotten])).code, 3);
    await cli.run(['recent', 'clear']);
    assert.deepEqual([await codes(), existsSync(fileOf(cli.home))], [[], false]);
  });

  it('[CLI-61] keeps at most 50 rooms, ignores a damaged file, and can be turned off', async (t) => {
    const { cli, server } = await atServer(t);
    await cli.run(['new']);
    const rooms = Array.from({ length: 80 }, (_, i) => ({
      url: server.url,
      code: `AAAA${10 + i}`,
      usedAt: Date.now(),
    }));
    const old = { url: server.url, code: 'ZZZZZZ', usedAt: Date.now() - 8 * 86_400_000 };
    await writeFile(fileOf(cli.home), JSON.stringify([old, null, { code: '\x1b[31m' }, ...rooms]));
    await cli.run(['new']);
    assert.equal(JSON.parse(await readFile(fileOf(cli.home), 'utf8')).length, 1, 'it was malformed');
    await writeFile(fileOf(cli.home), JSON.stringify([old, ...rooms]));
    await cli.run(['new']);
    const listed = JSON.parse(await readFile(fileOf(cli.home), 'utf8'));
    assert.deepEqual([listed.length, listed.some(({ code }: { code: string }) => code === 'ZZZZZZ')], [50, false]);
    await cli.run(['config', 'set', 'recent', 'off']);
    assert.equal(existsSync(fileOf(cli.home)), false);
    await cli.run(['new']);
    await cli.run(['config', 'unset', 'recent']);
    await cli.run(['new'], { env: { POPROOM_RECENT: 'off' } });
    assert.equal(existsSync(fileOf(cli.home)), false);
  });
});

const fileOf = (home: string) => join(home, '.local/state/poproom/recent.json');

async function atServer(t: TestContext) {
  const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
  server.clock.now = Date.now();
  return { cli: await createCli(t, { POPROOM_URL: server.url }), server };
}
