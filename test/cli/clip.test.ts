/** `poproom clip` keeps the clipboard and the room in sync. The clipboard is a file, behind a program like xclip. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { readWith, writeWith } from '../../src/cli/room/clip.ts';
import { type Cli, createCli } from '../support/cli.ts';
import { copy, holds, installProgram, installXclip, pasted, xclip } from '../support/clipboard.ts';
import { eventually } from '../support/eventually.ts';
import { saveState } from '../support/saved-state.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

async function setUp(t: TestContext, env: Record<string, string> = { DISPLAY: ':0' }, start = sharedServer) {
  // The tests look again and again.
  const server = await start(t, { POPROOM_FREE_LIMIT: '0' });
  const proxy = await startTcpProxy(t, () => server.port);
  const cli = await createCli(t, { POPROOM_URL: proxy.url, ...env });
  const code = await server.api.room();
  await installXclip(cli);
  const path = `/api/rooms/${code}/content`;
  return {
    server,
    proxy,
    cli,
    code,
    write: (content: string) => server.api.post(path, { json: { content } }),
    text: async () => (await server.api.get(path)).json.content as string,
  };
}

const looks = async (cli: Cli) => (await readFile(join(cli.home, 'looks'), 'utf8')).length / 'look\n'.length;
describe('poproom clip', () => {
  it('[CLI-17] starts with the text of the room, and then passes on each change in both directions', async (t) => {
    const { cli, code, write, text } = await setUp(t);
    await copy(cli, 'from before');
    await write('from the room');
    const clipping = cli.start(['clip', code, '--json']);
    await holds(cli, 'from the room');
    await copy(cli, 'kopiert: ü 👍\n');
    await eventually('the room has it', async () => (await text()) === 'kopiert: ü 👍\n');
    await write('and back');
    await holds(cli, 'and back');
    await clipping.waitForOutput(/"version":3/);
    clipping.signal('SIGINT');
    const { code: exit, stdout, stderr } = await clipping.result;
    assert.deepEqual([exit, stderr], [130, '']);
    assert.deepEqual(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
      [
        { to: 'clipboard', version: 1, bytes: 13 },
        { to: 'room', version: 2, bytes: 17 },
        { to: 'clipboard', version: 3, bytes: 8 },
      ],
    );
  });

  it('[slow] [CLI-17] starts with the clipboard if the room has no text', async (t) => {
    const { cli, code, text } = await setUp(t);
    await copy(cli, 'mine');
    const clipping = cli.terminal(`poproom clip ${code}`);
    await clipping.waitForOutput('Clipboard → room\r\n');
    assert.deepEqual([await text(), await pasted(cli)], ['mine', 'mine']);
    clipping.type('\x03');
    assert.equal((await clipping.result).code, 130);
    assert.equal(await pasted(cli), 'mine');
  });

  it('[slow] [CLI-17] prefers the newer text of the room to text that was copied at the same time, and reports it', async (t) => {
    const { proxy, cli, code, write, text } = await setUp(t);
    await write('both');
    const clipping = cli.start(['clip', code]);
    await holds(cli, 'both');
    proxy.pause();
    await write('theirs');
    await copy(cli, 'mine');
    proxy.resume();
    await clipping.waitForOutput('The text of the room was newer and replaced the copied text.\n');
    assert.deepEqual([await text(), await pasted(cli)], ['theirs', 'theirs']);
  });

  it('[slow] [CLI-17] removes a copied text from the room again if the room changed before it arrived', async (t) => {
    const { proxy, cli, code, server, write, text } = await setUp(t);
    await write('the text of both');
    const clipping = cli.start(['clip', code]);
    await holds(cli, 'the text of both');
    proxy.pauseResponses();
    await write('the newer text of both');
    await copy(cli, 'copied');
    const version = async () => (await server.api.get(`/api/rooms/${code}/content`)).headers.get('etag');
    await eventually('the copied text arrived', async () => (await version()) === '"3"');
    proxy.resume();
    await clipping.waitForOutput('The text of the room was newer and replaced the copied text.\n');
    assert.deepEqual([await text(), await pasted(cli)], ['the newer text of both', 'the newer text of both']);
    await copy(cli, 'copied again');
    await eventually('the room has it', async () => (await text()) === 'copied again');
  });

  it('[slow] [CLI-17] passes on text that was copied while the connection was lost', async (t) => {
    const { proxy, cli, code, write, text } = await setUp(t);
    await write('both');
    const clipping = cli.terminal(`poproom clip ${code}`);
    await holds(cli, 'both');
    proxy.pause();
    proxy.disconnect();
    await clipping.waitForOutput('Connection lost.');
    await copy(cli, 'while away');
    proxy.resume();
    await eventually('the room has it', async () => (await text()) === 'while away');
  });

  it('[slow] [CLI-17] does not change the room if the clipboard has another form of its text', async (t) => {
    const { cli, code, write, text } = await setUp(t);
    // With other line endings, and up to a NUL.
    await installProgram(
      cli,
      'xclip',
      xclip.replace('cat >', String.raw`tr '\000' '\001' | sed 's/\x01.*//; $!s/$/\r/' >`),
    );
    await write('one\ntwo\0three');
    cli.start(['clip', code]);
    await holds(cli, 'one\r\ntwo');
    const before = await looks(cli);
    await eventually('it was looked at', async () => (await looks(cli)) >= before + 2);
    assert.equal(await text(), 'one\ntwo\0three');
    await copy(cli, 'mine\r\n');
    await eventually('the room has it', async () => (await text()) === 'mine\r\n');
  });

  it('[slow] [CLI-17] continues with the current text when the server has lost the newest one', async (t) => {
    const { server, cli, code, write, text } = await setUp(t, undefined, startTestServer);
    await write('kept');
    const goBack = await saveState(server);
    cli.start(['clip', code]);
    await holds(cli, 'kept');
    for (const lost of ['lost', 'lost too']) await write(lost);
    await holds(cli, 'lost too');
    await goBack();
    await holds(cli, 'kept');
    await write('other');
    await holds(cli, 'other');
    await copy(cli, 'mine');
    await eventually('the room has it', async () => (await text()) === 'mine');
  });

  it('[slow] [CLI-17] ends with 0 when the room is deleted', async (t) => {
    const { server, cli, code, write } = await setUp(t);
    await write('x');
    const clipping = cli.start(['clip', code]);
    await holds(cli, 'x');
    await server.api.delete(`/api/rooms/${code}`);
    assert.deepEqual(await clipping.result, { code: 0, stdout: '', stderr: '' });
  });

  it('[slow] [CLI-18] does not change the room when a picture or more than 1 MiB is copied', async (t) => {
    const { cli, code, write, text } = await setUp(t);
    await write('stays');
    const clipping = cli.start(['clip', code]);
    await holds(cli, 'stays');
    await copy(cli, new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff]));
    const before = await looks(cli);
    await eventually('it was looked at', async () => (await looks(cli)) >= before + 2);
    assert.equal(await text(), 'stays');
    await copy(cli, 'ü'.repeat(600_000));
    await clipping.waitForOutput('The copied text was not sent to the room: it is larger than 1 MiB.\n');
    assert.equal(await text(), 'stays');
    await copy(cli, 'ü'.repeat(500_000));
    await eventually('the room has it', async () => (await text()).length === 500_000);
    assert.equal(clipping.stderr().split('\n').length, 2, 'the notice is printed once');
  });

  it('[slow] [CLI-18] reports why the server rejected a text, and continues', async (t) => {
    const { server, cli, code, write, text } = await setUp(t, undefined, startTestServer);
    await server.restart({ POPROOM_CONTENT_MAX: '100' });
    await write('stays');
    const clipping = cli.start(['clip', code]);
    await holds(cli, 'stays');
    await copy(cli, 'x'.repeat(101));
    await clipping.waitForOutput(
      'The copied text was not sent to the room: The text exceeds the limit of 100 bytes of UTF-8.\n',
    );
    assert.equal(await text(), 'stays');
    await copy(cli, 'short enough');
    await eventually('the room has it', async () => (await text()) === 'short enough');
    await write('and back');
    await holds(cli, 'and back');
    assert.equal(clipping.stderr().split('\n').length, 2, 'it is reported once');
  });

  it('[CLI-18] says what to install if there is no clipboard program', async (t) => {
    const { cli, code } = await setUp(t, {});
    // With nothing but Node on the path, so that no program of this machine is found.
    const runClip = async (env: Record<string, string>) => cli.run(['clip', code], { env: { PATH: cli.home, ...env } });
    for (const [env, names] of [
      [{}, /WAYLAND_DISPLAY or DISPLAY.*wl-clipboard or xclip/],
      [{ DISPLAY: ':0' }, /install xclip or xsel/],
      [{ WAYLAND_DISPLAY: 'wayland-0' }, /install wl-clipboard/],
    ] as const) {
      const { code: exit, stdout, stderr } = await runClip(env);
      assert.deepEqual([exit, stdout], [1, '']);
      assert.match(stderr, names);
      assert.match(stderr, /^poproom: [^\n]+\n$/);
    }
  });

  it('[CLI-18] uses the clipboard program of the operating system', async (t) => {
    const { cli, code, write } = await setUp(t, { WAYLAND_DISPLAY: 'wayland-0', DISPLAY: ':0' });
    await installProgram(cli, 'wl-copy', '#!/bin/sh\ncat > "$HOME/wayland"\n');
    await installProgram(cli, 'wl-paste', '#!/bin/sh\nexit 1\n');
    await write('x');
    cli.start(['clip', code]);
    await eventually(
      'Wayland has it',
      async () => (await readFile(join(cli.home, 'wayland'), 'utf8').catch(() => '')) === 'x',
    );
    assert.equal(await pasted(cli), undefined);
  });

  it('[slow] [CLI-18] ends on Ctrl-C while the clipboard program hangs', async (t) => {
    const { cli, code, write } = await setUp(t);
    await write('x');
    for (const way of ['-out', '-in']) {
      await installProgram(
        cli,
        'xclip',
        `#!/bin/sh\n[ "$3" = ${way} ] || exit 0\ntouch "$HOME/${way}"\nexec sleep 60\n`,
      );
      const clipping = cli.start(['clip', code]);
      await eventually('it hangs', () => existsSync(join(cli.home, way)));
      clipping.signal('SIGINT');
      const { code: exit, stderr } = await clipping.result;
      assert.deepEqual([exit, stderr], [130, '']);
    }
  });

  it('[CLI-18] does not wait forever for a program that hangs', async () => {
    const hanging = ['sh', '-c', 'exec sleep 60'] as const;
    const within = () => ({ signal: new AbortController().signal, withinMs: 100 });
    await assert.rejects(readWith(hanging, within()), /^Error: Cannot access the clipboard: sh does not respond\.$/);
    await assert.rejects(writeWith(hanging, 'x', within()), /sh does not respond/);
  });

  it('[slow] [CLI-18] ends with one sentence when the clipboard does not work', async (t) => {
    const { cli, code, write } = await setUp(t);
    await write('x');
    await installProgram(cli, 'xclip', '#!/bin/sh\necho "Error: Can\'t open display: :0" >&2\nexit 1\n');
    const unread = await cli.run(['clip', code]);
    assert.equal(unread.code, 1);
    assert.equal(unread.stderr, 'poproom: xclip cannot access the clipboard; check DISPLAY or WAYLAND_DISPLAY.\n');
    await installProgram(cli, 'xclip', '#!/bin/sh\nexit 1\n');
    const unwritten = await cli.run(['clip', code]);
    assert.equal(unwritten.code, 1);
    assert.equal(unwritten.stderr, 'poproom: Cannot write to the clipboard: xclip failed with exit code 1.\n');
  });
});
