/** Which server a command uses, and with which key. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createCli } from '../support/cli.ts';
import { apiKeysOf } from '../support/keys.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { startTestServer } from '../support/server.ts';

describe('the server of a command', () => {
  it('[CLI-4] comes from --url, the link, POPROOM_URL, the config file, or the last use, in this order', async (t) => {
    const cli = await createCli(t);
    const [fromOption, linked, inEnvironment, inFile, last] = await Promise.all(
      ['option', 'linked', 'in the environment', 'in the file', 'last'].map((name) => startServer(t, name)),
    );
    assert.ok(fromOption && linked && inEnvironment && inFile && last);
    const room = '7KQ2MX';
    const link = `${linked.url}/r/${room}`;
    const env = { POPROOM_URL: inEnvironment.url };

    await cli.run(['get', room, '--url', `${last.url}/`]);
    assert.equal((await cli.run(['get', room])).stdout, 'last');
    await writeConfig(cli.home, { url: inFile.url });
    const results = await Promise.all([
      cli.run(['get', room]),
      cli.run(['get', room], { env }),
      cli.run(['get', link], { env }),
      cli.run(['get', link, '--url', fromOption.url], { env }),
    ]);
    assert.deepEqual(
      results.map(({ stdout }) => stdout),
      ['in the file', 'in the environment', 'linked', 'option'],
    );
  });

  it('[CLI-4] is the one on this machine by default', async (t) => {
    const { run } = await createCli(t);
    const { code, stderr } = await run(['get', 'ZZZZZZ']);
    // The developer may run a server on this port.
    assert.ok(
      code === 3 || stderr.startsWith('poproom: Cannot connect to http://localhost:8080: no server is running there'),
      stderr,
    );
  });

  it('[slow] [CLI-4] is remembered only after a successful command', async (t) => {
    const cli = await createCli(t);
    const { url } = await startServer(t, 'text');
    const memory = join(cli.home, '.local/state/poproom/last-server');
    await cli.run(['get', '7KQ2MX', '--url', 'http://127.0.0.1:1']);
    assert.equal(existsSync(memory), false);
    await cli.run(['get', '7KQ2MX', '--url', url]);
    assert.equal(await readFile(memory, 'utf8'), `${url}\n`);
    await writeFile(memory, 'not a URL');
    assert.match((await cli.run(['get', '7KQ2MX'])).stderr, /^(poproom: (Cannot connect to|There is no room)|$)/);
  });

  it('[CLI-4] can be in a config file, and invalid JSON there is reported', async (t) => {
    const cli = await createCli(t);
    for (const text of ['{', 'null', '{"url": 7}']) {
      const file = await writeConfig(cli.home, text);
      const { code, stderr } = await cli.run(['get', '7KQ2MX', '--url', 'http://127.0.0.1:1']);
      assert.deepEqual([code, stderr.startsWith(`poproom: ${file} must be JSON such as`)], [2, true], text);
    }
  });
});

describe('the API key', () => {
  it('[CLI-4] comes from POPROOM_API_KEY or the config file', async (t) => {
    const server = await startTestServer(t, { POPROOM_REQUIRE_API_KEY: 'true' });
    const key = await apiKeysOf(t, server).make('laptop', 'pro');
    const cli = await createCli(t, { POPROOM_URL: server.url });
    const without = await cli.run(['new']);
    assert.deepEqual([without.code, without.stdout], [4, '']);
    assert.equal((await cli.run(['new'], { env: { POPROOM_API_KEY: key } })).code, 0);
    await writeConfig(cli.home, { apiKey: key });
    assert.equal((await cli.run(['new'])).code, 0);
    const wrong = await cli.run(['new'], { env: { POPROOM_API_KEY: `pop_${'x'.repeat(32)}` } });
    assert.deepEqual([wrong.code, wrong.stdout], [4, '']);
  });

  it('[CLI-4] is sent only to the server that it was given for', async (t) => {
    const cli = await createCli(t);
    const [own, other] = [await startServer(t, 'own'), await startServer(t, 'other')];
    await writeConfig(cli.home, { url: own.url, apiKey: 'pop_of_the_file' });
    const env = { POPROOM_URL: own.url, POPROOM_API_KEY: 'pop_of_the_environment' };
    await cli.run(['get', '7KQ2MX']);
    await cli.run(['get', '7KQ2MX'], { env });
    await cli.run(['get', `${other.url}/r/7KQ2MX`]);
    await cli.run(['get', `${other.url}/r/7KQ2MX`], { env });
    assert.deepEqual(own.keys, ['Bearer pop_of_the_file', 'Bearer pop_of_the_environment']);
    assert.deepEqual(other.keys, [undefined, undefined]);
  });
});

describe('an API key without a server', () => {
  it('[slow] [CLI-4] is sent to a server that the user names, but not to one that only a link names', async (t) => {
    const cli = await createCli(t);
    const [own, linked] = [await startServer(t, 'own'), await startServer(t, 'linked')];
    const env = { POPROOM_API_KEY: 'pop_key' };
    await cli.run(['get', `${linked.url}/r/7KQ2MX`], { env });
    assert.equal((await cli.run(['get', '7KQ2MX'], { env })).stdout, 'linked', 'the last server is used');
    assert.deepEqual(linked.keys, [undefined, undefined]);
    await cli.run(['get', '7KQ2MX', '--url', own.url], { env });
    await writeConfig(cli.home, { url: own.url });
    await cli.run(['get', '7KQ2MX'], { env });
    await cli.run(['get', `${own.url}/r/7KQ2MX`], { env });
    await cli.run(['get', `${linked.url}/r/7KQ2MX`], { env });
    assert.deepEqual(own.keys, ['Bearer pop_key', 'Bearer pop_key', 'Bearer pop_key']);
    assert.deepEqual(linked.keys, [undefined, undefined, undefined]);
  });
});

/** A server in which every room has the same text. Records the API keys that it receives. */
async function startServer(t: TestContext, content: string) {
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers.authorization);
    response.setHeader('ETag', '"1"').end(JSON.stringify({ content, timestamp: '2026-01-15T09:30:00.000Z' }));
  });
  return { url: await listenOnFreePort(t, server), keys };
}

async function writeConfig(home: string, config: object | string): Promise<string> {
  const folder = join(home, '.config/poproom');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config));
  return join(folder, 'config.json');
}
