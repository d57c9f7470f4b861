/** `poproom doctor`: settings, the data folder and its database, and the output. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { writeCertificate } from '../support/certificate.ts';
import { createCli } from '../support/cli.ts';
import { dataFolder, run, startProcess } from '../support/process.ts';
import { runDoctor } from './run-doctor.ts';

describe('poproom doctor on settings', () => {
  it('[CLI-8] finds no problems before the first start, and creates nothing', async (t) => {
    const folder = await dataFolder(t);
    const found = await runDoctor(t, { POPROOM_DATA_DIR: join(folder, 'not/yet') });
    assert.deepEqual([found.code, found.problemCount], [0, 0]);
    found.assertFinding('rooms', 'ok', /no database yet/);
    found.assertFinding('files', 'ok', /not\/yet does not exist yet/);
    assert.deepEqual(await readdir(folder), []);
  });

  it('[CLI-8] [ADMIN-2] names every invalid setting, and checks the rest', async (t) => {
    const secrets = { POPROOM_SECRET: 'short-secret', POPROOM_ADMIN_TOKEN: 'a-token-of-23-letters-x' };
    const bad = { ...secrets, PORT: 'x', POPROOM_ROOM_TTL: 'soon', POPROOM_STORE: 'paper:' };
    const found = await runDoctor(t, { ...bad, POPROOM_MIN_FREE_DISK: '900000GiB' });
    assert.equal(found.code, 1);
    for (const name of Object.keys(bad)) found.assertFinding('settings', 'bad', new RegExp(`^${name} must `));
    found.assertFinding('disk', 'bad', /all uploads are rejected/);
    for (const secret of Object.values(secrets)) assert.ok(!found.text.includes(secret));
  });

  it('[CLI-8] reports unknown variables, with the most similar known name', async (t) => {
    const found = await runDoctor(t, { POPROOM_TRUSTED_PROXY: '10.0.0.1', POPROOM_UNICORN: '1', POPROOM_PIN: '1234' });
    assert.match(
      found.assertFinding('settings', 'warning', /POPROOM_TRUSTED_PROXY\b/),
      /mean POPROOM_TRUSTED_PROXIES\?/,
    );
    assert.match(found.assertFinding('settings', 'warning', /POPROOM_UNICORN/), /^Remove it/);
    assert.deepEqual([found.code, found.problemCount], [0, 2]);
  });

  it('[CLI-8] warns about risks: all proxies trusted, no public URL, plain HTTP, no limit, a short secret, no key', async (t) => {
    const [one, other] = await Promise.all([
      runDoctor(t, {
        POPROOM_TRUSTED_PROXIES: '0.0.0.0/0',
        POPROOM_MISS_LIMIT: '0',
        POPROOM_SECRET: 'sixteen-letters-',
      }),
      runDoctor(t, { POPROOM_PUBLIC_URL: 'http://pop.invalid', POPROOM_TRUSTED_PROXIES: '10.0.0.1' }),
    ]);
    one.assertFinding('settings', 'bad', /trusts every address/);
    one.assertFinding('settings', 'warning', /no POPROOM_PUBLIC_URL/);
    one.assertFinding('settings', 'warning', /POPROOM_MISS_LIMIT is 0/);
    one.assertFinding('settings', 'warning', /POPROOM_SECRET is short/);
    assert.ok(!one.text.includes('sixteen-letters-'));
    other.assertFinding('settings', 'warning', /not https/);
    other.assertFinding('server', 'warning', /No response from http:\/\/pop\.invalid/);
  });
});

describe('poproom doctor on a demonstration', () => {
  it('[DEMO-3] names its limits, and each setting that allows more', async (t) => {
    const [plain, demo, strict, wide] = await Promise.all([
      runDoctor(t, {}),
      runDoctor(t, { POPROOM_DEMO: 'true' }),
      runDoctor(t, { POPROOM_DEMO: 'true', POPROOM_ROOM_MAX_TTL: '5m', POPROOM_ROOM_TTL: '5m' }),
      runDoctor(t, { POPROOM_DEMO: 'true', POPROOM_FILE_MAX: '2MiB', POPROOM_ROOM_MAX_TTL: '1h' }),
    ]);
    assert.ok(!plain.text.includes('POPROOM_DEMO'));
    demo.assertFinding('settings', 'ok', /^POPROOM_DEMO is true: rooms end after 15m, files have at most 1MiB,/);
    strict.assertFinding('settings', 'ok', /rooms end after 5m,/);
    for (const name of ['POPROOM_FILE_MAX', 'POPROOM_ROOM_MAX_TTL'])
      wide.assertFinding('settings', 'bad', new RegExp(`^${name} .*POPROOM_DEMO`));
  });
});

describe('poproom doctor on who may create rooms', () => {
  it('[CREATE-9] explains it for each setting, and warns if nobody can', async (t) => {
    const [open, key, password, proxy] = await Promise.all([
      runDoctor(t, {}),
      runDoctor(t, { POPROOM_CREATE: 'key', POPROOM_DATA_DIR: await dataFolder(t) }),
      runDoctor(t, { POPROOM_CREATE: 'password', POPROOM_CREATE_PASSWORD: 'correct horse' }),
      runDoctor(t, {
        POPROOM_CREATE: 'proxy',
        POPROOM_TRUSTED_PROXIES: '10.0.0.1',
        POPROOM_PUBLIC_URL: 'http://a.lan',
      }),
    ]);
    open.assertFinding('settings', 'ok', /^Everyone may create rooms\. Everyone with a code can join\.$/);
    key.assertFinding('settings', 'ok', /^Only clients with an API key may create rooms\./);
    password.assertFinding('settings', 'ok', /^Only clients with the password or an API key may create rooms\./);
    proxy.assertFinding('settings', 'ok', /^Only users whom a trusted proxy names in Remote-User, /);
    assert.ok(!password.text.includes('correct horse'));
  });
});

describe('poproom doctor on webhooks', () => {
  it('[HOOK-15] names the hosts, and warns of entries that allow too much or cannot work', async (t) => {
    const [doubtful, fine] = await Promise.all([
      runDoctor(t, { POPROOM_WEBHOOK_HOSTS: '*.com, localhost:3000, hooks.invalid' }),
      runDoctor(t, { POPROOM_WEBHOOK_HOSTS: '*.example.org, private:localhost, 192.168.1.20:8123' }),
    ]);
    doubtful.assertFinding('settings', 'ok', /^Webhooks may be sent to \*\.com, localhost, hooks\.invalid\.$/);
    doubtful.assertFinding('settings', 'warning', /allows every host below \.com/);
    doubtful.assertFinding('settings', 'warning', /hooks\.invalid in POPROOM_WEBHOOK_HOSTS cannot be resolved/);
    const fix = doubtful.assertFinding(
      'settings',
      'warning',
      /localhost in .* has only addresses that are not allowed/,
    );
    assert.match(fix, /write private:localhost\./);
    assert.ok(!fine.findings.some(({ verdict, found }) => verdict !== 'ok' && found.includes('WEBHOOK')), fine.text);
  });
});

describe('poproom doctor on a certificate', () => {
  it('[OPS-10] reports how long it is valid, or what is wrong with its files', async (t) => {
    const folder = await dataFolder(t);
    const { key, cert } = writeCertificate(folder, { days: 10 });
    const env = { PORT: '0', POPROOM_DATA_DIR: folder, POPROOM_TLS_CERT: cert };
    const [soon, wrong] = await Promise.all([
      runDoctor(t, { ...env, POPROOM_TLS_KEY: key }),
      runDoctor(t, { ...env, POPROOM_TLS_KEY: cert }),
    ]);
    soon.assertFinding('settings', 'warning', /The TLS certificate expires in 9 days\./);
    wrong.assertFinding('settings', 'bad', /^POPROOM_TLS_KEY: \S+ is not a PEM private key\.$/);
  });
});

describe('poproom doctor on the data folder', () => {
  it('[slow] [CLI-8] reads the database of a running and of a stopped server, and leaves nothing behind', async (t) => {
    const folder = await dataFolder(t);
    const env = { POPROOM_DATA_DIR: folder, POPROOM_REQUIRE_API_KEY: 'true' };
    const server = await startProcess(t, folder);
    await server.api.room();
    const running = await runDoctor(t, env);
    running.assertFinding('rooms', 'ok', /is intact; rooms in it: 1/);
    assert.match(
      running.assertFinding('rooms', 'warning', /there is no key: all requests are rejected/),
      /poproom keys create/,
    );
    await server.end('SIGTERM');
    await run(['keys', 'create', 'laptop'], env);
    const before = await readdir(folder);
    const result = await runDoctor(t, env);
    result.assertFinding('rooms', 'ok', /rooms in it: 1/);
    assert.equal(result.problemCount, 0, result.text);
    assert.deepEqual(await readdir(folder), before);
  });

  it('[CLI-28] reports how much of their maximum the files use, and when uploads are or will be rejected', async (t) => {
    const folder = await dataFolder(t);
    const env = { POPROOM_DATA_DIR: folder };
    const server = await startProcess(t, folder);
    await server.api.upload(await server.api.room(), 'a.bin', Buffer.alloc(1000 * 1024));
    const within = (more: Record<string, string>) => runDoctor(t, { ...env, ...more });
    const [usual, near, full, none] = await Promise.all([
      within({}),
      within({ POPROOM_TOTAL_MAX_BYTES: '1MiB' }),
      within({ POPROOM_TOTAL_MAX_BYTES: '1000KiB' }),
      within({ POPROOM_TOTAL_MAX_BYTES: '0', POPROOM_CLIENT_MAX_BYTES: '0' }),
    ]);
    usual.assertFinding('storage', 'ok', /^Files use 1000 KiB of at most [\d.]+ [GT]iB\.$/);
    near.assertFinding('storage', 'warning', /1000 KiB of at most 1 MiB: uploads will soon be rejected/);
    assert.match(full.assertFinding('storage', 'bad', /all uploads are rejected/), /poproom rooms list/);
    none.assertFinding('storage', 'warning', /their total is not limited: they may fill the disk/);
    none.assertFinding('settings', 'warning', /one address can use up all storage for files/);
    const beyond = await within({ POPROOM_TOTAL_MAX_BYTES: '900000GiB' });
    beyond.assertFinding('storage', 'warning', /^POPROOM_TOTAL_MAX_BYTES is .* but the disk has only/);
  });

  it('[CLI-8] reports a database that is damaged, is not one, or is an incomplete copy', async (t) => {
    const folder = await dataFolder(t);
    await run(['keys', 'create', 'laptop'], { POPROOM_DATA_DIR: folder });
    const [torn, none, part] = ['torn', 'none', 'part'].map((name) => join(folder, name));
    assert.ok(torn && none && part);
    await Promise.all([torn, none, part].map((place) => mkdir(place)));
    await Promise.all([torn, part].map((place) => copyFile(join(folder, 'poproom.db'), join(place, 'poproom.db'))));
    await writeFile(join(none, 'poproom.db'), 'this is no database, but a text that is long enough');
    await writeFile(join(part, 'poproom.db-wal'), '');
    await overwrite(join(torn, 'poproom.db'), 8192);
    const found = await Promise.all([torn, none, part].map((place) => runDoctor(t, { POPROOM_DATA_DIR: place })));
    found[0]?.assertFinding('rooms', 'bad', /poproom\.db (is damaged|cannot be read)/);
    found[1]?.assertFinding('rooms', 'bad', /cannot be read: file is not a database/);
    found[2]?.assertFinding('rooms', 'warning', /was not checked/);
    assert.deepEqual(await readdir(part), ['poproom.db', 'poproom.db-wal']);
  });

  it('[CLI-8] reports a path that is not a folder, and a secret that others can read', async (t) => {
    const folder = await dataFolder(t);
    await writeFile(join(folder, 'file'), '');
    await writeFile(join(folder, 'secret'), 'x'.repeat(64));
    await chmod(join(folder, 'secret'), 0o644);
    await writeFile(join(folder, 'files'), '');
    const [file, below, folderOfMine] = await Promise.all([
      runDoctor(t, { POPROOM_DATA_DIR: join(folder, 'file') }),
      runDoctor(t, { POPROOM_DATA_DIR: join(folder, 'file/data') }),
      runDoctor(t, { POPROOM_DATA_DIR: folder }),
    ]);
    for (const found of [file, below]) found.assertFinding('files', 'bad', /is not a folder/);
    for (const found of [file, below]) assert.equal(found.problemCount, 1);
    folderOfMine.assertFinding('files', 'bad', /files is not writable/);
    assert.match(
      folderOfMine.assertFinding('secret', 'warning', /Other users of this machine can read/),
      /^Run: chmod 600/,
    );
  });
});

describe('poproom doctor on modes', () => {
  it('[CLI-25] finds no problems in a folder that a server created, and names each file or folder that others can open', async (t) => {
    const folder = join(await dataFolder(t), 'data');
    const env = { POPROOM_DATA_DIR: folder };
    const server = await startProcess(t, folder);
    await server.api.room();
    (await runDoctor(t, env)).assertFinding('modes', 'ok', /Only the owner has access to/);
    await server.end('SIGTERM');

    await chmod(folder, 0o755);
    await chmod(join(folder, 'poproom.db'), 0o644);
    await chmod(join(folder, 'files'), 0o750);
    const found = await runDoctor(t, env);
    assert.equal(found.problemCount, 3, found.text);
    assert.match(
      found.assertFinding('modes', 'warning', /have access to .*data \(mode 755\)/),
      /^Run: chmod 700 .*data, or restart/,
    );
    assert.match(found.assertFinding('modes', 'warning', /poproom\.db \(mode 644\)/), /^Run: chmod 600/);
    assert.match(found.assertFinding('modes', 'warning', /files \(mode 750\)/), /^Run: chmod 700/);
  });

  it('[slow] [CLI-25] [RUN-13] checks the target of a linked database', async (t) => {
    const [folder, elsewhere] = [await dataFolder(t), await dataFolder(t)];
    const target = join(elsewhere, 'rooms.db');
    await symlink(target, join(folder, 'poproom.db'));
    const server = await startProcess(t, folder);
    await server.api.room();
    const env = { POPROOM_DATA_DIR: folder };
    const before = await runDoctor(t, env);
    before.assertFinding('modes', 'ok', /Only the owner has access to/);
    before.assertFinding('rooms', 'ok', /intact; rooms in it: 1/);
    await chmod(target, 0o644);
    const fix = (await runDoctor(t, env)).assertFinding('modes', 'warning', /rooms\.db \(mode 644\)/);
    assert.ok(fix.startsWith(`Run: chmod 600 ${target}`), fix);
  });

  it('[CLI-25] [RUN-17] reports files with secrets that others can write', async (t) => {
    const folder = await dataFolder(t);
    const [secret, key] = [join(folder, 'secret'), join(folder, 'key.pem')];
    for (const path of [secret, key]) {
      await writeFile(path, 'x'.repeat(64));
      await chmod(path, 0o660);
    }
    const tls = { POPROOM_TLS_CERT: join(folder, 'cert.pem'), POPROOM_TLS_KEY: key };
    const found = await runDoctor(t, { POPROOM_DATA_DIR: folder, ...tls });
    for (const name of ['secret', 'key.pem']) {
      const fix = found.assertFinding('secret', 'bad', new RegExp(`can write .*${name} \\(mode 660\\)`));
      assert.match(fix, /chmod 600/);
    }
  });

  it('[CLI-25] reports a folder that contains other things', async (t) => {
    const folder = join(await dataFolder(t), 'shared');
    await mkdir(join(folder, 'something else'), { recursive: true });
    await chmod(folder, 0o755);
    const found = await runDoctor(t, { POPROOM_DATA_DIR: folder });
    assert.match(found.assertFinding('modes', 'warning', /have access to .*shared/), /a separate folder/);
  });

  it('[CLI-25] warns about a database of an earlier version, whose deleted texts are erased at the next start', async (t) => {
    const folder = await dataFolder(t);
    await run(['keys', 'create', 'laptop'], { POPROOM_DATA_DIR: folder });
    const db = new DatabaseSync(join(folder, 'poproom.db'));
    db.exec('PRAGMA application_id = 0');
    db.close();
    const found = await runDoctor(t, { POPROOM_DATA_DIR: folder });
    assert.match(
      found.assertFinding('rooms', 'warning', /texts that an earlier version deleted/),
      /restart the server/,
    );
  });
});

describe('the output of poproom doctor', () => {
  it('[CLI-33] says that checks were skipped if the server does not run, with an exit code of its own', async (t) => {
    const cli = await createCli(t, { PORT: '1', POPROOM_MIN_FREE_DISK: '0' });
    const { code, stdout } = await cli.run(['doctor']);
    assert.equal(code, 8, stdout);
    assert.match(stdout, /^! server {4}No server is running at http:\/\/localhost:1\.\n {12}Start it/m);
    assert.match(stdout, /The server is not running; 8 checks were skipped\.\n$/);
    assert.doesNotMatch(stdout, /No problems found/);
  });

  it('[slow] [CLI-8] [CLI-7] is a symbol and a sentence for each finding, in colour only on a terminal that supports it', async (t) => {
    const cli = await createCli(t, { PORT: '0', POPROOM_MISS_LIMIT: '0', POPROOM_MIN_FREE_DISK: '900000GiB' });
    const [pipe, screen, plain, dumb] = await Promise.all([
      cli.run(['doctor']),
      cli.terminal('poproom doctor').result,
      cli.terminal('poproom doctor', { env: { NO_COLOR: '1' } }).result,
      cli.terminal('poproom doctor', { env: { TERM: 'dumb' } }).result,
    ]);
    assert.deepEqual([pipe.code, pipe.stderr], [1, '']);
    assert.match(
      pipe.stdout,
      /^✓ settings {2}All settings are valid\.\n! settings {2}POPROOM_MISS_LIMIT is 0.*\n {12}Leave/,
    );
    assert.match(pipe.stdout, /^✗ disk {6}.*\n {12}Free up.*\n\nProblems: 1\. Warnings: 1\.\n$/m);
    assert.ok(screen.stdout.includes('\x1b[31m✗\x1b[0m disk'));
    // The free space changes between the commands.
    const withoutSizes = (stdout: string) => stdout.replaceAll('\r\n', '\n').replaceAll(/[\d.]+ GiB/g, 'SIZE');
    for (const { stdout } of [plain, dumb]) assert.equal(withoutSizes(stdout), withoutSizes(pipe.stdout));
    assert.equal(existsSync(join(cli.home, 'data')), false);
  });
});

async function overwrite(path: string, position: number): Promise<void> {
  const file = await open(path, 'r+');
  await file.write(Buffer.alloc(4096, 0xff), 0, 4096, position);
  await file.close();
}
