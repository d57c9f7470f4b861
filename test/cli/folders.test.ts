/** Folders: `poproom send -r` sends them, `poproom fetch` recreates them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createClient } from '../../src/client/index.ts';
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
  it('[slow] [CLI-30] sends the files of folders in order, and fetch recreates the folders', async (t) => {
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
      ['photos', '.poproom-folder.json'],
      ['docs', 'größe.txt'],
      ['docs', '.poproom-folder.json'],
      [undefined, 'single'],
    ]);
    assert.equal(JSON.parse(sent.stdout)[0].folder, 'photos/2026');

    const { code: exit, stdout } = await cli.run(['fetch', code, '-o', 'out']);
    assert.deepEqual([exit, stdout], [0, paths.map((path) => `out/${path}\n`).join('')]);
    assert.deepEqual(await filesBelow(cli, 'out'), paths.toSorted());
    for (const path of paths) assert.equal(await readFile(join(cli.home, 'out', path), 'utf8'), path);
    assert.match((await cli.run(['info', code])).stdout, /^ +photos\/2026\/b\.jpg {2}17 bytes$/m);
    assert.match((await cli.run(['fetch', code, '--list'])).stdout, /^ +photos\/a\.jpg +12 bytes$/m);
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
      ['file', '.poproom-folder.json'],
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

describe('a folder that is sent and fetched', () => {
  it('[CLI-100] [CLI-101] is the same, with hidden names, times, executable files and empty folders', async (t) => {
    const { cli, code } = await setUp(t);
    for (const path of ['p/.git/hooks/pre-commit', 'p/.envrc', 'p/run.sh', 'p/größe/ü.txt', 'p/-x'])
      await put(cli, path);
    await mkdir(join(cli.home, 'p/empty/deep'), { recursive: true });
    await chmod(join(cli.home, 'p/run.sh'), 0o755);
    await utimes(join(cli.home, 'p/run.sh'), 1_580_608_922.5, 1_580_608_922.5);
    assert.equal((await cli.run(['send', code, '-r', 'p'])).code, 0);

    const first = await cli.run(['fetch', code, '-o', 'out']);
    const warned = 'out/p/.envrc, out/p/.git/hooks/pre-commit';
    assert.equal(first.stderr, `Programs may run these files automatically; check them first: ${warned}.\n`);
    const names = ['.envrc', '.git/hooks/pre-commit', '_-x', 'größe/ü.txt', 'run.sh'];
    assert.deepEqual(await filesBelow(cli, 'out/p'), names);
    assert.deepEqual(await readdir(join(cli.home, 'out/p/empty')), ['deep']);
    const { mode, mtimeMs } = await stat(join(cli.home, 'out/p/run.sh'));
    assert.deepEqual([mode & 0o111, mtimeMs], [0o111, 1_580_608_922_500]);
    assert.equal((await stat(join(cli.home, 'out/p/.envrc'))).mode & 0o111, 0);

    // A folder that exists may be in use.
    await mkdir(join(cli.home, 'used/p'), { recursive: true });
    const second = await cli.run(['fetch', code, '-o', 'used']);
    assert.deepEqual([second.code, second.stderr], [0, '']);
    const prefixed = ['_-x', '_.envrc', '_.git/hooks/pre-commit', 'größe/ü.txt', 'run.sh'];
    assert.deepEqual(await filesBelow(cli, 'used/p'), prefixed);
    await put(cli, '.top');
    await cli.run(['send', code, '.top']);
    assert.equal((await cli.run(['fetch', code, '.top'])).stdout, '_.top\n');
    const kept = await cli.run(['fetch', code, '-o', 'used', '--keep-names', '--existing', 'skip']);
    assert.match(kept.stdout, /^used\/p\/-x$/m);
    assert.ok((await filesBelow(cli, 'used')).includes('.top'));
  });

  it('[CLI-101] ignores records that lead out of the folder or are malformed', async (t) => {
    const { server, cli, code } = await setUp(t);
    const room = createClient({ url: server.url }).room(code);
    const upload = (folder: string, name: string, bytes: string) => room.upload(new Blob([bytes]), { name, folder });
    const empty = ['../../out-of', '/etc/x', '.ssh', 'link/inside', 'x/'.repeat(5000)];
    const record = { modified: { a: 'soon', b: -1, __proto__: 1 }, executable: [1, '../a'], empty };
    await upload('f', 'a', 'x');
    await upload('f', '.poproom-folder.json', JSON.stringify(record));
    await upload('g', '.poproom-folder.json', '{"modified":[');
    await mkdir(join(cli.home, 'elsewhere'));
    await mkdir(join(cli.home, 'out/f'));
    await symlink('../../elsewhere', join(cli.home, 'out/f/link'));
    const { code: exit, stdout } = await cli.run(['fetch', code, '-o', 'out']);
    assert.deepEqual([exit, stdout], [0, 'out/f/a\nout/g/.poproom-folder.json\n']);
    assert.deepEqual(await readdir(join(cli.home, 'elsewhere')), []);
    assert.deepEqual((await readdir(join(cli.home, 'out'))).sort(), ['f', 'g']);
    const below = await readdir(join(cli.home, 'out/f'));
    assert.deepEqual(below.sort(), ['_.ssh', 'a', 'etc', 'file', 'link', 'x']);
  });

  it('[CLI-102] travels as one archive with --tar, which tar can read', async (t) => {
    const { server, cli, code } = await setUp(t);
    const long = `t/${'d'.repeat(120)}/${'ü'.repeat(100)}`;
    for (const path of ['t/.hidden', 't/sub/run.sh', long, 'single']) await put(cli, path);
    await mkdir(join(cli.home, 't/empty'));
    await writeFile(join(cli.home, 't/zero'), '');
    await writeFile(join(cli.home, 't/large'), Buffer.alloc(1_500_000, 'x'));
    await chmod(join(cli.home, 't/sub/run.sh'), 0o755);
    await utimes(join(cli.home, 't/sub/run.sh'), 1_580_608_922, 1_580_608_922);
    await symlink('zero', join(cli.home, 't/link'));
    const sent = await cli.run(['send', '--tar', code, 't', 'single', '--name', 'all.tar']);
    assert.deepEqual([sent.code, sent.stderr], [0, 'Skipped t/link: symbolic links are not followed.\n']);
    const { json } = await server.api.get(`/api/rooms/${code}/files`);
    assert.deepEqual([json.files.length, json.files[0].contentType], [1, 'application/x-tar']);
    assert.equal((await cli.run(['fetch', code, '-o', 'out'])).code, 0);
    assert.equal(spawnSync('tar', ['xf', 'all.tar'], { cwd: join(cli.home, 'out') }).stderr.toString(), '');
    const expected = [...(await filesBelow(cli, 't')).filter((path) => path !== 'link').map((path) => `t/${path}`)];
    assert.deepEqual(await filesBelow(cli, 'out'), ['all.tar', 'single', ...expected].sort());
    for (const path of expected) {
      assert.deepEqual(await readFile(join(cli.home, 'out', path)), await readFile(join(cli.home, path)), path);
    }
    const { mode, mtimeMs } = await stat(join(cli.home, 'out/t/sub/run.sh'));
    assert.deepEqual([mode & 0o111, mtimeMs], [0o111, 1_580_608_922_000]);
    assert.deepEqual(await readdir(join(cli.home, 'out/t/empty')), []);
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
