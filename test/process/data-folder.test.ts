/** File modes in the data folder. */
import assert from 'node:assert/strict';
import { chmod, chown, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { builtCommand, dataFolder, type Executable, run, startProcess } from '../support/process.ts';

describe('the data folder', () => {
  it('[slow] [RUN-13] has folders with mode 0700 and files with 0600, whatever the umask', async (t) => {
    const folder = join(await dataFolder(t), 'data');
    const server = await startProcess(t, folder, {}, withUmask('000'));
    await server.api.upload(await server.api.room(), 'file.txt', 'bytes');
    await run(['keys', 'create', 'laptop'], { POPROOM_DATA_DIR: folder }, withUmask('000'));
    await assertPrivate(folder);
    await server.end('SIGKILL');
    await assertPrivate(folder);
  });

  it('[slow] [RUN-13] is closed to other users at startup if it was open', async (t) => {
    const folder = await dataFolder(t);
    const former = await startProcess(t, folder);
    await former.api.room();
    await former.end('SIGKILL');
    await chmod(folder, 0o755);
    for (const name of await readdir(folder)) await chmod(join(folder, name), name === 'files' ? 0o755 : 0o644);
    const server = await startProcess(t, folder);
    await server.api.room();
    await assertPrivate(folder);
    assert.doesNotMatch(server.output(), /other users/);
  });

  it('[RUN-20] of another user is named at the start, with the command that fixes it', async (t) => {
    const isRoot = process.getuid?.() === 0;
    const folder = isRoot ? await dataFolder(t) : '/usr/share';
    const user = isRoot ? 1000 : process.getuid?.();
    const group = isRoot ? 1000 : process.getgid?.();
    const { code, stderr } = await run(
      ['serve'],
      { PORT: '0', POPROOM_DATA_DIR: folder },
      isRoot ? asUser : builtCommand,
    );
    assert.equal(code, 1);
    assert.ok(
      stderr.startsWith(`poproom: ${folder} is not writable. It belongs to user 0. User ${user}, who runs`),
      stderr,
    );
    assert.ok(stderr.includes(`Run: sudo chown -R ${user}:${group} ${folder} (`), stderr);
  });

  it('[slow] [RUN-20] with a file of another user is named, too', async (t) => {
    if (process.getuid?.() !== 0) return t.skip('only root can create a file of another user');
    const folder = await dataFolder(t);
    await chown(folder, 1000, 1000);
    await writeFile(join(folder, 'poproom.db'), '', { mode: 0o600 });
    const { stderr } = await run(['serve'], { PORT: '0', POPROOM_DATA_DIR: folder }, asUser);
    assert.ok(stderr.startsWith(`poproom: ${folder}/poproom.db is not writable.`), stderr);
    assert.ok(stderr.includes(`Run: sudo chown -R 1000:1000 ${folder} (`), stderr);
    await chown(join(folder, 'poproom.db'), 1000, 1000);
    const server = await startProcess(t, folder, {}, asUser);
    assert.equal((await server.api.get('/readyz')).status, 200);
  });

  it('[RUN-13] is left open, with a warning, if it contains other things', async (t) => {
    const folder = join(await dataFolder(t), 'shared');
    await mkdir(folder);
    await writeFile(join(folder, 'somebody.else'), '');
    await chmod(folder, 0o755);
    const server = await startProcess(t, folder);
    assert.equal((await stat(folder)).mode & 0o777, 0o755);
    assert.match(server.output(), /"path":".*shared","mode":"755","reason":"shared".*other users of this machine/);
    assert.equal((await stat(join(folder, 'poproom.db'))).mode & 0o777, 0o600);
  });

  it('[slow] [RUN-13] has mode 0600 for the target of a linked database and its log too, new or open before', async (t) => {
    const [folder, elsewhere] = [await dataFolder(t), await dataFolder(t)];
    const target = join(elsewhere, 'rooms.db');
    await symlink(target, join(folder, 'poproom.db'));
    const first = await startProcess(t, folder, {}, withUmask('000'));
    await first.api.room();
    await assertModes(elsewhere, ['rooms.db', 'rooms.db-shm', 'rooms.db-wal']);
    await first.end('SIGKILL');
    for (const name of await readdir(elsewhere)) await chmod(join(elsewhere, name), 0o644);
    const second = await startProcess(t, folder, {}, withUmask('000'));
    await second.api.room();
    await assertModes(elsewhere, ['rooms.db', 'rooms.db-shm', 'rooms.db-wal']);
  });

  it('[slow] [LIFE-7] [RUN-13] keeps nothing of a deleted room if its database is a link', async (t) => {
    const [folder, elsewhere] = [await dataFolder(t), await dataFolder(t)];
    const target = join(elsewhere, 'rooms.db');
    await symlink(target, join(folder, 'poproom.db'));
    const first = await startProcess(t, folder);
    const room = await first.api.room();
    const text = 'a text that is deleted';
    await first.api.post(`/api/rooms/${room}/content`, { json: { content: text } });
    const isStored = async () => {
      const stored = await Promise.all(['', '-wal'].map((suffix) => readFile(target + suffix).catch(() => '')));
      return stored.some((bytes) => bytes.includes(text));
    };
    assert.ok(await isStored());
    await first.api.delete(`/api/rooms/${room}`);
    // The next start erases what the log still has.
    await first.end('SIGKILL');
    await startProcess(t, folder);
    assert.ok(!(await isStored()));
  });
});

describe('a file with a secret that others can write', () => {
  for (const mode of [0o620, 0o602]) {
    it(`[RUN-17] is refused at startup with the command that closes it: mode ${mode.toString(8)}`, async (t) => {
      const folder = await dataFolder(t);
      const path = join(folder, 'secret');
      await writeFile(path, 'x'.repeat(64));
      await chmod(path, mode);
      const { code, stderr } = await run(['serve'], { POPROOM_DATA_DIR: folder });
      assert.equal(code, 1);
      const found = `can write ${path} (mode ${mode.toString(8)}). Make sure that nobody has changed it, and run: chmod 600 ${path}`;
      assert.ok(stderr.includes(found), stderr);
      assert.equal((await stat(path)).mode & 0o777, mode);
      await chmod(path, 0o600);
      await startProcess(t, folder);
    });
  }

  it('[slow] [RUN-17] may be readable by others, and does not matter if POPROOM_SECRET is set', async (t) => {
    const folder = await dataFolder(t);
    const path = join(folder, 'secret');
    await writeFile(path, 'x'.repeat(64));
    await chmod(path, 0o644);
    await (await startProcess(t, folder)).end('SIGTERM');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    await chmod(path, 0o666);
    await startProcess(t, folder, { POPROOM_SECRET: 'x'.repeat(64) });
  });

  it('[RUN-17] is also the private key of the certificate, or the target of a link', async (t) => {
    const [folder, elsewhere] = [await dataFolder(t), await dataFolder(t)];
    const [secret, key] = [join(elsewhere, 'secret'), join(elsewhere, 'key.pem')];
    for (const path of [secret, key]) await writeFile(path, 'x'.repeat(64));
    await chmod(key, 0o660);
    const tls = { POPROOM_TLS_CERT: join(elsewhere, 'cert.pem'), POPROOM_TLS_KEY: key };
    assert.ok((await run(['serve'], { POPROOM_DATA_DIR: folder, ...tls })).stderr.includes(`chmod 600 ${key}`));
    await chmod(secret, 0o666);
    await symlink(secret, join(folder, 'secret'));
    const linked = await run(['serve'], { POPROOM_DATA_DIR: folder });
    assert.match(linked.stderr, /can write .*secret \(mode 666\)/);
  });
});

async function assertModes(folder: string, names: readonly string[]): Promise<void> {
  assert.deepEqual((await readdir(folder)).toSorted(), names);
  for (const name of names) assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600, name);
}

const withUmask = (mask: string): Executable => ['sh', '-c', `umask ${mask}; exec "$0" "$@"`, ...builtCommand];

async function assertPrivate(folder: string): Promise<void> {
  const inside = await readdir(folder, { recursive: true });
  assert.ok(inside.includes('poproom.db-wal'));
  for (const path of [folder, ...inside.map((name) => join(folder, name))]) {
    const found = await lstat(path);
    assert.equal((found.mode & 0o777).toString(8), found.isDirectory() ? '700' : '600', path);
  }
}

/** As in the container. */
const asUser: Executable = ['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups', ...builtCommand];
