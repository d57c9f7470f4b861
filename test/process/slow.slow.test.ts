/** Slow, endless and disconnecting clients use few resources and do not delay others. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { assertError } from '../support/assert-error.ts';
import { storedBlobs, unfinishedBlobs } from '../support/data-folder.ts';
import { eventually } from '../support/eventually.ts';
import { filePart, formType, partHead } from '../support/form.ts';
import { dataFolder, type ServerProcess, startProcess } from '../support/process.ts';
import { openHandles, openSockets } from '../support/process-stats.ts';
import { fromRawResponse } from '../support/raw-http.ts';
import { chunk, openRawSocket, type RawSocket, requestHead } from '../support/raw-socket.ts';

const noLimit = { POPROOM_FREE_LIMIT: '0' };
const clientCount = 20;
const chunked = { 'Transfer-Encoding': 'chunked' };
const rawUpload = { 'Content-Type': 'text/plain', 'X-File-Name': 'a.txt', ...chunked };
const json = { 'Content-Type': 'application/json', ...chunked };

describe('the server', { concurrency: true, timeout: 120_000 }, () => {
  it('[RUN-7] [ERR-5] disconnects clients whose headers arrive byte by byte and never end', async (t) => {
    const server = await startProcess(t, await dataFolder(t), noLimit);
    const before = await openSockets(server.pid);
    const sockets = await openManySockets(t, server, { allowHalfOpen: true });
    for (const socket of sockets) await socket.send('GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    // The header timeout is 15 seconds, checked every 5. Then the client has 2 seconds to read the response.
    const deadline = performance.now() + 40_000;
    while (sockets.some((socket) => !socket.isClosed())) {
      assert.ok(performance.now() < deadline, 'all connections are closed in time');
      await Promise.all(sockets.map((socket) => socket.send('x')));
      await assertServesOthers(t, server);
      await pause(250);
    }
    for (const socket of sockets) assertError(fromRawResponse(await socket.response()), 400, 'VALIDATION_FAILED');
    await assertSocketsClosed(server, before);
  });

  it('[RUN-7] [UP-6] continues while bodies stall, and keeps nothing of them when their senders disconnect', async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder, noLimit);
    const room = await server.api.room();
    const before = await openSockets(server.pid);
    const partialRequests = [
      Buffer.concat([Buffer.from(requestHead('POST', `/api/rooms/${room}/upload`, rawUpload)), chunk('beginning')]),
      Buffer.concat([
        Buffer.from(requestHead('POST', `/api/rooms/${room}/upload`, { 'Content-Type': formType, ...chunked })),
        chunk(partHead(filePart(''))),
        chunk('beginning'.repeat(100)),
      ]),
      Buffer.concat([Buffer.from(requestHead('POST', `/api/rooms/${room}/content`, json)), chunk('{"content":"')]),
    ];
    const sockets = await openManySockets(t, server);
    await Promise.all(sockets.map((socket, i) => socket.send(partialRequests[i % partialRequests.length] as Buffer)));
    const uploads = sockets.filter((_, i) => i % partialRequests.length < 2).length;
    await eventually('the uploads are in progress', async () => (await unfinishedBlobs(folder)).length === uploads);
    for (let i = 0; i < 10; i++) await assertServesOthers(t, server);

    for (const socket of sockets) socket.destroy();
    await assertSocketsClosed(server, before);
    await eventually('no blobs are left', async () => (await storedBlobs(folder)).length === 0);
    await assertFilesClosed(server, folder);
    assert.deepEqual((await server.api.get(`/api/rooms/${room}/files`)).json.files, []);
    assert.equal((await server.api.get(`/api/rooms/${room}/content`)).json.content, '');
  });

  it('[RUN-7] rejects endless bodies, and disconnects clients that continue to send', async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder, noLimit);
    const room = await server.api.room();
    const before = await openSockets(server.pid);
    const endless = [
      { head: requestHead('POST', `/api/rooms/${room}/upload`, rawUpload), status: 413, code: 'FILE_TOO_LARGE' },
      { head: requestHead('POST', `/api/rooms/${room}/content`, json), status: 413, code: 'CONTENT_TOO_LARGE' },
      { head: requestHead('POST', '/api/rooms', json), status: 413, code: 'CONTENT_TOO_LARGE' },
      { head: requestHead('POST', '/no/such/path', json), status: 404, code: 'NOT_FOUND' },
    ];
    const piece = chunk(Buffer.alloc(64 * 1024, ' '));
    await Promise.all(
      endless.map(async ({ head, status, code }) => {
        const socket = await openRawSocket(t, server.port, { allowHalfOpen: true });
        await socket.send(head);
        await eventually('the server closes the connection', async () => {
          await socket.send(piece);
          return socket.isClosed();
        });
        assertError(fromRawResponse(await socket.response()), status, code);
      }),
    );
    await assertServesOthers(t, server);
    await assertSocketsClosed(server, before);
    assert.deepEqual(await storedBlobs(folder), []);
  });

  it('[RUN-4] [UP-6] stops within 30 seconds of a request to stop, even if an upload never ends', async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder, noLimit);
    const room = await server.api.room();
    const socket = await openRawSocket(t, server.port, { allowHalfOpen: true });
    await socket.send(
      Buffer.concat([Buffer.from(requestHead('POST', `/api/rooms/${room}/upload`, rawUpload)), chunk('x')]),
    );
    await eventually('the upload is in progress', async () => (await unfinishedBlobs(folder)).length === 1);
    const stoppedAt = performance.now();
    server.signal('SIGTERM');
    assert.deepEqual(await server.exit, { code: 0, signal: null });
    const seconds = (performance.now() - stoppedAt) / 1000;
    assert.ok(seconds < 30, `${seconds} seconds`);
    assert.deepEqual(await storedBlobs(folder), []);
  });

  it('[RUN-7] closes the files of readers that disconnect in the middle', async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder, noLimit);
    const room = await server.api.room();
    const { fileUrl } = (await server.api.upload(room, 'big.bin', Buffer.alloc(10_485_760))).json;
    const before = await openSockets(server.pid);
    const readers = Array.from({ length: clientCount }, () =>
      startUnreadDownload(server.port, new URL(fileUrl).pathname),
    );
    await eventually(
      'all downloads are in progress',
      async () => (await openFilesIn(server, folder)).length === clientCount,
    );
    await assertServesOthers(t, server);
    for (const reader of readers) reader.destroy();
    await assertFilesClosed(server, folder);
    await assertSocketsClosed(server, before);
  });
});

function openManySockets(t: TestContext, { port }: ServerProcess, options = {}): Promise<RawSocket[]> {
  return Promise.all(Array.from({ length: clientCount }, () => openRawSocket(t, port, options)));
}

async function assertServesOthers(t: TestContext, { port }: ServerProcess): Promise<void> {
  const socket = await openRawSocket(t, port);
  await socket.send(requestHead('GET', '/api/health', { Connection: 'close' }));
  assert.equal((await socket.response()).status, 200);
  await socket.closed();
}

async function assertSocketsClosed({ pid }: ServerProcess, before: number): Promise<void> {
  await eventually('the sockets are closed', async () => (await openSockets(pid)) <= before);
}

async function openFilesIn({ pid }: ServerProcess, folder: string): Promise<string[]> {
  return (await openHandles(pid)).filter((handle) => handle.startsWith(`${folder}/files/`));
}

async function assertFilesClosed(server: ServerProcess, folder: string): Promise<void> {
  await eventually('no file is open', async () => (await openFilesIn(server, folder)).length === 0);
}

/** Requests a file and reads nothing of it. */
function startUnreadDownload(port: number, path: string) {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.pause();
  socket.on('error', () => undefined);
  socket.write(requestHead('GET', path));
  return socket;
}
