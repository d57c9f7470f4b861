/** HTTPS without a proxy, with real certificates. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { chmod, copyFile, readFile, writeFile } from 'node:fs/promises';
import { Agent, createServer, request } from 'node:https';
import { type AddressInfo, BlockList, connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { WebSocket } from 'ws';
import { TransferBudget } from '../../src/core/defence/transfer-budget.ts';
import { limitConnections } from '../../src/http/connections.ts';
import { type Certificate, writeCertificate } from '../support/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { parseSeries, sumOf } from '../support/metrics.ts';
import { dataFolder } from '../support/process.ts';
import { startTestServer } from '../support/server.ts';

describe('a server with a certificate', () => {
  it('[slow] [OPS-9] [MON-4] serves HTTPS and WebSockets, with https links, and takes a new certificate while connections stay', async (t) => {
    const pair = await pairOf(t, 'first');
    const server = await startTestServer(t, settingsOf(pair), { certificateCheckMs: 20 });
    const ca = await readFile(pair.cert);
    const metrics = await send(server.port, ca, 'GET', '/metrics');
    const expiry = sumOf(parseSeries(metrics.text), 'poproom_tls_certificate_expiry_timestamp_seconds');
    assert.equal(expiry, new X509Certificate(ca).validToDate.getTime() / 1000);
    const created = await send(server.port, ca, 'POST', '/api/rooms');
    assert.equal(created.status, 201);
    assert.equal(created.json.link, `https://localhost:${server.port}/r/${created.json.roomId}`);
    const live = new WebSocket(`wss://localhost:${server.port}/api/rooms/${created.json.roomId}/live`, { ca });
    t.after(() => live.terminate());
    await new Promise((resolve, reject) => live.once('open', resolve).once('error', reject));
    // A channel that does not join is closed after five seconds.
    live.send(JSON.stringify({ type: 'join' }));

    const next = await pairOf(t, 'second');
    await writeFile(pair.cert, 'not a certificate');
    await eventually('the broken pair is reported', () => /not usable; keeping the old one/.test(server.logged()));
    assert.equal(await subjectOf(server.port), 'CN=first');
    await copyFile(next.key, pair.key);
    await copyFile(next.cert, pair.cert);
    await eventually('the new certificate is used', async () => (await subjectOf(server.port)) === 'CN=second');
    assert.equal(server.logged().match(/POPROOM_TLS_CERT: \S+ is not a PEM certificate/g)?.length, 1);
    assert.equal(live.readyState, WebSocket.OPEN);
    assert.equal((await send(server.port, await readFile(next.cert), 'GET', '/livez')).status, 200);
  });

  it('[OPS-9] [SUB-1] redirects browsers from plain HTTP, and tells programs to use HTTPS', async (t) => {
    const settings = { ...settingsOf(await pairOf(t, 'plain')), POPROOM_PUBLIC_URL: 'https://localhost/poproom' };
    const { port } = await startTestServer(t, settings);
    const page = await plain(port, `GET /r/7KQ2MX HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`);
    assert.match(page, new RegExp(`^HTTP/1.1 308 .*\r\nLocation: https://localhost:${port}/r/7KQ2MX\r\n`, 's'));
    for (const odd of [
      `POST /api/rooms HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      `GET /poproom/api/rooms/7KQ2MX HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      'GET / HTTP/1.1\r\nHost: a b\r\n\r\n',
      'x',
    ]) {
      assert.match(await plain(port, odd), /^HTTP\/1.1 400 .*This port requires HTTPS/s);
    }
    await assert.rejects(subjectOf(port, 'TLSv1.1'));
  });

  it('[OPS-10] does not start with files that are missing, unreadable or do not match, and says which', async (t) => {
    const [one, other] = [await pairOf(t, 'one'), await pairOf(t, 'other')];
    const start = (tls: { cert: string; key: string }) => startTestServer(t, settingsOf(tls));
    await assert.rejects(start({ ...one, cert: '/none.pem' }), /POPROOM_TLS_CERT: There is no file \/none\.pem\./);
    await assert.rejects(
      start({ ...one, key: other.key }),
      /POPROOM_TLS_KEY: \S+ does not belong to the certificate \S+\./,
    );
    await assert.rejects(start({ ...one, key: one.cert }), /POPROOM_TLS_KEY: \S+ is not a PEM private key\./);
    await assert.rejects(
      start({ cert: one.cert, key: '' }),
      /POPROOM_TLS_CERT and POPROOM_TLS_KEY must be set together/,
    );
    await chmod(one.key, 0);
    // Root may read everything.
    if (process.getuid?.() !== 0) await assert.rejects(start(one), /may not read/);
  });

  it('[TRANSFER-2] [TRANSFER-3] ends an idle connection for a new one, and not one that is in use', async (t) => {
    const pair = await pairOf(t, 'localhost');
    // Idle connections stay open until the limit ends them, also on a slow machine.
    const options = { key: await readFile(pair.key), cert: await readFile(pair.cert), keepAliveTimeout: 60_000 };
    const server = createServer(options, (_, response) => {
      response.end(Buffer.alloc(200_000));
    });
    let now = 0;
    limitConnections(server, new TransferBudget({ total: 2, perClient: 2 }, () => now), new BlockList());
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const open = () => {
      const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
      t.after(() => agent.destroy());
      return () =>
        new Promise<boolean>((resolve) => {
          const sent = request({ host: '127.0.0.1', port, agent }, (response) => {
            response.resume().on('end', () => resolve(true));
          });
          sent.on('error', () => resolve(false)).end();
        });
    };
    const [used, idle, refused, admitted] = [open(), open(), open(), open()];
    const idleSocket = new Promise(
      (resolve) => void server.once('connection', (socket) => socket.once('close', resolve)),
    );
    assert.deepEqual([await idle(), await used()], [true, true]);
    now += 1000;
    assert.equal(await refused(), false);
    assert.equal(await used(), true);
    now += 11_000;
    assert.equal(await admitted(), true);
    await idleSocket;
    assert.equal(await used(), true);
  });
});

const settingsOf = ({ cert, key }: Certificate) => ({ POPROOM_TLS_CERT: cert, POPROOM_TLS_KEY: key });

const pairOf = async (t: TestContext, name: string) =>
  writeCertificate(await dataFolder(t), { name, days: 30, host: 'localhost' });

function send(
  port: number,
  ca: Buffer,
  method: string,
  path: string,
): Promise<{ status?: number; text: string; json: { link: string; roomId: string } }> {
  return new Promise((resolve, reject) => {
    const sending = request(
      { host: 'localhost', family: 4, port, method, path, ca, agent: false },
      async (response) => {
        const text = Buffer.concat(await Array.fromAsync(response)).toString();
        const json = response.headers['content-type']?.includes('json') ? JSON.parse(text) : undefined;
        resolve({ status: response.statusCode ?? 0, text, json });
      },
    );
    sending.on('error', reject).end();
  });
}

function subjectOf(port: number, maxVersion: 'TLSv1.1' | 'TLSv1.3' = 'TLSv1.3'): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false, minVersion: 'TLSv1' as const, maxVersion };
    const socket = connectTls(options, () => {
      resolve(socket.getPeerX509Certificate()?.subject ?? '');
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

function plain(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', reject).on('close', () => resolve(text));
    socket.write(bytes);
  });
}
