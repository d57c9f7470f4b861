/** File modes in the data folder. */
import assert from 'node:assert/strict';
import { chmod, lstat, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { builtCommand, dataFolder, type Executable, run, startProcess } from '../support/process.ts';

describe('the data folder', () => {
  it('[RUN-13] has folders with mode 0700 and files with 0600, whatever the umask', async (t) => {
    const folder = join(await dataFolder(t), 'data');
    const server = await startProcess(t, folder, {}, withUmask('000'));
    await server.api.upload(await server.api.room(), 'file.txt', 'bytes');
    await run(['keys', 'create', 'laptop'], { POPROOM_DATA_DIR: folder }, withUmask('000'));
    await assertPrivate(folder);
    await server.end('SIGKILL');
    await assertPrivate(folder);
  });

  it('[RUN-13] is closed to other users at startup if it was open', async (t) => {
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
});

const withUmask = (mask: string): Executable => ['sh', '-c', `umask ${mask}; exec "$0" "$@"`, ...builtCommand];

async function assertPrivate(folder: string): Promise<void> {
  const inside = await readdir(folder, { recursive: true });
  assert.ok(inside.includes('poproom.db-wal'));
  for (const path of [folder, ...inside.map((name) => join(folder, name))]) {
    const found = await lstat(path);
    assert.equal((found.mode & 0o777).toString(8), found.isDirectory() ? '700' : '600', path);
  }
}
