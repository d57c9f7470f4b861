/** `poproom watch` prints each text, or runs a command for it, until the room ends. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Cli, createCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { saveState } from '../support/saved-state.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

async function setUp(t: TestContext, room: { pin?: string } = {}, start = sharedServer) {
  // The tests look again and again.
  const server = await start(t, { POPROOM_FREE_LIMIT: '0' });
  const proxy = await startTcpProxy(t, () => server.port);
  const cli = await createCli(t, { POPROOM_URL: proxy.url });
  return { server, proxy, cli, code: await server.api.room(room) };
}

const write = ({ api }: TestServer, code: string, content: string) =>
  api.post(`/api/rooms/${code}/content`, { json: { content } });

const contentOf = (cli: Cli, name: string) => readFile(join(cli.home, name), 'utf8').catch(() => '');

const devicesIn = async ({ api }: TestServer, code: string): Promise<number> =>
  (await api.get(`/api/rooms/${code}`)).json.deviceCount;

/** An empty room prints nothing, so wait until the device is in the room. */
const isWatched = (server: TestServer, code: string) =>
  eventually('someone watches', async () => (await devicesIn(server, code)) === 1);

/** Before the next device joins, or it would not be noticed. */
const isLeft = (server: TestServer, code: string) =>
  eventually('it has left', async () => (await devicesIn(server, code)) === 0);

describe('poproom watch --files', () => {
  it('[CLI-106] prints added and removed files, also those of an interruption', async (t) => {
    const { server, proxy, cli, code } = await setUp(t);
    const upload = async (name: string) => (await server.api.upload(code, name, 'abc')).json.fileId as string;
    await upload('before');
    const watching = cli.start(['watch', code, '--files']);
    await isWatched(server, code);
    const id = await upload('a\u0007');
    await watching.waitForOutput('added a');
    proxy.disconnect();
    proxy.pause();
    await server.api.delete(`/api/rooms/${code}/files/${id}`);
    proxy.resume();
    await watching.waitForOutput('removed');
    watching.signal('SIGINT');
    const { code: exit, stdout } = await watching.result;
    assert.deepEqual([exit, stdout], [130, 'added a (3 bytes)\nremoved a (3 bytes)\n']);

    await isLeft(server, code);
    const next = cli.start(['watch', code, '--files', '--once', '--json']);
    await isWatched(server, code);
    await upload('next');
    const once = await next.result;
    assert.equal(once.code, 0);
    assert.equal(JSON.parse(once.stdout).fileName, 'next');
    assert.match((await cli.run(['watch', code, '--files', '--exec', 'cat'])).stderr, /Use either --files or --exec/);
  });
});

describe('poproom watch', () => {
  it('[CLI-15] prints the current text and each later one, on lines of their own', async (t) => {
    const { server, cli, code } = await setUp(t);
    await write(server, code, 'first');
    const watching = cli.start(['watch', code]);
    await watching.waitForOutput('first\n');
    await write(server, code, 'second\n');
    await watching.waitForOutput('second\n');
    await write(server, code, '');
    await watching.waitForOutput('second\n\n');
    await write(server, code, 'ü\u0007');
    await watching.waitForOutput('ü');
    watching.signal('SIGINT');
    assert.deepEqual(await watching.result, { code: 130, stdout: 'first\nsecond\n\nü\u0007\n', stderr: '' });
  });

  it('[slow] [CLI-15] waits for the first text of an empty room, and prints each as one line of JSON', async (t) => {
    const { server, cli, code } = await setUp(t);
    const watching = cli.start(['watch', code, '--json']);
    await isWatched(server, code);
    await write(server, code, 'a\nb');
    await watching.waitForOutput('}\n');
    const { content, version, timestamp } = JSON.parse(watching.stdout());
    assert.deepEqual([content, version], ['a\nb', 1]);
    assert.equal(new Date(timestamp).toISOString(), timestamp);
  });

  it('[slow] [CLI-15] prints the whole text after a partial edit, and nothing for a write that changes nothing', async (t) => {
    const { server, cli, code } = await setUp(t);
    const path = `/api/rooms/${code}/content`;
    await write(server, code, 'one\ntwo\n');
    const watching = cli.start(['watch', code]);
    await watching.waitForOutput('one\ntwo\n');
    await server.api.patch(path, { json: { edits: [{ from: 4, to: 7, insert: '2' }] } });
    await watching.waitForOutput('one\n2\n');
    await write(server, code, 'one\n2\n');
    await server.api.patch(path, { json: { append: 'end\n' } });
    await watching.waitForOutput('one\n2\nend\n');
    assert.equal(watching.stdout(), 'one\ntwo\none\n2\none\n2\nend\n');
  });

  it('[slow] [CLI-15] prints no control sequences on a terminal', async (t) => {
    const { server, cli, code } = await setUp(t);
    await write(server, code, 'a\x1b[2Jb\r\nc\td\re 👨‍👩‍👧');
    const watching = cli.terminal(`poproom watch ${code}`);
    await watching.waitForOutput('a\u{fffd}[2Jb');
    await watching.waitForOutput('c\td\u{fffd}e 👨‍👩‍👧\r\n');
    watching.type('\x03');
    const { code: exit, stdout } = await watching.result;
    assert.equal(exit, 130);
    assert.ok(!stdout.includes('\x1b'));
  });

  it('[CLI-15] runs a command for each text, which may fail or leave the text unread', async (t) => {
    const { server, cli, code } = await setUp(t);
    await write(server, code, 'one');
    const command = 'echo "$POPROOM_CODE $POPROOM_VERSION $(cat)"; [ $POPROOM_VERSION -ne 2 ] || exit 3';
    const watching = cli.start(['watch', code, '--exec', command]);
    await watching.waitForOutput(`${code} 1 one\n`);
    await write(server, code, 'two');
    await watching.waitForOutput('poproom: The command failed with exit code 3.\n');
    await write(server, code, 'three');
    await watching.waitForOutput(`${code} 3 three\n`);
    watching.signal('SIGTERM');
    assert.equal((await watching.result).code, 143);

    await write(server, code, 'x'.repeat(1_000_000));
    const unread = cli.start(['watch', code, '-x', 'echo "$POPROOM_VERSION"']);
    await unread.waitForOutput('4\n');
    assert.equal(unread.stderr(), '');
  });

  it('[slow] [CLI-15] runs one command at a time, and then only for the newest text', async (t) => {
    const { server, cli, code } = await setUp(t);
    const gate = join(cli.home, 'gate');
    execFileSync('mkfifo', [gate]);
    await write(server, code, '1');
    const command = 'mkdir busy || echo twice >> log; (cat; echo) >> log; [ -e open ] || read go < gate; rmdir busy';
    cli.start(['watch', code, '-x', command]);
    const log = () => contentOf(cli, 'log');
    await eventually('the first one runs', async () => (await log()) === '1\n');
    const beside = cli.start(['watch', code]);
    for (let n = 2; n <= 21; n++) await write(server, code, `${n}`);
    await beside.waitForOutput('21\n');
    await writeFile(join(cli.home, 'open'), '');
    await writeFile(gate, 'go\n');
    await eventually('the newest runs', async () => (await log()).endsWith('21\n'));
    const runs = (await log()).trim().split('\n');
    assert.ok(runs.length < 20, `${runs}`);
    assert.ok(!runs.includes('twice'));
  });

  it('[slow] [CLI-15] keeps only the newest text for a slow reader', async (t) => {
    const { server, cli, code } = await setUp(t);
    const gate = join(cli.home, 'gate');
    execFileSync('mkfifo', [gate]);
    await write(server, code, 'begin');
    const slow = cli.shell(
      `poproom watch ${code} | { read first; echo "$first"; read go < gate; sed -u 's/ x.*/ x/'; }`,
    );
    await slow.waitForOutput('begin\n');
    const beside = cli.start(['watch', code]);
    const padding = 'x'.repeat(200_000);
    for (let n = 1; n <= 20; n++) await write(server, code, `text ${String(n).padStart(2, '0')} ${padding}`);
    await beside.waitForOutput('text 20');
    await writeFile(gate, 'go\n');
    await slow.waitForOutput('text 20');
    await server.api.delete(`/api/rooms/${code}`);
    await beside.result;
    const shown = (await slow.result).stdout.trim().split('\n');
    assert.equal(shown.at(-1), 'text 20 x');
    assert.ok(shown.length < 10, `${shown}`);
    assert.deepEqual(shown, shown.toSorted(), 'in order');
  });

  it('[CLI-15] waits for the next text with --once, and ends with the exit code of the command', async (t) => {
    const { server, cli, code } = await setUp(t);
    await write(server, code, 'old');
    const printing = cli.start(['watch', code, '--once']);
    await isWatched(server, code);
    await write(server, code, 'new');
    assert.deepEqual(await printing.result, { code: 0, stdout: 'new\n', stderr: '' });
    await isLeft(server, code);

    const running = cli.start(['watch', code, '--once', '--exec', 'cat; exit 7']);
    await isWatched(server, code);
    await write(server, code, 'newer');
    assert.deepEqual(await running.result, { code: 7, stdout: 'newer', stderr: '' });
  });

  it('[slow] [CLI-15] asks for the PIN first', async (t) => {
    const { server, cli, code } = await setUp(t, { pin: '0427' });
    await server.api.post(`/api/rooms/${code}/content`, { json: { content: 'hidden' }, pin: '0427' });
    const watching = cli.terminal(`poproom watch ${code}`);
    await watching.waitForOutput(`PIN of room ${code}: `);
    watching.type('0427\r');
    await watching.waitForOutput('hidden\r\n');
    watching.type('\x03');
    assert.equal((await watching.result).code, 130);
  });
});

describe('poproom watch, after failures', () => {
  it('[slow] [CLI-16] reconnects after an interruption, and prints what was written during it', async (t) => {
    const { server, proxy, cli, code } = await setUp(t, {}, startTestServer);
    await write(server, code, 'before');
    const watching = cli.terminal(`poproom watch ${code}`);
    await watching.waitForOutput('before\r\n');
    proxy.pause();
    proxy.disconnect();
    await watching.waitForOutput('Connection lost.');
    await write(server, code, 'meanwhile');
    await write(server, code, 'and more');
    proxy.resume();
    await watching.waitForOutput('Reconnected.\r\nmeanwhile\r\nand more\r\n');
    assert.equal(watching.stdout().split('before').length, 2, 'nothing is printed twice');
    await server.restart();
    await write(server, code, 'after');
    await watching.waitForOutput('after\r\n');
  });

  it('[slow] [CLI-16] continues with the current text when the server has lost the newest one', async (t) => {
    const { server, cli, code } = await setUp(t, {}, startTestServer);
    await write(server, code, 'kept');
    const goBack = await saveState(server);
    const watching = cli.start(['watch', code]);
    await watching.waitForOutput('kept\n');
    await write(server, code, 'lost');
    await watching.waitForOutput('lost\n');
    await goBack();
    await watching.waitForOutput('kept\nlost\nkept\n');
    await write(server, code, 'other');
    await watching.waitForOutput('kept\nlost\nkept\nother\n');
  });

  it('[slow] [CLI-16] ends with 0 when the room is deleted, even during an interruption', async (t) => {
    const { server, proxy, cli, code } = await setUp(t);
    await write(server, code, 'x');
    const [near, away] = [cli.terminal(`poproom watch ${code}`), cli.terminal(`poproom watch ${code}`)];
    for (const one of [near, away]) await one.waitForOutput('x\r\n');
    const direct = cli.start(['watch', code, '--url', server.url]);
    await direct.waitForOutput('x\n');
    proxy.pause();
    proxy.disconnect();
    await server.api.delete(`/api/rooms/${code}`);
    assert.deepEqual(await direct.result, { code: 0, stdout: 'x\n', stderr: '' });
    proxy.resume();
    for (const one of [near, away]) {
      const { code: exit, stdout } = await one.result;
      assert.equal(exit, 0);
      assert.match(stdout, /The room was deleted\.\r\n$/);
    }
  });

  it('[slow] [CLI-16] finishes the command for the last text before it ends', async (t) => {
    const { server, cli, code } = await setUp(t);
    const gate = join(cli.home, 'gate');
    execFileSync('mkfifo', [gate]);
    await write(server, code, 'last');
    const watching = cli.start(['watch', code, '-x', 'echo begun; read go < gate; cat']);
    await watching.waitForOutput('begun\n');
    await server.api.delete(`/api/rooms/${code}`);
    await writeFile(gate, 'go\n');
    assert.deepEqual(await watching.result, { code: 0, stdout: 'begun\nlast', stderr: '' });
  });

  it('[slow] [CLI-16] fails with --once when the room ends before its text changes', async (t) => {
    const { server, cli, code } = await setUp(t);
    const watching = cli.start(['watch', code, '--once']);
    await isWatched(server, code);
    await server.api.delete(`/api/rooms/${code}`);
    const { code: exit, stdout, stderr } = await watching.result;
    assert.deepEqual([exit, stdout], [3, '']);
    assert.equal(stderr, 'poproom: The room was deleted before the text changed.\n');
  });

  it('[slow] [CLI-16] ends quietly when its reader stops reading', async (t) => {
    const { server, cli, code } = await setUp(t);
    await write(server, code, 'one');
    const watching = cli.shell(`(poproom watch ${code}; echo $? >&2) | head -n 1`);
    await watching.waitForOutput('one\n');
    await eventually('it notices', async () => {
      await write(server, code, `more ${Math.random()}`);
      return watching.stderr() !== '';
    });
    assert.deepEqual(await watching.result, { code: 0, stdout: 'one\n', stderr: '0\n' });
  });

  it('[CLI-16] rejects incorrect usage with one sentence each', async (t) => {
    const { cli, code } = await setUp(t);
    const wrong: [args: string[], exit: number, says: RegExp][] = [
      [[code, 'more'], 2, /takes only a room code/],
      [[code, '--exec', ' '], 2, /^poproom: Which command\?/],
      [[code, '--exec'], 2, /--exec/],
    ];
    for (const [args, exit, says] of wrong) {
      const ended = await cli.run(['watch', ...args]);
      assert.deepEqual([ended.code, ended.stdout], [exit, ''], args.join(' '));
      assert.match(ended.stderr, says);
    }
  });
});
