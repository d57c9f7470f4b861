/** Commands and `poproom doctor` with a server whose URL has a path. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { readEnvironment } from '../../src/cli/environment.ts';
import { openEncryptedRooms } from '../../src/cli/known-rooms.ts';
import { type ProxyFaults, startBadProxy } from '../support/bad-proxy.ts';
import { createCli } from '../support/cli.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { dataFolder } from '../support/process.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { runDoctor } from './run-doctor.ts';

describe('a command with a server under a path', () => {
  it('[SUB-6] uses the path of --url, a link or the config file, and remembers it', async (t) => {
    const { url, server } = await startUnderPath(t);
    const cli = await createCli(t);
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await cli.run(args);
      assert.equal(code, 0, `${args}: ${stderr}`);
      return stdout.trim();
    };
    const { roomId, link } = JSON.parse(await run('new', '--url', `${url}/`, '--json'));
    assert.equal(link, `${url}/r/${roomId}`);
    await run('put', link, 'first');
    assert.equal(await run('get', roomId), 'first', 'from the last server');
    const [recent] = JSON.parse(await run('recent', '--json'));
    assert.deepEqual([recent.url, recent.link], [url, link]);
    await run('config', 'set', 'server.sub.url', url);
    assert.equal(await run('get', roomId, '--url', 'sub'), 'first');
    assert.equal(await run('get', roomId, '--url', server.url), 'first', 'without the proxy');
  });

  it('[SUB-6] sends an API key only to the path that it is for', async (t) => {
    const seen: IncomingMessage[] = [];
    const other = createServer((request, response) => {
      seen.push(request);
      response.statusCode = 401;
      response.end('{"success":false,"error":{"code":"KEY_REQUIRED","message":"x","details":{"salt":"x"}}}');
    });
    const origin = await listenOnFreePort(t, other);
    const cli = await createCli(t, { POPROOM_URL: `${origin}/own/`, POPROOM_API_KEY: 'pop_key' });
    for (const path of ['/own', '/other', '', '/own/more', '/own/'])
      await cli.run(['get', `${origin}${path}/r/7KQ2MX`]);
    const keys = Object.groupBy(seen, ({ headers }) => String(headers.authorization));
    const paths = (requests: IncomingMessage[] = []) => new Set(requests.map(({ url }) => url?.split('/api/')[0]));
    assert.deepEqual(Object.keys(keys).toSorted(), ['Bearer pop_key', 'undefined']);
    assert.deepEqual(paths(keys['Bearer pop_key']), new Set(['/own']));
    assert.deepEqual(paths(keys.undefined), new Set(['/other', '', '/own/more']));
  });

  it('[SUB-6] keeps the key of an encrypted room for its path', async (t) => {
    const rooms = openEncryptedRooms({ ...readEnvironment(), stateFolder: await dataFolder(t) });
    rooms.remember('https://example.org/poproom/', '7KQ2MX', { key: 'secret' });
    const known = (url: string) => rooms.find(url, '7KQ2MX')?.key;
    assert.equal(known('https://example.org/poproom'), 'secret');
    for (const path of ['', '/', '/poproomx', '/poproom/x', '/other'])
      assert.equal(known(`https://example.org${path}`), undefined, path);
  });
});

describe('poproom doctor on a server under a path', { concurrency: true }, () => {
  it('[slow] [SUB-7] finds no problem if the path is in POPROOM_PUBLIC_URL', async (t) => {
    const { url } = await startUnderPath(t, removing, { POPROOM_PATH_REMOVED: 'true' });
    const found = await runDoctor(t, {}, ['--url', url]);
    found.assertFinding('page', 'ok', /The page and its scripts can be loaded/);
    found.assertFinding('links', 'ok', new RegExp(`Links point to ${url} and work`));
    found.assertFinding('live', 'ok', /works/);
    assert.equal(found.code, 0, found.text);
  });

  it('[SUB-7] names the fix if the server does not know its path', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0', POPROOM_FILE_MAX: '1MiB' });
    const [kept, removed] = [await startBadProxy(t, server.port, {}), await startBadProxy(t, server.port, removing)];
    const [unknown, empty] = await Promise.all([
      runDoctor(t, {}, ['--url', `${kept}/poproom`]),
      runDoctor(t, {}, ['--url', `${removed}/poproom/`]),
    ]);
    const found = new RegExp(`behind ${kept}/poproom does not expect the path /poproom`);
    assert.equal(unknown?.assertFinding('server', 'bad', found), fixFor(`${kept}/poproom`));
    const outside = new RegExp(`loads ${removed}/assets/[^ ]+, which is outside of that URL`);
    assert.equal(empty?.assertFinding('page', 'bad', outside), fixFor(`${removed}/poproom`));
    const elsewhere = new RegExp(`Links point to ${removed}, but clients use ${removed}/poproom`);
    empty?.assertFinding('links', 'bad', elsewhere);
  });

  it('[SUB-7] reports a path that works twice, and an admin interface that is not available with it', async (t) => {
    const removed = { POPROOM_PATH_REMOVED: 'true' };
    const [twice, kept] = [await startUnderPath(t, removing), await startUnderPath(t, {}, removed)];
    const [accepted, unexpected] = await Promise.all([
      runDoctor(t, { POPROOM_PUBLIC_URL: twice.url, POPROOM_ADMIN_TOKEN: 'a token of 24 characters' }),
      runDoctor(t, { POPROOM_PUBLIC_URL: kept.url, ...removed }),
    ]);
    const fix = accepted?.assertFinding('page', 'warning', /removes \/poproom, and the server accepts it again/);
    assert.match(fix ?? '', /POPROOM_PATH_REMOVED=true/);
    accepted?.assertFinding('settings', 'warning', /only through a proxy that removes the path/);
    const notExpected = unexpected?.assertFinding('server', 'bad', /does not expect the path \/poproom/);
    assert.match(notExpected ?? '', /POPROOM_PATH_REMOVED=false/);
  });

  it('[SUB-7] reports scripts that cannot be loaded, and a path that works only with a slash', async (t) => {
    const [noAssets, noSlash] = await Promise.all(
      [/^\/poproom\/assets\//, /^\/poproom$/].map((refuses) => startUnderPath(t, { refuses })),
    );
    const [scripts, slash] = await Promise.all(
      [noAssets, noSlash].map((site) => runDoctor(t, {}, ['--url', site?.url ?? ''])),
    );
    const fix = scripts?.assertFinding('page', 'bad', /cannot load http\S+\.js: the page stays empty/);
    assert.match(fix ?? '', /^Forward http\S+\/poproom and all paths below it/);
    slash?.assertFinding('page', 'warning', /\/poproom without a slash at the end does not lead to the page/);
  });
});

const removing = { removesPath: '/poproom' };

/** A server whose public URL is that of a proxy, with a path. */
async function startUnderPath(
  t: TestContext,
  faults: ProxyFaults = {},
  env: Record<string, string> = {},
): Promise<{ url: string; server: TestServer }> {
  let port = 0;
  const url = `${await startBadProxy(t, () => port, faults)}/poproom`;
  const server = await startTestServer(t, {
    POPROOM_PUBLIC_URL: url,
    POPROOM_FREE_LIMIT: '0',
    POPROOM_FILE_MAX: '1MiB',
    ...env,
  });
  ({ port } = server);
  return { url, server };
}

const fixFor = (url: string) => `Set POPROOM_PUBLIC_URL=${url} for the server, and restart it.`;
