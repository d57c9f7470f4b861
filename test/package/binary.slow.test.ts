/** The executable of `npm run build:binary`: one file that serves and runs all commands, without Node. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { dataFolder, run, startProcess } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { startS3 } from '../support/s3.ts';

const script = fileURLToPath(new URL('../../scripts/build-binary.ts', import.meta.url));
const builtPage = fileURLToPath(new URL('../../dist/web', import.meta.url));
/** The folder has the executable and its notices, the path leads nowhere. */
let folder: string;
const nowhere = { PATH: '/nowhere' };

before(
  async () => {
    folder = await mkdtemp(join(tmpdir(), 'poproom-executable-'));
    await promisify(execFile)(process.execPath, [script, folder], { timeout: 100_000 });
  },
  { timeout: 110_000 },
);

after(() => rm(folder, { recursive: true, force: true }));

const executable = (): [string] => [join(folder, 'poproom')];

async function start(t: TestContext, data: string, settings: Record<string, string> = {}) {
  const server = await startProcess(t, data, { ...nowhere, ...settings }, executable());
  const env = { ...nowhere, HOME: data, POPROOM_URL: server.url };
  /** Answers what the command prints. */
  const poproom = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(args, env, executable());
    assert.equal(code, 0, stderr);
    return stdout.trim();
  };
  return { server, poproom };
}

describe('the executable', () => {
  it('[PACK-5] is one file, and prints its version', async () => {
    assert.deepEqual(await readdir(folder), ['licenses.md', 'poproom']);
    const { stdout, stderr } = await run(['--version'], nowhere, executable());
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
    assert.equal(stderr, '');
  });

  it('[PACK-5] serves the page with all its files', async (t) => {
    const { server } = await start(t, await dataFolder(t));
    assert.match((await server.api.get('/')).text, /<title>Poproom<\/title>/);
    for (const name of globSync('assets/*.{js,css,svg,md}', { cwd: builtPage })) {
      const { status, text } = await server.api.get(`/${name}`);
      assert.equal(status, 200, name);
      assert.equal(text, await readFile(join(builtPage, name), 'utf8'), name);
    }
    assert.match((await server.api.get('/docs')).text, /<title>Poproom API<\/title>/);
  });

  it('[PACK-5] keeps what the commands store in a room, including across a restart', async (t) => {
    const data = await dataFolder(t);
    const first = await start(t, data);
    const code = await first.poproom('new');
    await first.poproom('put', code, 'from the executable');
    assert.equal(await first.poproom('get', code), 'from the executable');
    assert.deepEqual(await first.server.end('SIGTERM'), { code: 0, signal: null });
    assert.equal(first.server.errors(), '');
    const second = await start(t, data);
    assert.equal(await second.poproom('get', code), 'from the executable');
    // Also a backup of the running server.
    const tar = join(data, 'backup.tar');
    const settings = { ...nowhere, POPROOM_DATA_DIR: data };
    assert.equal((await run(['backup', tar], settings, executable())).code, 0);
    const elsewhere = join(data, 'restored');
    await run(['backup', 'restore', tar], { ...settings, POPROOM_DATA_DIR: elsewhere }, executable());
    const third = await start(t, elsewhere);
    assert.equal(await third.poproom('get', code), 'from the executable');
  });

  it('[PACK-5] [UI-1] has the page of poproom ui', async (t) => {
    const { server } = await start(t, await dataFolder(t));
    const [path] = executable();
    const command = spawn(path, ['ui', '--no-open', '--url', server.url], {
      env: { ...nowhere, HOME: await dataFolder(t) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => command.kill('SIGKILL'));
    const [link] = await once(command.stdout, 'data');
    const { origin } = new URL(String(link));
    const { headers } = await fetch(String(link).trim());
    const [, page = ''] = /url=(.+)$/.exec(headers.get('Refresh') ?? '') ?? [];
    const cookie = headers.get('Set-Cookie')?.split(';')[0] ?? '';
    const opened = await fetch(origin + page, { headers: { cookie } });
    assert.match(await opened.text(), /<title>Poproom<\/title>/);
    const ended = once(command, 'exit');
    command.kill('SIGINT');
    assert.deepEqual(await ended, [0, null]);
  });

  it('[PACK-5] runs on Redis and S3 too', async (t) => {
    const [redis, s3] = await Promise.all([startRedis(), startS3()]);
    t.after(() => Promise.all([redis.stop(), s3.stop()]));
    const { server, poproom } = await start(t, await dataFolder(t), {
      ...s3.env,
      POPROOM_STORE: redis.url,
      POPROOM_FILES: `s3://${s3.bucket}`,
      POPROOM_S3_ENDPOINT: s3.endpoint,
      POPROOM_SECRET: 'a secret of the nodes, long enough to be one',
    });
    const code = await poproom('new');
    await poproom('put', code, 'elsewhere');
    assert.equal(await poproom('get', code), 'elsewhere');
    await poproom('send', code, script);
    assert.equal((await s3.keys()).length, 1);
    await server.end('SIGTERM');
  });

  it('[PACK-6] includes the licences of everything in it', async () => {
    const licenses = await readFile(join(folder, 'licenses.md'), 'utf8');
    const { dependencies } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    for (const library of [...Object.keys(dependencies), 'preact'])
      assert.match(licenses, new RegExp(`^## ${library} - `, 'm'));
    assert.ok(licenses.includes(`## Node.js - ${process.versions.node}\n`));
  });
});
