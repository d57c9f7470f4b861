/** `poproom send`: what it sends, its output, and what remains after an interruption. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { type Cli, createCli } from '../support/cli.ts';
import { storedBlobs } from '../support/data-folder.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';
import { startLimitedProxy } from './limited-proxy.ts';

const MiB = 1024 * 1024;

async function setUp(t: TestContext, room: { pin?: string } = {}, start = sharedServer) {
  const server = await start(t);
  const cli = await createCli(t, { POPROOM_URL: server.url });
  return { server, cli, code: await server.api.room(room) };
}

async function filesOf({ api }: TestServer, code: string, pin?: string) {
  const { json } = await api.get(`/api/rooms/${code}/files`, pin === undefined ? {} : { pin });
  return json.files as { fileName: string; fileSize: number; fileUrl: string; contentType: string }[];
}

const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());
const put = (cli: Cli, name: string, bytes: string | Buffer) => writeFile(join(cli.home, name), bytes);

describe('poproom send', () => {
  it('[slow] [CLI-10] sends files of all sizes, one after the other, and prints the URL of each', async (t) => {
    const { server, cli, code } = await setUp(t);
    const large = randomBytes(10 * MiB);
    await put(cli, 'größe 1.csv', 'a,b\n');
    await put(cli, 'empty', '');
    await put(cli, 'large.jpg', large);
    const { code: exit, stdout, stderr } = await cli.run(['send', code, 'größe 1.csv', 'empty', 'large.jpg']);
    assert.deepEqual([exit, stderr], [0, '']);
    const files = await filesOf(server, code);
    assert.equal(stdout, files.map(({ fileUrl }) => `${fileUrl}\n`).join(''));
    assert.deepEqual(
      files.map(({ fileName, contentType }) => [fileName, contentType]),
      [
        ['größe 1.csv', 'text/csv'],
        ['empty', 'application/octet-stream'],
        ['large.jpg', 'image/jpeg'],
      ],
    );
    assert.deepEqual(await bytesAt(files[2]?.fileUrl ?? ''), large);
  });

  it('[slow] [CLI-6] [CLI-10] sends all files even if nobody reads its output', async (t) => {
    const { server, cli, code } = await setUp(t);
    for (const name of ['a', 'b', 'c']) await put(cli, name, name);
    const { stderr } = await cli.shell(`(poproom send ${code} a b c; echo $? >&2) | true`).result;
    assert.equal(stderr, '0\n');
    assert.equal((await filesOf(server, code)).length, 3);
  });

  it('[CLI-10] accepts another name and another type, and prints the response with --json', async (t) => {
    const { server, cli, code } = await setUp(t);
    await put(cli, 'notes', 'x');
    const { stdout } = await cli.run(['send', code, 'notes', '--name', 'n.md', '--type', 'text/x-own', '--json']);
    const [file] = await filesOf(server, code);
    assert.deepEqual(JSON.parse(stdout), [{ fileUrl: file?.fileUrl, fileName: 'n.md', fileSize: 1 }]);
    assert.equal(file?.contentType, 'text/x-own');
  });

  it('[CLI-10] sends the output of another program', async (t) => {
    const { server, cli, code } = await setUp(t);
    await mkdir(join(cli.home, 'dir'));
    await put(cli, 'dir/file.txt', 'inside');
    const { code: exit } = await cli.shell(`tar c dir | poproom send ${code} - --name dir.tar`).result;
    assert.equal(exit, 0);
    const [file] = await filesOf(server, code);
    assert.deepEqual([file?.fileName, file?.contentType], ['dir.tar', 'application/x-tar']);
    assert.ok((await bytesAt(file?.fileUrl ?? '')).includes('inside'));
  });

  it('[CLI-10] checks all inputs first, and sends nothing if one of them cannot be sent', async (t) => {
    const { server, cli, code } = await setUp(t);
    await mkdir(join(cli.home, 'folder'));
    await put(cli, 'good', 'x');
    await put(cli, '11MB', Buffer.alloc(10 * MiB + 1));
    const wrong: [args: string[], exit: number, says: RegExp, stdin?: Buffer][] = [
      [[], 2, /^poproom: There is no file .*; if it is a room code, give the paths of the files after it/],
      [['good', 'missing'], 9, /^poproom: missing does not exist\.\n$/],
      [['good', 'folder'], 2, /^poproom: folder is a folder; add -r to send the files in it\.\n$/],
      [['good', 'good/below'], 9, /^poproom: good\/below /],
      [['good', '11MB'], 6, /^poproom: 11MB is too large: this server accepts files of up to 10 MiB\.\n$/],
      [
        ['-', '--name', 'n'],
        6,
        /^poproom: n is too large: this server accepts files of up to 10 MiB\.\n$/,
        Buffer.alloc(11 * MiB),
      ],
      [['-'], 2, /Standard input needs a file name/, Buffer.from('x')],
      [['good', '--name', ''], 2, /^poproom: --name must not be empty/],
      [['good', 'good', '--name', 'n'], 2, /^poproom: --name needs exactly one file/],
      [['good', '--type', 'no type'], 2, /^poproom: "no type" is not a valid media type/],
      [['good', '--type', 'multipart/form-data'], 2, /is not a valid media type for a file/],
      [['good', '--typ', 'a/b'], 2, /--typ/],
    ];
    for (const [args, exit, says, stdin] of wrong) {
      const result = await cli.run(['send', code, ...args], stdin && { stdin });
      assert.deepEqual([result.code, result.stdout], [exit, ''], args.join(' '));
      assert.match(result.stderr, says);
      assert.equal(result.stderr.split('\n').length, 2, 'one sentence');
    }
    assert.deepEqual(await filesOf(server, code), []);
  });

  it('[slow] [CLI-10] asks for the PIN of the room until it is correct, and reads its input once', async (t) => {
    const { server, cli, code } = await setUp(t, { pin: '0427' });
    const sending = cli.terminal(`sh -c 'printf hello | poproom send ${code} - --name hello.txt'`);
    await sending.waitForOutput(`PIN of room ${code}: `);
    sending.type('1111\r');
    await sending.waitForOutput(/tries left[\s\S]*PIN of room/);
    sending.type('0427\r');
    assert.equal((await sending.result).code, 0);
    const [file] = await filesOf(server, code, '0427');
    assert.equal(String(await bytesAt(file?.fileUrl ?? '')), 'hello');
    // As a whole word: the URL of the file may contain the digits.
    assert.doesNotMatch(sending.stdout(), /\b0427\b/, 'the PIN is not shown');
  });
});

describe('poproom send, during the upload', () => {
  it('[slow] [CLI-11] shows a progress bar on a terminal, in one line that fits', async (t) => {
    const { cli, code } = await setUp(t);
    const name = `${'long '.repeat(30)}名前.bin`;
    await put(cli, name, randomBytes(4 * MiB));
    for (const columns of [80, 40, 16]) {
      const { code: exit, stdout } = await cli.terminal(`poproom send ${code} '${name}'`, { columns }).result;
      assert.equal(exit, 0);
      const [bar = '', address = ''] = stdout.split('\r\n');
      const states = bar.split('\r').filter(Boolean).map(stripVTControlCharacters);
      assert.ok(states.every((state) => state.length < columns));
      assert.match(states.at(-1) ?? '', columns < 20 ? /^100% long/ : /^long.*… .*100% {2}[\d.]+ .?iB\/s/);
      assert.match(address, /^http:/);
    }
  });

  it('[slow] [CLI-11] shows the speed and the time left', async (t) => {
    const { server, cli, code } = await setUp(t);
    const line = await startLimitedProxy(t, server.port, { up: 3 * MiB });
    await put(cli, 'large', randomBytes(8 * MiB));
    const sending = cli.terminal(`poproom send ${code} large --url ${line.url}`);
    await sending.waitForOutput(/ \d\d?% {2}[\d.]+ .?iB\/s +\d+ s left/);
    line.resume();
    assert.equal((await sending.result).code, 0);
    assert.match(sending.stdout(), /100% {2}[\d.]+ .?iB\/s\s+http/, 'at the end, nothing is left');
  });

  it('[slow] [CLI-11] uses colours, unless NO_COLOR is set', async (t) => {
    const { cli, code } = await setUp(t);
    await put(cli, 'a', 'x');
    const colourful = await cli.terminal(`poproom send ${code} a`).result;
    const plain = await cli.terminal(`poproom send ${code} a`, { env: { NO_COLOR: '1' } }).result;
    assert.ok(colourful.stdout.includes('\x1b[32m'));
    assert.match(plain.stdout, /100%/);
    assert.ok(!plain.stdout.includes('\x1b'));
  });

  it('[CLI-12] continues automatically after a broken connection', async (t) => {
    const { server, cli, code } = await setUp(t);
    const line = await startLimitedProxy(t, server.port, { up: 4 * MiB });
    const bytes = randomBytes(8 * MiB);
    await put(cli, 'large', bytes);
    const sending = cli.start(['send', code, 'large', '--url', line.url]);
    await line.paused;
    line.disconnect();
    line.resume();
    const { code: exit, stderr } = await sending.result;
    assert.deepEqual([exit, stderr], [0, '']);
    const [file] = await filesOf(server, code);
    assert.deepEqual(await bytesAt(file?.fileUrl ?? ''), bytes);
    assert.ok(line.sent < 11 * MiB, `sent ${line.sent} bytes`);
  });

  it('[slow] [CLI-12] names the files that were sent when the server rejects one', async (t) => {
    const { server, cli, code } = await setUp(t, {}, startTestServer);
    const line = await startLimitedProxy(t, server.port, { up: 2 * MiB });
    await put(cli, 'small', 'x');
    await put(cli, 'large', randomBytes(10 * MiB));
    const sending = cli.start(['send', code, 'small', 'large', 'small', '--url', line.url, '--json']);
    await line.paused;
    await server.api.delete(`/api/rooms/${code}`);
    line.resume();
    const { code: exit, stdout, stderr } = await sending.result;
    assert.equal(exit, 3, stderr);
    assert.deepEqual(
      JSON.parse(stdout).map(({ fileName }: { fileName: string }) => fileName),
      ['small'],
    );
    assert.equal(JSON.parse(stderr).error.code, 'ROOM_NOT_FOUND');
    await eventually('nothing is left', async () => (await storedBlobs(server.folder)).length === 0);
  });

  it('[slow] [CLI-12] does not send a file that changes during the upload', async (t) => {
    const { server, cli, code } = await setUp(t);
    const line = await startLimitedProxy(t, server.port, { up: 2 * MiB });
    await put(cli, 'log', randomBytes(8 * MiB));
    const sending = cli.start(['send', code, 'log', '--url', line.url]);
    await line.paused;
    await put(cli, 'log', randomBytes(9 * MiB));
    line.resume();
    const { code: exit, stderr } = await sending.result;
    assert.deepEqual([exit, stderr], [9, 'poproom: "log" changed during the upload and was not sent; try again.\n']);
    assert.deepEqual(await filesOf(server, code), []);
  });
});
