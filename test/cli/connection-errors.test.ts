/** The messages of a command that cannot reach its server, and errors as JSON. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { writeCertificate } from '../support/certificate.ts';
import { createCli } from '../support/cli.ts';
import { startTestServer } from '../support/server.ts';

describe('a server that cannot be reached', () => {
  it('[CLI-54] is reported with the reason and what to do', async (t) => {
    const cli = await createCli(t);
    const resetPort = await portOf(
      t,
      createServer((socket) => socket.destroy()),
    );
    const cases: [url: string, reason: string, says: RegExp][] = [
      // The system gives this port to no other test.
      ['http://localhost:2', 'refused', /no server is running there; start one with "poproom serve"/],
      ['http://poproom.invalid', 'dns', /(no host named poproom\.invalid|poproom\.invalid could not be looked up)/],
      [`http://127.0.0.1:${resetPort}`, 'closed', /was closed before a complete response/],
      [`https://127.0.0.1:${resetPort}`, 'closed', /was closed before a complete response/],
      ['http://127.0.0.1:1', 'port', /port 1 is reserved for another service/],
    ];
    await Promise.all(
      cases.map(async ([url, reason, says]) => {
        const [text, json] = await Promise.all([
          cli.run(['get', '7KQ2MX', '--url', url]),
          cli.run(['get', '7KQ2MX', '--url', url, '--json']),
        ]);
        assert.deepEqual([text.code, text.stdout, json.stdout], [8, '', '']);
        assert.match(text.stderr, says);
        assert.match(text.stderr, /^poproom: Cannot connect to [^\n]+\n$/);
        assert.deepEqual(JSON.parse(json.stderr).error.details, { reason, url });
      }),
    );
  });

  it('[slow] [CLI-54] names NODE_EXTRA_CA_CERTS for an unknown issuer, and http:// for a port without TLS', async (t) => {
    const cli = await createCli(t);
    const { url, caFile } = await startHttps(t, cli.home);
    const get = (target: string, env: Record<string, string> = {}) =>
      cli.start(['get', '7KQ2MX', '--url', target], { env }).result;
    const plain = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const [unknown, trusted, otherName, noTls] = await Promise.all([
      get(url),
      get(url, { NODE_EXTRA_CA_CERTS: caFile }),
      get(url.replace('127.0.0.1', 'localhost'), { NODE_EXTRA_CA_CERTS: caFile }),
      get(plain.url.replace('http:', 'https:')),
    ]);
    assert.match(unknown?.stderr ?? '', /does not trust the issuer .* set NODE_EXTRA_CA_CERTS to the file/);
    assert.deepEqual([unknown?.code, trusted?.code, trusted?.stdout], [8, 0, 'over TLS']);
    assert.match(otherName?.stderr ?? '', /the certificate is not valid for localhost/);
    assert.match(noTls?.stderr ?? '', /does not use TLS on this port; use http:\/\//);
  });

  it('[CLI-54] is given up if it accepts the connection but does not respond, or stops in the middle', async (t) => {
    const cli = await createCli(t);
    const silent = createServer((socket) => socket.resume());
    const half = createServer((socket) => {
      socket.resume();
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{');
    });
    for (const server of [silent, half]) {
      const url = `http://127.0.0.1:${await portOf(t, server)}`;
      const [option, variable] = await Promise.all([
        cli.run(['get', '7KQ2MX', '--url', url, '--timeout', '0.2s']),
        cli.run(['put', '7KQ2MX', 'text', '--url', url], { env: { POPROOM_TIMEOUT: '0.2' } }),
      ]);
      for (const { code, stdout, stderr } of [option, variable]) {
        assert.deepEqual([code, stdout], [8, '']);
        assert.match(stderr, /did not respond in time; try again, or wait longer with --timeout\.\n$/);
      }
    }
    const wrong = await cli.run(['get', '7KQ2MX', '--timeout', 'soon']);
    assert.deepEqual([wrong.code, /"soon" is not a valid timeout/.test(wrong.stderr)], [2, true]);
  });
});

describe('an error with --json', () => {
  it('[CLI-55] is one line of JSON on standard error, with code, message, request id and exit code', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const cli = await createCli(t, { POPROOM_URL: server.url });
    const failed = async (args: string[]) => {
      const { code, stdout, stderr } = await cli.run([...args, '--json']);
      assert.deepEqual([stdout, stderr.split('\n').length], ['', 2]);
      const { error } = JSON.parse(stderr);
      assert.equal(error.exitCode, code);
      return error;
    };
    const missing = await failed(['get', 'ZZZZZZ']);
    assert.deepEqual([missing.code, missing.exitCode], ['ROOM_NOT_FOUND', 3]);
    assert.equal(missing.message, `There is no room ZZZZZZ on ${server.url}.`);
    assert.ok(server.logged().includes(missing.requestId), 'the id is in the log of the server');
    assert.equal((await failed(['get'])).code, 'USAGE');
    assert.equal((await failed(['get', '7KQ2MX', '--colour'])).code, 'USAGE');
    assert.equal((await failed(['send', '7KQ2MX', 'missing'])).code, 'LOCAL_FILE');
  });
});

describe('a mistyped command', () => {
  it('[CLI-53] or option gets a suggestion, and -V prints the version', async (t) => {
    const cli = await createCli(t, { POPROOM_URL: 'http://127.0.0.1:1' });
    const cases: [args: string[], says: RegExp][] = [
      [['nwe'], /Unknown command "nwe"; did you mean new\? Or see poproom --help/],
      [['upload'], /did you mean send\?/],
      [['xyzzy'], /Unknown command "xyzzy"; see poproom --help/],
      [['--verson'], /Unknown option "--verson"; did you mean --version\?/],
      [['new', '--expire', '2h'], /Unknown option '--expire'; did you mean --expires\? Or see poproom new --help/],
    ];
    for (const [args, says] of cases) {
      const { code, stderr } = await cli.run(args);
      assert.equal(code, 2);
      assert.match(stderr, says);
    }
    const [short, long] = [await cli.run(['-V']), await cli.run(['--version'])];
    assert.match(short.stdout, /^\d+\.\d+\.\d+/);
    assert.deepEqual(short, long);
  });
});

async function portOf(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => {
    socket.on('error', () => undefined);
    sockets.add(socket);
  });
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** With a certificate for 127.0.0.1 that is its own issuer. */
async function startHttps(t: TestContext, folder: string) {
  const { key, cert: caFile } = writeCertificate(folder);
  const server = createHttpsServer({ key: await readFile(key), cert: await readFile(caFile) }, (_, response) => {
    const timestamp = '2026-01-15T09:30:00.000Z';
    response.end(JSON.stringify({ content: 'over TLS', version: 1, timestamp }));
  });
  return { url: `https://127.0.0.1:${await portOf(t, server)}`, caFile };
}
