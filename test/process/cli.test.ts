/** The command line: its output and exit codes. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { settings } from '../../src/config.ts';
import { eventually } from '../support/eventually.ts';
import { dataFolder, run, runHere, startProcess } from '../support/process.ts';

describe('poproom', () => {
  it('[RUN-1] lists its commands', async () => {
    const asked = await Promise.all([run([]), runHere(['--help']), runHere(['help']), runHere(['-h'])]);
    for (const { code, stdout, stderr } of asked) {
      assert.deepEqual([code, stderr], [0, '']);
      for (const command of [
        'poproom new',
        'poproom serve',
        'poproom keys create NAME | list | revoke',
        'poproom migrate',
      ]) {
        assert.ok(stdout.includes(command), command);
      }
    }
  });

  it('[RUN-1] prints its version', async () => {
    const { code, stdout } = await runHere(['--version']);
    assert.deepEqual([code, stdout], [0, `${packageJson.version}\n`]);
  });

  it('[RUN-1] rejects an unknown command', async () => {
    const { code, stdout, stderr } = await runHere(['unicorn']);
    assert.deepEqual([code, stdout], [2, '']);
    assert.equal(stderr, 'poproom: Unknown command "unicorn"; see poproom --help.\n');
  });
});

describe('poproom serve', () => {
  it('[RUN-1] lists every setting with its default', async () => {
    const { code, stdout } = await run(['serve', '--help']);
    assert.equal(code, 0);
    const lines = stdout.split('\n');
    for (const { name, standard = '', help } of Object.values(settings)) {
      const line = lines.find((candidate) => candidate.trim().startsWith(`${name} `));
      assert.ok(line?.includes(` ${standard} `) && line.endsWith(help), name);
    }
  });

  it('[slow] [RUN-1] takes no arguments', async () => {
    const [option, argument] = await Promise.all([run(['serve', '--colour']), run(['serve', '80'])]);
    assert.deepEqual([option?.code, argument?.code], [2, 2]);
    assert.match(option?.stderr ?? '', /^poproom: Unknown option '--colour'; see poproom serve --help\.\n$/);
    assert.match(
      argument?.stderr ?? '',
      /^poproom: "poproom serve" takes no arguments, but got "80"; use options or environment variables/,
    );
  });

  it('[RUN-1] names all invalid settings together, and leaves nothing on the disk', async (t) => {
    const folder = join(await dataFolder(t), 'fresh');
    const bad = {
      PORT: '99999',
      POPROOM_ROOM_TTL: 'soon',
      POPROOM_MIN_FREE_DISK: '-1',
      POPROOM_METRICS: 'yes',
      POPROOM_SECRET: 'short-secret',
      POPROOM_PUBLIC_URL: 'pop.example.org',
      POPROOM_TRUSTED_PROXIES: '10.0.0.0/40',
      POPROOM_LOG_LEVEL: 'loud',
      POPROOM_STORE: 'paper:',
    };
    for (const command of [['serve'], ['keys', 'list']]) {
      const { code, stdout, stderr } = await run(command, { ...bad, POPROOM_DATA_DIR: folder });
      assert.deepEqual([code, stdout], [2, '']);
      for (const name of Object.keys(bad)) assert.match(stderr, new RegExp(`^ {2}${name} must `, 'm'));
      assert.ok(!stderr.includes('short-secret'), 'a secret is not shown');
      assert.ok(!existsSync(folder));
    }
  });

  it('[slow] [RUN-1] rejects a lifetime over the maximum', async () => {
    const { code, stderr } = await run(['serve'], { POPROOM_ROOM_TTL: '2d', POPROOM_ROOM_MAX_TTL: '1d' });
    assert.equal(code, 2);
    assert.match(stderr, /POPROOM_ROOM_TTL must not exceed POPROOM_ROOM_MAX_TTL/);
  });

  it('[RUN-6] does not start on a folder that another server uses, and starts when that one has stopped', async (t) => {
    const folder = await dataFolder(t);
    const first = await startProcess(t, folder);
    const { code, stdout, stderr } = await run(['serve'], { POPROOM_DATA_DIR: folder });
    assert.deepEqual([code, stdout], [1, '']);
    assert.equal(stderr, `poproom: Another Poproom server is using the folder ${folder}.\n`);
    assert.equal((await first.api.get('/api/health')).status, 200);
    await first.end('SIGKILL');
    const second = await startProcess(t, folder);
    assert.equal((await second.api.get('/api/health')).status, 200);
  });

  it('[slow] [RUN-1] reports an invalid folder or address', async (t) => {
    const folder = await dataFolder(t);
    await writeFile(join(folder, 'file'), '');
    const notAFolder = await run(['serve'], { PORT: '0', POPROOM_DATA_DIR: join(folder, 'file') });
    assert.match(notAFolder.stderr, /^poproom: \S+file must be a folder; a server uses the one in POPROOM_DATA_DIR/);
    const noAddress = await run(['serve'], { PORT: '0', POPROOM_DATA_DIR: folder, POPROOM_HOST: '192.0.2.254' });
    assert.match(
      noAddress.stderr,
      /^poproom: "192\.0\.2\.254" is not an address of this machine; correct --host or POPROOM_HOST\.\n$/,
    );
    assert.deepEqual([notAFolder.code, noAddress.code], [9, 2]);
  });

  it('[RUN-1] reports that its port is in use', async (t) => {
    const taken = createServer();
    t.after(() => taken.close());
    const port = await new Promise<number>((resolve) => {
      taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port));
    });
    const { code, stderr } = await run(['serve'], { PORT: String(port), POPROOM_DATA_DIR: await dataFolder(t) });
    assert.deepEqual(
      [code, stderr],
      [1, `poproom: Port ${port} is in use. Choose another one, such as --port ${port + 1}.\n`],
    );
  });
});

describe('poproom keys', () => {
  it('[slow] [KEY-4] [KEY-1] creates, lists and revokes keys while the server runs', async (t) => {
    const folder = await dataFolder(t);
    const env = { POPROOM_DATA_DIR: folder };
    const { api } = await startProcess(t, folder);
    const tierOf = async (key: string) => {
      const { status, headers } = await api.get('/api/health', { headers: { authorization: `Bearer ${key}` } });
      return status === 200 ? headers.get('ratelimit-policy') : status;
    };

    assert.match((await runHere(['keys', 'list'], env)).stderr, /^There are no keys yet/);
    const made = await runHere(['keys', 'create', 'laptop'], env);
    assert.equal(made.code, 0);
    assert.match(made.stdout, /^pop_[0-9A-Za-z]{32}\n$/, 'the key is alone on standard output');
    const key = made.stdout.trim();
    assert.ok(!made.stderr.includes(key));
    await eventually('the key holds', async () => (await tierOf(key)) === '"pro";q=1000;w=3600', 1000);

    const free = (await runHere(['keys', 'create', 'my phone', '--tier', 'free'], env)).stdout.trim();
    assert.equal(await tierOf(free), '"free";q=100;w=3600');
    const { stdout: listed } = await runHere(['keys', 'list'], env);
    assert.match(
      listed,
      /^ID +NAME +TIER +CREATED +REVOKED\n[0-9a-f]{10} +laptop +pro +\S+\n[0-9a-f]{10} +my phone +free/,
    );
    for (const secret of [key, free]) assert.ok(!listed.includes(secret));

    const revoked = await runHere(['keys', 'revoke', 'laptop'], env);
    assert.deepEqual([revoked.code, revoked.stdout], [0, '']);
    assert.match(revoked.stderr, /^Revoked the key "laptop" \([0-9a-f]{10}\)\.\n$/);
    await eventually('the key holds no more', async () => (await tierOf(key)) === 401, 1000);
    assert.equal(await tierOf(free), '"free";q=100;w=3600');

    const idOfPhone = /^([0-9a-f]{10}) +my phone/m.exec(listed)?.[1] ?? '';
    assert.equal((await runHere(['keys', 'revoke', idOfPhone], env)).code, 0);
    await eventually('the other key holds no more', async () => (await tierOf(free)) === 401, 1000);
    assert.match((await runHere(['keys', 'list'], env)).stdout, /laptop +pro +\S+ +\d{4}-\d\d-\d\d\n/);
  });

  it('[slow] [KEY-4] prints keys as JSON, and the key itself only when it is created', async (t) => {
    const env = { POPROOM_DATA_DIR: await dataFolder(t) };
    const tell = async (...args: string[]) => {
      const { code, stdout, stderr } = await runHere(['keys', ...args, '--json'], env);
      assert.deepEqual([code, stderr], [0, '']);
      return JSON.parse(stdout);
    };
    const { key, ...made } = await tell('create', 'laptop', '--tier', 'free');
    assert.match(key, /^pop_[0-9A-Za-z]{32}$/);
    assert.deepEqual(
      [made.name, made.tier, Object.keys(made)],
      ['laptop', 'free', ['id', 'name', 'tier', 'createdAt']],
    );
    assert.deepEqual(await tell('list'), [made]);
    const { revokedAt, ...revoked } = await tell('revoke', made.id);
    assert.deepEqual(revoked, made);
    assert.deepEqual(await tell('list'), [{ ...made, revokedAt }]);
    for (const moment of [made.createdAt, revokedAt]) assert.equal(new Date(moment).toISOString(), moment);
  });

  it('[slow] [KEY-4] creates no data folder when it only lists keys', async (t) => {
    const env = { POPROOM_DATA_DIR: join(await dataFolder(t), 'elsewhere') };
    for (const args of [['list'], ['revoke', 'a']]) {
      const { code, stderr } = await runHere(['keys', ...args], env);
      assert.equal(code, 2);
      assert.match(stderr, /There is no Poproom data in .*elsewhere/);
    }
    assert.equal(existsSync(env.POPROOM_DATA_DIR), false);
  });

  it('[KEY-4] rejects incorrect usage with one sentence each', async (t) => {
    const env = { POPROOM_DATA_DIR: await dataFolder(t) };
    await runHere(['keys', 'create', 'taken'], env);
    const wrong: [args: string[], says: RegExp][] = [
      [[], /^poproom: Usage:/],
      [['make'], /^poproom: Usage:/],
      [['create'], /Which key/],
      [['revoke'], /Which key/],
      [['list', 'all'], /^poproom: Usage:/],
      [['create', 'a', 'b'], /^poproom: Usage:/],
      [['create', ''], /1 to 64/],
      [['create', 'tab\tbed'], /1 to 64/],
      [['create', 'x'.repeat(65)], /1 to 64/],
      [['create', 'a', '--tier', 'gold'], /free or pro/],
      [['create', 'a', '--teir', 'pro'], /--teir/],
      [['create', 'taken'], /A key named "taken" already exists/],
      [['revoke', 'unknown'], /There is no active key named "unknown"/],
    ];
    for (const [args, says] of wrong) {
      const { code, stdout, stderr } = await runHere(['keys', ...args], env);
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr, says);
      assert.ok(!stderr.includes('    at '), 'no stack is shown');
    }
    const { code, stdout } = await runHere(['keys', '--help'], env);
    assert.equal(code, 0);
    assert.match(stdout, /^poproom keys create NAME/);
  });
});
