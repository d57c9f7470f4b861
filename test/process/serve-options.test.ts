/** Options of `poproom serve`, and settings that are not real. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readEnvironment } from '../../src/cli/environment.ts';
import { inspectConfig, settingNames } from '../../src/config.ts';
import { createApi } from '../support/api.ts';
import { createCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { builtCommand, dataFolder, launch, portIn, run, startProcess } from '../support/process.ts';

describe('poproom serve', () => {
  it('[OPS-1] takes port, host and folder as options, which override the environment', async (t) => {
    const folder = await dataFolder(t);
    const wrong = { PORT: '1', POPROOM_HOST: '192.0.2.1', POPROOM_DATA_DIR: join(folder, 'other') };
    const options = ['--port', '0', '--host=127.0.0.1', '--data', join(folder, 'data')];
    const { child, output, exit } = launch(['serve', ...options], wrong);
    t.after(async () => {
      child.kill('SIGKILL');
      await exit;
    });
    const port = await eventually('the server listens', () => portIn(output()), 30_000);
    assert.equal((await createApi(() => `http://127.0.0.1:${port}`).get('/livez')).status, 200);
    assert.deepEqual([existsSync(join(folder, 'data')), existsSync(wrong.POPROOM_DATA_DIR)], [true, false]);
  });

  it('[slow] [OPS-1] reports invalid options together, with exit code 2', async (t) => {
    const folder = await dataFolder(t);
    const { code, stdout, stderr } = await run(['serve', '--port', 'http', '--host', '', '--data', '/proc/data']);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^ {2}--port must be a whole number from 0 to 65535; got "http"$/m);
    assert.match(stderr, /^ {2}--host needs a value$/m);
    assert.match(
      stderr,
      /^ {2}--data must be a folder on a disk, and \/proc belongs to the system; got "\/proc\/data"$/m,
    );
    const host = await run(['serve', '--host', 'no-such-host.invalid', '--data', folder]);
    assert.equal(host.code, 2);
    assert.match(host.stderr, /^poproom: "no-such-host\.invalid" is not an address of this machine; /);
  });

  it('[OPS-10] reports a certificate that cannot be used as an invalid setting, with exit code 2', async (t) => {
    const env = { POPROOM_TLS_CERT: '/none.pem', POPROOM_TLS_KEY: '/none.key' };
    const { code, stdout, stderr } = await run(['serve', '--port', '0', '--data', await dataFolder(t)], env);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^ {2}POPROOM_TLS_CERT: There is no file \/none\.pem\.$/m);
  });

  it('[RUN-19] listens on POPROOM_PORT, and says at the start that PORT differs', async (t) => {
    const server = await startProcess(t, await dataFolder(t), { PORT: '1', POPROOM_PORT: '0' });
    assert.match(server.output(), /"POPROOM_PORT \(0\) and PORT \(1\) differ\. POPROOM_PORT is used\."/);
    assert.notEqual(server.port, 1);
  });

  it('[OPS-2] [DEMO-3] starts with a misspelled setting, and warns with the name that was probably meant', async (t) => {
    const env = { POPROOM_FILEMAX: '1MiB', POPROOM_PIN: '0427', POPROOM_UNICORN: '1', POPROOM_DEMO: 'true' };
    const server = await startProcess(t, await dataFolder(t), env);
    const warnings = server.output().match(/^.*is not a setting.*$/gm) ?? [];
    assert.equal(warnings.length, 2, server.output());
    assert.match(warnings[0] ?? '', /POPROOM_FILEMAX is not a setting\. Did you mean POPROOM_FILE_MAX\?"/);
    assert.match(warnings[1] ?? '', /POPROOM_UNICORN is not a setting\. .*lists all settings/);
    assert.match(server.output(), /POPROOM_DEMO is true: rooms end after 15m, files have at most 1MiB/);
  });

  it('[OPS-2] knows every variable that the command line reads', () => {
    const read = new Set<string>();
    readEnvironment(new Proxy({}, { get: (_, name) => void read.add(String(name)) }));
    const own = [...read].filter((name) => name.startsWith('POPROOM_'));
    assert.ok(own.length > 2);
    assert.deepEqual(
      own.filter((name) => !settingNames.includes(name)),
      [],
    );
  });

  it('[slow] [OPS-2] reports an unknown key in the config file of the command line', async (t) => {
    const cli = await createCli(t);
    await mkdir(join(cli.home, '.config/poproom'), { recursive: true });
    await writeFile(join(cli.home, '.config/poproom/config.json'), '{"url": "http://127.0.0.1:1", "apikey": "pop_1"}');
    const { code, stderr } = await cli.run(['info', '7KQ2MX']);
    assert.equal(code, 8);
    assert.match(
      stderr,
      /^poproom: "apikey" in \S+config\.json is not a setting\. Did you mean "apiKey"\?\npoproom: Cannot connect/,
    );
  });
});

describe('the data folder', () => {
  it('[OPS-4] is rejected if it is in a folder of the system, for the database and for files', async (t) => {
    for (const folder of ['/proc/x', '/proc', '/sys/x', '/dev/x', '/dev/../proc/self/x']) {
      const { problems } = inspectConfig({ POPROOM_DATA_DIR: folder, POPROOM_FILES: `disk:${folder}` });
      assert.equal(problems.length, 2, folder);
      assert.match(problems[0] ?? '', /^POPROOM_DATA_DIR must be a folder on a disk, and \/(proc|sys|dev) belongs/);
    }
    for (const folder of ['/dev/shm/x', '/processes', './dev', '/developer']) {
      assert.deepEqual(inspectConfig({ POPROOM_DATA_DIR: folder }).problems, []);
    }
    const link = join(await dataFolder(t), 'link');
    await symlink('/proc', link);
    const { code, stderr } = await run(['serve'], { POPROOM_DATA_DIR: join(link, 'x') });
    assert.equal(code, 1);
    assert.match(stderr, /^poproom: \S+link\/x is on a file system of the system, not on a disk\.\n$/);
  });

  it('[OPS-4] is rejected after 5 seconds if its file system does not respond', { timeout: 60_000 }, async (t) => {
    const folder = await dataFolder(t);
    const hang = ['-f', '-qq', '-o', '/dev/null', '-e', 'trace=statfs', '-e', 'inject=statfs:delay_enter=30s'];
    const { stderr, code, signal } = await run(['serve'], { POPROOM_DATA_DIR: folder }, [
      'strace',
      ...hang,
      ...builtCommand,
    ]);
    assert.ok(code === 137 || signal === 'SIGKILL', `${code} ${signal} ${stderr}`);
    assert.match(stderr, /^poproom: The file system of \S+ has not responded for 5 seconds\. /);
    assert.deepEqual(await readdir(folder), []);
  });
});

describe('files in a separate folder', () => {
  it('[OPS-5] are stored where POPROOM_FILES says, for one server at a time', async (t) => {
    const folder = await dataFolder(t);
    const files = join(folder, 'mnt', 'files');
    const server = await startProcess(t, join(folder, 'one'), { POPROOM_FILES: `disk:${files}` });
    const room = await server.api.room();
    const { json } = await server.api.upload(room, 'a.txt', 'bytes');
    assert.equal((await server.api.get(json.fileUrl)).text, 'bytes');
    assert.ok(
      (await readdir(files, { recursive: true, withFileTypes: true })).some(
        (entry) => entry.isFile() && entry.name.length > 30,
      ),
    );
    assert.ok(!existsSync(join(folder, 'one', 'files')));
    const second = await run(['serve'], { POPROOM_DATA_DIR: join(folder, 'two'), POPROOM_FILES: `disk:${files}` });
    assert.deepEqual(
      [second.code, second.stderr],
      [1, `poproom: Another Poproom server is using the folder ${files}.\n`],
    );
  });
});
