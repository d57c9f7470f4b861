/** Folders: `poproom send -r` sends them, `poproom fetch` recreates them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Cli, createCli } from '../support/cli.ts';
import { sharedServer } from '../support/server.ts';
import { startUntrustedServer } from './untrusted-server.ts';

async function setUp(t: TestContext) {
  const server = await sharedServer(t, { POPROOM_FREE_LIMIT: '0' });
  const cli = await createCli(t, { POPROOM_URL: server.url });
  await mkdir(join(cli.home, 'out'));
  return { server, cli, code: await server.api.room() };
}

async function put(cli: Cli, path: string): Promise<void> {
  await mkdir(join(cli.home, dirname(path)), { recursive: true });
  await writeFile(join(cli.home, path), path);
}

/** The paths of all files below a folder. */
async function filesBelow(cli: Cli, folder: string): Promise<string[]> {
  const entries = await readdir(join(cli.home, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(join(cli.home, folder).length + 1)).sort();
}

describe('poproom send -r', () => {
  it('[CLI-30] sends the files of folders in order, and fetch recreates the folders', async (t) => {
    const { server, cli, code } = await setUp(t);
    const paths = ['photos/2026/b.jpg', 'photos/a.jpg', 'photos/z.jpg', 'docs/größe.txt', 'single'];
    for (const path of paths) await put(cli, path);
    await mkdir(join(cli.home, 'photos/empty'));
    const sent = await cli.run(['send', '-r', code, 'photos', './docs/', 'single', '--json']);
    assert.deepEqual([sent.code, sent.stderr], [0, '']);
    const { json } = await server.api.get(`/api/rooms/${code}/files`);
    const listed = json.files.map(({ folder, fileName }: { folder?: string; fileName: string }) => [folder, fileName]);
    assert.deepEqual(listed, [
      ['photos/2026', 'b.jpg'],
      ['photos', 'a.jpg'],
      ['photos', 'z.jpg'],
      ['docs', 'größe.txt'],
      [undefined, 'single'],
    ]);
    assert.equal(JSON.parse(sent.stdout)[0].folder, 'photos/2026');

    const { code: exit, stdout } = await cli.run(['fetch', code, '-o', 'out']);
    assert.deepEqual([exit, stdout], [0, paths.map((path) => `out/${path}\n`).join('')]);
    assert.deepEqual(await filesBelow(cli, 'out'), paths.toSorted());
    for (const path of paths) assert.equal(await readFile(join(cli.home, 'out', path), 'utf8'), path);
    assert.match((await cli.run(['info', code])).stdout, /^ +photos\/2026\/b\.jpg {2}17 bytes$/m);
    assert.match((await cli.run(['fetch', code, '--list'])).stdout, /^ +photos\/a\.jpg {7}12 bytes$/m);
  });

  it('[CLI-30] names a folder given as a dot, and files in it by their paths', async (t) => {
    const { cli, code } = await setUp(t);
    for (const path of ['photos/a', 'photos/sub/a']) await put(cli, path);
    assert.equal((await cli.run(['send', code, '-r', '.'], { cwd: join(cli.home, 'photos') })).code, 0);
    const { stdout } = await cli.run(['fetch', code, 'photos/a', '-o', 'out']);
    assert.equal(stdout, 'out/a\n', 'a file that is named is written without its folders');
    assert.equal(await readFile(join(cli.home, 'out/a'), 'utf8'), 'photos/a');
    assert.equal((await cli.run(['rm', code, 'photos/sub/a'])).stdout, 'Removed "photos/sub/a".\n');
  });

  it('[CLI-30] does not follow symbolic links, and skips special files', async (t) => {
    const { server, cli, code } = await setUp(t);
    await put(cli, 'secret/key');
    await put(cli, 'folder/file');
    await symlink('../secret', join(cli.home, 'folder/link'));
    await symlink('../secret/key', join(cli.home, 'folder/linked-file'));
    spawnSync('mkfifo', [join(cli.home, 'folder/pipe')]);
    const { code: exit, stderr } = await cli.run(['send', code, '-r', 'folder']);
    assert.equal(exit, 0);
    assert.equal(
      stderr,
      'Skipped folder/link: symbolic links are not followed.\n' +
        'Skipped folder/linked-file: symbolic links are not followed.\n' +
        'Skipped folder/pipe: it is not a regular file.\n',
    );
    const { json } = await server.api.get(`/api/rooms/${code}/files`);
    assert.deepEqual(
      json.files.map(({ fileName }: { fileName: string }) => fileName),
      ['file'],
    );
  });

  it('[CLI-30] sends nothing if there are no files, and takes no --name', async (t) => {
    const { cli, code } = await setUp(t);
    await mkdir(join(cli.home, 'empty'));
    const nothing = await cli.run(['send', code, '-r', 'empty']);
    assert.deepEqual(nothing, { code: 9, stdout: '', stderr: 'poproom: There are no files in empty.\n' });
    await put(cli, 'folder/a');
    const named = await cli.run(['send', code, '-r', 'folder', '--name', 'n']);
    assert.deepEqual([named.code, named.stderr], [2, 'poproom: --name cannot be used with a folder.\n']);
  });
});

describe('poproom fetch with folders', () => {
  it('[CLI-30] stays in its folder, whatever folders the server sends', async (t) => {
    const cli = await createCli(t);
    const odd: [folder: string, becomes: string][] = [
      ['../..', 'file/file'],
      ['/etc', 'etc'],
      ['..\\..\\windows', 'file/file/windows'],
      ['.ssh', '_.ssh'],
      ['a//./b', 'a/file/b'],
      ['-rf/~', '_-rf/_~'],
      ['CON', '_CON'],
      ['\u200b.git', '_.git'],
      [Array.from({ length: 5000 }, () => 'x').join('/'), Array.from({ length: 32 }, () => 'x').join('/')],
    ];
    const folders = odd.map(([folder]) => folder);
    const url = await startUntrustedServer(t, { names: odd.map((_, i) => `${i}`), folders, bytes: 'x' });
    await mkdir(join(cli.home, 'out'));
    const { code, stderr } = await cli.run(['fetch', '7KQ2MX', '--url', url, '--output', 'out']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(await filesBelow(cli, 'out'), odd.map(([, becomes], i) => `${becomes}/${i}`).sort());
    assert.deepEqual((await readdir(cli.home)).filter((name) => !name.startsWith('.')).sort(), ['out']);
  });

  it('[CLI-30] does not write through a symbolic link', async (t) => {
    const { server, cli, code } = await setUp(t);
    await server.api.upload(code, 'first', 'x');
    await put(cli, 'photos/a');
    assert.equal((await cli.run(['send', code, '-r', 'photos'])).code, 0);
    await mkdir(join(cli.home, 'elsewhere'));
    await symlink('../elsewhere', join(cli.home, 'out/photos'));
    const { code: exit, stderr } = await cli.run(['fetch', code, '-o', 'out', '--force']);
    assert.equal(exit, 9);
    assert.match(stderr, /\npoproom: out\/photos is a symbolic link, where a folder is needed\.\n$/);
    assert.deepEqual(await readdir(join(cli.home, 'elsewhere')), []);
  });

  it('[CLI-14] leaves no empty folders if the download fails', async (t) => {
    const cli = await createCli(t);
    const url = await startUntrustedServer(t, { names: ['a'], folders: ['x/y'], bytes: '12345', fileSize: 6 });
    await mkdir(join(cli.home, 'out/x'), { recursive: true });
    assert.equal((await cli.run(['fetch', '7KQ2MX', '--url', url, '-o', 'out'])).code, 8);
    assert.deepEqual(await readdir(join(cli.home, 'out'), { recursive: true }), ['x']);
  });
});
