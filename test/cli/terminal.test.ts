/** Text from others must not move the cursor, change colours or write to the clipboard of the terminal. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { WebSocketServer } from 'ws';
import { createCli } from '../support/cli.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { sharedServer } from '../support/server.ts';

/** Overrides and marks of direction, a zero-width space, a soft hyphen, fillers, tags, separators of lines. */
const unseen =
  '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u200b\u2060\ufeff\u00ad\u034f\u115f\u3164' +
  '\ufe00\u2028\u2029\u{e0041}\u{e0100}\u0007\u009b';
/** A family, a heart, the flag of Wales, Persian with a joiner, Hebrew, a sign for Arabic numbers. */
const kept = '👨‍👩‍👧 ❤️ 🏴󠁧󠁢󠁷󠁬󠁳󠁿 می‌خواهم שלום \u0601 end of it';
const orders = '\x1b]0;owned\x07\x1b[31mred\u009b2J\u202E';

describe('a terminal', () => {
  it('[CLI-107] starts the prompt on a new line after a typed text', async (t) => {
    const server = await sharedServer(t);
    const cli = await createCli(t, { POPROOM_URL: server.url });
    const code = await server.api.room();
    const typing = cli.terminal(`poproom put ${code} -`);
    typing.type('abc\x04\x04');
    const { code: exit, stdout } = await typing.result;
    assert.deepEqual([exit, stdout.endsWith('\r\n')], [0, true], stdout);
    assert.equal((await server.api.get(`/api/rooms/${code}/content`)).json.content, 'abc');
  });

  it('[slow] [CLI-7] does not interpret the text of a room, which a pipe receives unchanged', async (t) => {
    const server = await sharedServer(t, { POPROOM_FREE_LIMIT: '0' });
    const cli = await createCli(t, { POPROOM_URL: server.url });
    const room = await server.api.room();
    const content = `one\ttab\r\n${orders}\n`;
    await server.api.post(`/api/rooms/${room}/content`, { json: { content } });
    const [screen, pipe, json] = await Promise.all([
      cli.terminal(`poproom get ${room}`).result,
      cli.run(['get', room]),
      cli.run(['get', room, '--json']),
    ]);
    assert.equal(pipe.stdout, content);
    assert.deepEqual([JSON.parse(json.stdout).content, hasControls(json.stdout)], [content, false]);
    assert.ok(screen.stdout.startsWith('one\ttab\r'));
    assert.ok(screen.stdout.includes('owned'));
    assert.equal(hasControls(screen.stdout), false, JSON.stringify(screen.stdout));
  });

  it('[CLI-22] shows invisible characters of a text, which a pipe receives unchanged', async (t) => {
    const server = await sharedServer(t, { POPROOM_FREE_LIMIT: '0' });
    const cli = await createCli(t, { POPROOM_URL: server.url });
    const room = await server.api.room();
    const content = `${[...unseen].map((character) => `[${character}]`).join('')}\n${kept}\n`;
    const shown = `${'[\u{FFFD}]'.repeat([...unseen].length)}\n${kept}\n`;
    for (const text of [content, 'newer'])
      await server.api.post(`/api/rooms/${room}/content`, { json: { content: text } });
    const [{ version }] = JSON.parse((await cli.run(['history', room, '--json'])).stdout);
    await server.api.post(`/api/rooms/${room}/content`, { json: { content } });
    await server.api.upload(room, 'a.txt', content);
    const printing = [`get ${room}`, `history ${room} ${version}`, `fetch ${room} a.txt -o -`, `watch ${room}`];
    for (const line of printing) {
      const screen = cli.terminal(`poproom ${line}`);
      await screen.waitForOutput('end of it\r\n');
      assert.equal(screen.stdout().replaceAll('\r\n', '\n').slice(0, shown.length), shown, line);
      screen.type('\x03');
    }
    const [following = '', ...ending] = printing.toReversed();
    for (const line of ending) assert.ok((await cli.run(line.split(' '))).stdout.startsWith(content), line);
    const watching = cli.start(following.split(' '));
    await watching.waitForOutput('end of it\n');
    assert.ok(watching.stdout().startsWith(content), following);
    watching.signal('SIGINT');
    const { stdout } = await cli.run(['get', room, '--json']);
    assert.equal(JSON.parse(stdout).content, content);
    assert.ok(
      [...unseen].every((character) => !stdout.includes(character)),
      'JSON has them escaped',
    );
  });

  it('[CLI-7] does not interpret file names or messages of a server', async (t) => {
    const cli = await createCli(t, { POPROOM_URL: await hostileServer(t) });
    const lines = [
      'info 7KQ2MX',
      'rm 7KQ2MX 0',
      'new',
      'put 7KQ2MX text',
      'history 7KQ2MX',
      'history 7KQ2MX --delete -y',
    ];
    lines.push('fetch 7KQ2MX --list', 'fetch 7KQ2MX --list --json');
    const said = lines.flatMap((line) => [cli.run(line.split(' ')), cli.terminal(`poproom ${line}`).result]);
    for (const { stdout, stderr } of await Promise.all(said)) mustBeHarmless(stdout + stderr);
  });

  it('[slow] [CLI-7] does not interpret the reason why a server rejects copied text', async (t) => {
    const cli = await createCli(t, { POPROOM_URL: await hostileServer(t), DISPLAY: ':0' });
    await writeFile(join(cli.bin, 'xclip'), '#!/bin/sh\n[ "$3" = -in ] || echo copied\n', { mode: 0o755 });
    const clipping = cli.start(['clip', '7KQ2MX']);
    await clipping.waitForOutput('was not sent to the room');
    mustBeHarmless(clipping.stderr());
  });
});

function mustBeHarmless(shown: string): void {
  assert.match(shown, /owned/);
  assert.equal(hasControls(shown) || shown.includes('\u202E'), false, JSON.stringify(shown));
}

const hasControls = (text: string) => /[^\P{Cc}\r\n\t]/u.test(text);

/** Everything it says wants to be obeyed. */
async function hostileServer(t: TestContext): Promise<string> {
  const expiresAt = '2026-01-15T09:30:00.000Z';
  const about = { fileSize: 1, contentType: orders, uploadedAt: expiresAt };
  const file = { fileId: '0', fileName: orders, fileUrl: `http://127.0.0.1:1/${orders}`, ...about };
  const answers: Record<string, object> = {
    'GET /livez': {},
    'GET /api/rooms/7KQ2MX': { roomId: '7KQ2MX', expiresAt, deviceCount: 1, hasPin: false },
    'GET /api/rooms/7KQ2MX/history': { history: [{ version: 1, timestamp: expiresAt, size: 1, deviceId: orders }] },
    'GET /api/rooms/7KQ2MX/content': { content: 'text', timestamp: expiresAt },
    'GET /api/rooms/7KQ2MX/files': { files: [file] },
    'DELETE /api/rooms/7KQ2MX/files/0': { success: true, message: 'Removed.' },
    'DELETE /api/rooms/7KQ2MX/history': { success: true, message: orders },
  };
  const server = createServer(({ method, url }, response) => {
    const answer = answers[`${method} ${url}`];
    if (!answer) response.statusCode = 400;
    response
      .setHeader('ETag', '"1"')
      .end(JSON.stringify(answer ?? { error: { code: 'VALIDATION_FAILED', message: orders } }));
  });
  const refusal = { code: 'VALIDATION_FAILED', message: orders };
  new WebSocketServer({ server }).on('connection', (socket) => {
    socket.on('message', (data) => {
      const { type, ref } = JSON.parse(String(data));
      const snapshot = {
        type: 'snapshot',
        seq: 0,
        room: { roomId: '7KQ2MX', expiresAt, hasPin: false },
        content: { content: '', version: 0, timestamp: expiresAt },
        files: [],
        devices: [],
        pinAttempts: 0,
      };
      socket.send(JSON.stringify(type === 'join' ? snapshot : { type: 'error', error: refusal, ref }));
    });
  });
  return listenOnFreePort(t, server);
}
