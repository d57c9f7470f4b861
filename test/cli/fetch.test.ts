/** `poproom fetch`: where files are written, what is not overwritten, and that no partial file remains. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { type Cli, type CliProcess, createCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer } from '../support/server.ts';
import { startLimitedProxy } from './limited-proxy.ts';
import { startUntrustedServer } from './untrusted-server.ts';

const MiB = 1024 * 1024;

async function setUp(t: TestContext, files: readonly (readonly [name: string, bytes: string | Buffer])[] = []) {
  const server = await sharedServer(t);
  const cli = await createCli(t, { POPROOM_URL: server.url });
  const code = await server.api.room();
  for (const [name, bytes] of files) await server.api.upload(code, name, new Uint8Array(Buffer.from(bytes)));
  await mkdir(join(cli.home, 'folder'));
  return { server, cli, code };
}

const fetched = async (cli: Cli, folder = 'folder') => (await readdir(join(cli.home, folder))).sort();
const contentOf = (cli: Cli, path: string) => readFile(join(cli.home, path));
/** Waits until a part of a file has bytes. An empty one is not kept. */
const hasPart = (cli: Cli, folder = 'folder') =>
  eventually('some of it is on the disk', async () => {
    const names = await readdir(join(cli.home, folder)).catch(() => []);
    const part = names.find((name) => name.endsWith('.part'));
    return part !== undefined && (await stat(join(cli.home, folder, part))).size > 0;
  });
const folderOf = (cli: Cli) => ({ cwd: join(cli.home, 'folder') });

describe('poproom fetch', () => {
  it('[slow] [CLI-13] writes all files into the current folder, numbers files of the same name, and prints their paths', async (t) => {
    const large = randomBytes(10 * MiB);
    const names = ['a.txt', 'empty', 'A.txt', 'größe.tar.gz', 'größe.tar.gz', 'a.txt'];
    const { cli, code } = await setUp(
      t,
      names.map((name, i) => [name, name === 'empty' ? '' : i === 3 ? large : `${i}`]),
    );
    const { code: exit, stdout, stderr } = await cli.run(['fetch', code], folderOf(cli));
    const expected = ['a.txt', 'empty', 'A (2).txt', 'größe.tar.gz', 'größe (2).tar.gz', 'a (3).txt'];
    assert.deepEqual([exit, stderr], [0, '']);
    assert.equal(stdout, expected.map((name) => `${name}\n`).join(''));
    assert.deepEqual(await fetched(cli), expected.sort());
    assert.deepEqual(await contentOf(cli, 'folder/größe.tar.gz'), large);
    assert.equal(String(await contentOf(cli, 'folder/a (3).txt')), '5');
  });

  it('[CLI-13] writes the newest file of a name to a folder, a path or standard output', async (t) => {
    const { cli, code } = await setUp(t, [
      ['n.txt', 'old'],
      ['n.txt', 'new'],
    ]);
    for (const [output, path] of [
      ['folder', 'folder/n.txt'],
      ['folder/', 'folder/n.txt'],
      ['folder/other', 'folder/other'],
      ['-own name', '-own name'],
    ] as const) {
      const { code: exit, stdout } = await cli.run(['fetch', code, 'n.txt', `--output=${output}`, '--force', '--json']);
      assert.equal(exit, 0);
      assert.deepEqual([JSON.parse(stdout)[0].fileName, JSON.parse(stdout)[0].path], ['n.txt', path]);
      assert.equal(String(await contentOf(cli, path)), 'new');
    }
    assert.deepEqual(await cli.run(['fetch', code, 'n.txt', '-o', '-']), { code: 0, stdout: 'new', stderr: '' });
    const discarded = await cli.run(['fetch', code, 'n.txt', '-o', '/dev/null']);
    assert.deepEqual(
      [discarded.code, discarded.stdout],
      [0, '/dev/null\n'],
      'a device is written to, and not replaced',
    );
  });

  it('[CLI-13] [ERR-9] lists a file of one byte', async (t) => {
    const { cli, code } = await setUp(t, [['a.txt', 'x']]);
    assert.equal((await cli.run(['fetch', code, '--list'])).stdout, '  a.txt  1 byte\n');
  });

  it('[CLI-13] lists the files, for people and for programs', async (t) => {
    const { cli, code } = await setUp(t, [['a\u202eb.txt', 'xy']]);
    const { stdout } = await cli.run(['fetch', code, '--list']);
    assert.match(stdout, /^ {2}ab\.txt {2}2 bytes\n$/);
    const [entry] = JSON.parse((await cli.run(['fetch', code, '--list', '--json'])).stdout);
    assert.deepEqual([entry.fileName, entry.fileSize], ['ab.txt', 2]);
    assert.deepEqual(await fetched(cli), []);
  });

  it('[CLI-13] does nothing in a room without files', async (t) => {
    const { cli, code } = await setUp(t);
    assert.deepEqual(await cli.run(['fetch', code]), { code: 0, stdout: '', stderr: '' });
    assert.equal((await cli.run(['fetch', code, '--json'])).stdout, '[]\n');
    assert.equal((await cli.run(['fetch', code, '-o', '-'])).code, 3);
  });

  it('[CLI-13] does not overwrite existing files, unless --force is given', async (t) => {
    const { cli, code } = await setUp(t, [
      ['first', 'theirs'],
      ['second', 'theirs'],
      ['third', 'theirs'],
    ]);
    await writeFile(join(cli.home, 'folder/second'), 'mine');
    await symlink('nowhere', join(cli.home, 'folder/third'));
    for (const name of [[], ['second'], ['third']]) {
      const { code: exit, stdout, stderr } = await cli.run(['fetch', code, ...name], folderOf(cli));
      assert.deepEqual([exit, stdout], [9, '']);
      assert.match(
        stderr,
        /^poproom: (second|third) already exists; use --force to overwrite it, or --existing skip or rename\.\n$/,
      );
    }
    assert.deepEqual(await fetched(cli), ['second', 'third'], 'all are looked at before one is fetched');
    assert.equal(String(await contentOf(cli, 'folder/second')), 'mine');
    assert.equal((await cli.run(['fetch', code, '--force'], folderOf(cli))).code, 0);
    assert.equal(String(await contentOf(cli, 'folder/second')), 'theirs');
  });

  it('[slow] [CLI-13] does not overwrite a file that appears during the download', async (t) => {
    const { server, cli, code } = await setUp(t, [['raced', randomBytes(4 * MiB)]]);
    const line = await startLimitedProxy(t, server.port, { down: MiB });
    const fetching = cli.start(['fetch', code, '--url', line.url], folderOf(cli));
    await line.paused;
    await writeFile(join(cli.home, 'folder/raced'), 'mine');
    line.resume();
    const { code: exit, stderr } = await fetching.result;
    assert.deepEqual(
      [exit, stderr],
      [9, 'poproom: raced already exists; use --force to overwrite it, or --existing skip or rename.\n'],
    );
    assert.deepEqual(await fetched(cli), ['raced']);
    assert.equal(String(await contentOf(cli, 'folder/raced')), 'mine');
  });

  it('[CLI-13] stays in its folder, whatever names the server sends', async (t) => {
    const cli = await createCli(t);
    const odd: [name: string, becomes: string][] = [
      ['../../escaped', 'escaped'],
      ['/etc/passwd', 'passwd'],
      ['..\\..\\windows', 'windows'],
      ['..', 'file'],
      ['.', 'file (2)'],
      ['', 'file (3)'],
      ['a/', 'file (4)'],
      ['-rf', '_-rf'],
      ['tab\tbell\x07nul\0.txt', 'tabbellnul.txt'],
      ['gpj\u202e.exe', 'gpj.exe'],
      ['👨‍👩‍👧.png', '👨‍👩‍👧.png'],
      [`${'ü'.repeat(200)}.txt`, `${'ü'.repeat(125)}.txt`],
      [`${'ü'.repeat(200)}.txt`, `${'ü'.repeat(123)} (2).txt`],
    ];
    const url = await startUntrustedServer(t, { names: odd.map(([name]) => name), bytes: 'x' });
    await mkdir(join(cli.home, 'folder'));
    const { code, stderr } = await cli.run(['fetch', '7KQ2MX', '--url', url], folderOf(cli));
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(await fetched(cli), odd.map(([, becomes]) => becomes).sort());
    assert.deepEqual(
      (await fetched(cli, '.')).filter((name) => !name.startsWith('.')),
      ['folder'],
    );
  });

  it('[CLI-13] rejects incorrect usage with one sentence each', async (t) => {
    const { cli, code } = await setUp(t, [
      ['a', '1'],
      ['b', '2'],
    ]);
    const wrong: [args: string[], exit: number, says: RegExp][] = [
      [['missing'], 3, /^poproom: There is no file "missing" in this room/],
      [['a', 'b'], 2, /^poproom: Name one file/],
      [['-o', '-'], 2, /^poproom: The room has 2 files; name the one/],
      [['-o', 'path'], 2, /^poproom: path is not a folder, but the room has 2 files/],
      [['-o', ''], 2, /^poproom: --output needs a folder, a path, or -/],
      [['a', '-o', '-', '--json'], 2, /Use either --output - or --json/],
      [['a', '-o', 'missing/a'], 9, /^poproom: missing does not exist\.\n/],
      [['a', '-f', '-o', '/dev/full'], 9, /^poproom: The disk is full; \/dev\/full was not written\.\n/],
    ];
    for (const [args, exit, says] of wrong) {
      const ended = await cli.run(['fetch', code, ...args]);
      assert.deepEqual([ended.code, ended.stdout], [exit, ''], args.join(' '));
      assert.match(ended.stderr, says);
      assert.equal(ended.stderr.split('\n').length, 2, 'one sentence');
    }
  });
});

describe('poproom fetch, during the download', () => {
  it('[CLI-11] shows a progress bar on a terminal, even if the output is redirected, and none in a pipe', async (t) => {
    const { cli, code } = await setUp(t, [['a.bin', randomBytes(MiB)]]);
    const { stdout } = await cli.terminal(`poproom fetch ${code} a.bin -o - > copy`).result;
    const [bar = '', ...rest] = stdout.split('\r\n');
    assert.match(bar.split('\r').at(-1) ?? '', /^a\.bin .*100% .*B\/s *$/);
    assert.deepEqual(rest, ['']);
    assert.equal((await contentOf(cli, 'copy')).length, MiB);
    assert.equal((await cli.run(['fetch', code])).stderr, '');
  });

  it('[slow] [CLI-14] [CLI-103] ends on Ctrl-C with 130, and the same command continues', async (t) => {
    const bytes = randomBytes(8 * MiB);
    const { server, cli, code } = await setUp(t, [['large', bytes]]);
    const line = await startLimitedProxy(t, server.port, { down: 2 * MiB });
    const fetching = cli.terminal(`poproom fetch ${code} -o folder --url ${line.url}`);
    await line.paused;
    await hasPart(cli);
    await fetching.waitForOutput(/large .*%/);
    fetching.type('\x03');
    const { code: exit, stdout } = await fetching.result;
    assert.equal(exit, 130);
    assert.ok(!/poproom:|Error/.test(stdout), 'it goes quietly');
    assert.match(stdout, /Run the same command again to continue\./);
    const [part = '', ...others] = await fetched(cli);
    assert.match(part, /^\.poproom-[\w-]+\.part$/);
    assert.deepEqual(others, []);

    // Changed bytes show that the beginning is not fetched again.
    const marked = await open(join(cli.home, 'folder', part), 'r+');
    await marked.write(Buffer.from('marked'), 0, 6, 0);
    await marked.close();
    line.resume();
    const again = await cli.run(['fetch', code, '-o', 'folder', '--url', line.url]);
    assert.deepEqual([again.code, again.stdout, again.stderr], [0, 'folder/large\n', '']);
    assert.ok((await contentOf(cli, 'folder/large')).equals(Buffer.concat([Buffer.from('marked'), bytes.subarray(6)])));
    assert.deepEqual(await fetched(cli), ['large']);
  });

  it('[CLI-103] starts again if the file or its ETag is another one, and refuses a part of someone else', async (t) => {
    const { server, cli, code } = await setUp(t, [['large', randomBytes(3 * MiB)]]);
    const line = await startLimitedProxy(t, server.port, { down: 2 * MiB });
    const fetching = cli.start(['fetch', code, '-o', 'folder', '--url', line.url]);
    await line.paused;
    await hasPart(cli);
    fetching.signal('SIGINT');
    assert.equal((await fetching.result).code, 130);
    line.resume();
    const [part = ''] = await fetched(cli);
    const inFolder = (name: string) => join(cli.home, 'folder', name);
    const start = part.slice(0, part.lastIndexOf('-') + 1);
    const other = `${start}${Buffer.from('"another"').toString('base64url')}.part`;
    await rename(inFolder(part), inFolder(other));
    const run = () => cli.run(['fetch', code, '-o', 'folder', '--url', line.url]);
    assert.equal((await run()).code, 0);
    const { json } = await server.api.get(`/api/rooms/${code}/files`);
    const stored = Buffer.from(await (await fetch(json.files[0].fileUrl)).arrayBuffer());
    assert.ok((await contentOf(cli, 'folder/large')).equals(stored));
    assert.deepEqual(await fetched(cli), ['large']);

    await rm(inFolder('large'));
    await writeFile(join(cli.home, 'elsewhere'), 'x');
    await symlink('../elsewhere', inFolder(part));
    const refused = await run();
    assert.deepEqual([refused.code, /is not a part of this file; remove it/.test(refused.stderr)], [9, true]);
    assert.equal((await contentOf(cli, 'elsewhere')).toString(), 'x');
  });

  it('[slow] [CLI-103] continues with the rest of an encrypted file', async (t) => {
    const { server, cli } = await setUp(t);
    const line = await startLimitedProxy(t, server.port, { down: 2 * MiB });
    const env = { POPROOM_URL: line.url };
    const code = (await cli.run(['new', '--encrypted'], { env })).stdout.trim();
    const bytes = randomBytes(4 * MiB);
    await writeFile(join(cli.home, 'large'), bytes);
    assert.equal((await cli.run(['send', code, 'large'], { env })).code, 0);
    const fetching = cli.start(['fetch', code, '-o', 'folder'], { env });
    await line.paused;
    await hasPart(cli);
    line.disconnect();
    assert.equal((await fetching.result).code, 8);
    assert.match((await fetched(cli)).join(), /^\.poproom-[0-9a-f]{24}-\.part$/);
    line.resume();
    assert.equal((await cli.run(['fetch', code, '-o', 'folder'], { env })).code, 0);
    assert.ok((await contentOf(cli, 'folder/large')).equals(bytes));
    assert.deepEqual(await fetched(cli), ['large']);
  });

  it('[slow] [CLI-103] continues with several files and folders that the interrupted command created', async (t) => {
    const { server, cli, code } = await setUp(t, []);
    const room = createClient({ url: server.url }).room(code);
    const large = randomBytes(3 * MiB);
    await room.upload(new Blob(['1']), { name: '.first', folder: 'p' });
    await room.upload(new Blob([large]), { name: '.large', folder: 'p' });
    const line = await startLimitedProxy(t, server.port, { down: 2 * MiB });
    const fetching = cli.start(['fetch', code, '-o', 'folder', '--url', line.url]);
    await line.paused;
    await hasPart(cli, 'folder/p');
    line.disconnect();
    assert.deepEqual([(await fetching.result).code, (await fetching.result).stdout], [8, 'folder/p/.first\n']);
    line.resume();
    const again = await cli.run(['fetch', code, '-o', 'folder', '--url', line.url]);
    assert.deepEqual([again.code, again.stdout], [0, 'folder/p/.large\n']);
    assert.ok((await contentOf(cli, 'folder/p/.large')).equals(large));
    assert.deepEqual((await fetched(cli, 'folder/p')).sort(), ['.first', '.large']);
    // The command is complete, so the next one is a new one.
    assert.equal((await cli.run(['fetch', code, '-o', 'folder', '--url', line.url])).code, 0);
    assert.deepEqual((await fetched(cli, 'folder/p')).sort(), ['.first', '.large', '_.first', '_.large']);
  });

  it('[CLI-14] keeps files that were complete when the connection breaks', async (t) => {
    const { server, cli, code } = await setUp(t, [
      ['small', 'x'],
      ['large', randomBytes(8 * MiB)],
    ]);
    const line = await startLimitedProxy(t, server.port, { down: 2 * MiB });
    const fetching = cli.start(['fetch', code, '-o', 'folder', '--url', line.url]);
    await line.paused;
    await hasPart(cli);
    line.disconnect();
    const { code: exit, stdout, stderr } = await fetching.result;
    assert.deepEqual([exit, stdout], [8, 'folder/small\n']);
    assert.match(
      stderr,
      /^Run the same command again to continue\.\nFetched: "small"; not fetched: "large"\.\npoproom: The connection was lost [^\n]*\n$/,
    );
    assert.match((await fetched(cli)).sort().join(' '), /^\.poproom-[\w-]+\.part small$/);
  });

  it('[CLI-14] rejects a file with fewer or more bytes than the room lists', async (t) => {
    const cli = await createCli(t);
    for (const fileSize of [4, 6]) {
      const url = await startUntrustedServer(t, { names: ['a'], bytes: '12345', fileSize });
      const { code, stderr } = await cli.run(['fetch', '7KQ2MX', '--url', url]);
      assert.equal(code, 8);
      assert.match(stderr, /^poproom: The connection was lost before "a" was complete; try again\.\n$/);
      assert.deepEqual(
        (await fetched(cli, '.')).filter((name) => !name.startsWith('.local')),
        [],
      );
    }
  });

  it('[CLI-14] reports a folder that is not writable', async (t) => {
    const { cli, code } = await setUp(t, [['a', 'x']]);
    await chmod(join(cli.home, 'folder'), 0o555);
    // To root every folder is open, except those that the system makes up.
    const closed = process.getuid?.() === 0 ? '/sys' : 'folder';
    const { code: exit, stdout, stderr } = await cli.run(['fetch', code, '-o', closed]);
    assert.deepEqual([exit, stdout, stderr], [9, '', `poproom: Permission denied: ${closed}\n`]);
  });

  it('[slow] [CLI-6] [CLI-14] fetches all files even if nobody reads its output', async (t) => {
    const { cli, code } = await setUp(t, [
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
    ]);
    const { stderr } = await cli.shell(`(poproom fetch ${code} -o folder; echo $? >&2) | true`).result;
    assert.equal(stderr, '0\n');
    assert.deepEqual(await fetched(cli), ['a', 'b', 'c']);
    const refused = await cli.shell(`(poproom fetch ${code} -o folder; echo $? >&2) | true`).result;
    assert.match(refused.stderr, /already exists.*\n9\n$/);
  });

  it('[slow] [CLI-14] leaves no file under its name after a hangup, or when its terminal is closed', async (t) => {
    const { server, cli, code } = await setUp(t, [['large', randomBytes(8 * MiB)]]);
    const fetching = async (start: (line: string) => CliProcess) => {
      const line = await startLimitedProxy(t, server.port, { down: 2 * MiB });
      const started = start(`poproom fetch ${code} -o folder --url ${line.url}`);
      await line.paused;
      await hasPart(cli);
      return started;
    };
    const hungUp = await fetching((line) => cli.shell(`exec ${line}`));
    hungUp.signal('SIGHUP');
    assert.equal((await hungUp.result).code, 129);
    const [part = '', ...others] = await fetched(cli);
    assert.deepEqual([/^\.poproom-[\w-]+\.part$/.test(part), others], [true, []]);
    await rm(join(cli.home, 'folder', part));

    const onScreen = await fetching(cli.terminal);
    await onScreen.waitForOutput(/large .*%/);
    onScreen.signal('SIGKILL');
    await onScreen.result;
    assert.match((await fetched(cli)).join(), /^\.poproom-[\w-]+\.part$/);
  });

  it('[slow] [CLI-14] ends quietly when its reader stops reading', async (t) => {
    const { cli, code } = await setUp(t, [['large', randomBytes(8 * MiB)]]);
    const { stdout, stderr } = await cli.shell(`(poproom fetch ${code} large -o -; echo $? >&2) | head -c 3 | wc -c`)
      .result;
    assert.deepEqual([stdout.trim(), stderr], ['3', '0\n']);
  });
});
