/** The command with an untrusted server. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { WebSocketServer } from 'ws';
import { type Cli, type CliResult, createCli } from '../support/cli.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { startUntrustedServer } from './untrusted-server.ts';

const timestamp = '2026-11-16T09:30:00.000Z';
const snapshot = {
  type: 'snapshot',
  seq: 1,
  room: { roomId: '7KQ2MX', expiresAt: timestamp, hasPin: false },
  content: { content: 'Hello', version: 1, timestamp },
  files: [],
  devices: [],
  pinAttempts: 0,
};

describe('a file from an untrusted server', () => {
  it('[CLI-21] is not written under a hidden name, or one with a special meaning for the system', async (t) => {
    const names = ['.bash_profile', '.git', '..', 'CON', 'nul.txt', 'dot.', 'dot', '~', '-rf', '_.git', '\u200b.ssh'];
    const cli = await createCli(t);
    const url = await startUntrustedServer(t, { names, bytes: 'x' });
    await mkdir(join(cli.home, 'folder'));
    const { code, stdout } = await cli.run(['fetch', '7KQ2MX', '--url', url, '--force'], {
      cwd: join(cli.home, 'folder'),
    });
    const expected = [
      '_.bash_profile',
      '_.git',
      'file',
      '_CON',
      '_nul.txt',
      'dot',
      'dot (2)',
      '_~',
      '_-rf',
      '_ (2).git',
      '_.ssh',
    ];
    assert.deepEqual([code, stdout], [0, expected.map((name) => `${name}\n`).join('')]);
    assert.deepEqual((await readdir(join(cli.home, 'folder'))).sort(), expected.sort());
  });

  it('[CLI-24] is downloaded only from that server, not from the local network', async (t) => {
    const inside = await startServer(t, () => ({ body: 'secret' }));
    const files = [
      {
        fileId: '0',
        fileName: 'a',
        fileSize: 6,
        contentType: 'x/y',
        uploadedAt: timestamp,
        fileUrl: `${inside.url}/admin`,
      },
    ];
    const server = await startServer(t, () => ({ body: JSON.stringify({ files }) }));
    const cli = await createCli(t, { POPROOM_URL: server.url });
    assertFailed(await cli.run(['fetch', '7KQ2MX']), /not the URL of a file in a room\.$/);
    assert.deepEqual(inside.requests, []);
  });
});

describe('a response that does not come from a Poproom server', () => {
  const commands = [
    'new',
    'put 7KQ2MX x',
    'get 7KQ2MX',
    'info 7KQ2MX',
    'history 7KQ2MX',
    'fetch 7KQ2MX',
    'rm 7KQ2MX',
    'watch 7KQ2MX',
  ];
  for (const body of ['null', '<h1>Sign in</h1>', '{"success":true,"files":[null],"history":[{}],"content":7}']) {
    it(`[CLI-23] is reported in one sentence: ${body.slice(0, 20)}`, async (t) => {
      const { url } = await startServer(t, () => ({ body }));
      const cli = await createCli(t, { POPROOM_URL: url });
      for (const line of commands)
        assertFailed(await cli.run(line.split(' ')), /Unexpected response|live channel/, line);
    });
  }

  it('[slow] [CLI-23] does not determine the exit code', async (t) => {
    const error = { code: 'constructor', message: 'x' };
    const { url } = await startServer(t, () => ({ status: 400, body: JSON.stringify({ error }) }));
    const cli = await createCli(t, { POPROOM_URL: url });
    assertFailed(await cli.run(['get', '7KQ2MX']), /status 400/);
  });

  it('[slow] [CLI-23] does not fill the screen', async (t) => {
    const error = { code: 'VALIDATION_FAILED', message: 'x'.repeat(1_000_000) };
    const { url } = await startServer(t, () => ({ status: 400, body: JSON.stringify({ error }) }));
    const cli = await createCli(t, { POPROOM_URL: url });
    assertFailed(await cli.run(['get', '7KQ2MX']), /^poproom: x{1000}$/);
  });
});

describe('a malformed message', () => {
  const malformed = ['null', '{', '7', '{"type":"edit","seq":2}', '{"type":"content","seq":2,"content":null}'];

  it('[slow] [CLI-23] ends "poproom watch" and "poproom clip" with one sentence if it is the first one', async (t) => {
    for (const message of malformed) {
      const cli = await createCliWith(t, await startLive(t, [message]));
      for (const command of ['watch', 'clip'])
        assertFailed(await cli.run([command, '7KQ2MX']), /The server sent /, message);
    }
  });

  it('[CLI-23] ends them after a few, too, and earlier texts are printed once', async (t) => {
    const cli = await createCliWith(t, await startLive(t, [JSON.stringify(snapshot), 'null']));
    const [watched, clipped] = await Promise.all([cli.run(['watch', '7KQ2MX']), cli.run(['clip', '7KQ2MX'])]);
    assert.equal(watched.stdout, 'Hello\n');
    for (const ended of [watched, clipped]) assertFailed({ ...ended, stdout: '' }, /The server sent /);
  });
});

describe('a server that keeps connections open', () => {
  it('[CLI-23] does not keep a command from ending', async (t) => {
    const server = createServer((_, response) => response.end('{}'));
    // It neither answers the end of a channel nor closes the connection.
    server.on('upgrade', ({ headers }, socket) => {
      const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash('sha1').update(key).digest('base64');
      const fields = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`];
      socket.on('error', () => undefined).write(`HTTP/1.1 101 Yes\r\n${fields.join('\r\n')}\r\n\r\n`);
      socket.once('data', () => socket.write(Buffer.from('\x81\x04null', 'latin1')));
    });
    const cli = await createCli(t, { POPROOM_URL: await listenOnFreePort(t, server) });
    // Only a process of its own shows that it ends.
    assertFailed(await cli.start(['watch', '7KQ2MX']).result, /The server sent /);
  });
});

describe('a server that redirects', () => {
  it('[CLI-24] does not receive the PIN or the key of another server', async (t) => {
    const elsewhere = await startServer(t, () => ({ body: '{}' }));
    const server = await startServer(t, () => ({ status: 307, location: `${elsewhere.url}/x` }));
    const secrets = { POPROOM_URL: server.url, POPROOM_API_KEY: 'pop_secret', POPROOM_PIN: '0427' };
    const cli = await createCli(t, secrets);
    await writeFile(join(cli.home, 'a'), 'x');
    for (const line of ['get 7KQ2MX', 'put 7KQ2MX x', 'send 7KQ2MX a', 'fetch 7KQ2MX', 'watch 7KQ2MX', 'rm 7KQ2MX'])
      assertFailed(await cli.run(line.split(' ')), new RegExp(`redirects to ${elsewhere.url};`), line);
    assert.equal(server.requests.at(0)?.headers['x-room-pin'], '0427');
    assert.deepEqual(elsewhere.requests, []);
  });
});

function assertFailed({ code, stdout, stderr }: CliResult, says: RegExp, message = ''): void {
  assert.deepEqual([code, stdout], [1, ''], `${message}: ${stderr}`);
  assert.match(stderr, /^poproom: [^\n]+\n$/, message);
  assert.match(stderr.trimEnd(), says, message);
}

interface Answer {
  status?: number;
  body?: string;
  location?: string;
}

async function startServer(t: TestContext, answer: (request: IncomingMessage) => Answer) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const { status = 200, body = '', location } = request.url === '/livez' ? { body: '{}' } : answer(request);
    request
      .resume()
      .on('end', () => response.writeHead(status, { ETag: '"1"', ...(location && { Location: location }) }).end(body));
  });
  server.on('upgrade', (request, socket) => {
    requests.push(request);
    const { status = 400, location = '' } = answer(request);
    socket.end(`HTTP/1.1 ${status} No\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
  });
  return { url: await listenOnFreePort(t, server), requests };
}

/** Sends these messages to everyone who joins. */
async function startLive(t: TestContext, sent: readonly string[]): Promise<string> {
  const server = createServer((_, response) => response.end('{}'));
  new WebSocketServer({ server }).on('connection', (socket) => {
    socket.on('error', () => undefined);
    socket.once('message', () => {
      for (const message of sent) socket.send(message);
    });
  });
  return listenOnFreePort(t, server);
}

/** With a clipboard. */
async function createCliWith(t: TestContext, url: string): Promise<Cli> {
  const cli = await createCli(t, { POPROOM_URL: url, DISPLAY: ':0' });
  await writeFile(join(cli.bin, 'xclip'), '#!/bin/sh\n[ "$3" = -in ] && cat > /dev/null || echo copied\n', {
    mode: 0o755,
  });
  return cli;
}
