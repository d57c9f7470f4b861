/** Slow, endless and vanishing clients: they cost little, and delay nobody. */
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
const crowd = 20;
const chunked = { 'Transfer-Encoding': 'chunked' };
const bare = { 'Content-Type': 'text/plain', 'X-File-Name': 'a.txt', ...chunked };
const json = { 'Content-Type': 'application/json', ...chunked };

describe('the server', { concurrency: true, timeout: 120_000 }, () => {
  it('[RUN-7] [ERR-5] disconnects clients whose headers arrive byte by byte and never end', async (t) => {
    const server = await startProcess(t, await dataFolder(t), noLimit);
    const before = await openSockets(server.pid);
    const sockets = await openCrowd(t, server, { allowHalfOpen: true });
    for (const socket of sockets) await socket.send('GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    // Headers have 15 seconds, looked at every 5; then there are 2 to read the answer.
    const deadline = performance.now() + 40_000;
    while (sockets.some((socket) => !socket.isClosed())) {
      assert.ok(performance.now() < deadline, 'all are cut off in time');
      await Promise.all(sockets.map((socket) => socket.send('x')));
      await assertAnswersOthers(t, server);
      await pause(250);
    }
    for (const socket of sockets) assertError(fromRawResponse(await socket.response()), 400, 'VALIDATION_FAILED');
    await assertSocketsGone(server, before);
  });

  it('[RUN-7] [UP-6] continues while bodies stall, and keeps nothing of them when their senders disconnect', async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder, noLimit);
    const room = await server.api.room();
    const before = await openSockets(server.pid);
    const beginnings = [
      Buffer.concat([Buffer.from(requestHead('POST', `/api/rooms/${room}/upload`, bare)), chunk('beginning')]),
      Buffer.concat([
        Buffer.from(requestHead('POST', `/api/rooms/${room}/upload`, { 'Content-Type': formType, ...chunked })),
        chunk(partHead(filePart(''))),
        chunk('beginning'.repeat(100)),
      ]),
      Buffer.concat([Buffer.from(requestHead('POST', `/api/rooms/${room}/content`, json)), chunk('{"content":"')]),
    ];
    const sockets = await openCrowd(t, server);
    await Promise.all(sockets.map((socket, i) => socket.send(beginnings[i % beginnings.length] as Buffer)));
    const uploads = sockets.filter((_, i) => i % beginnings.length < 2).length;
    await eventually('the uploads are under way', async () => (await unfinishedBlobs(folder)).length === uploads);
    for (let i = 0; i < 10; i++) await assertAnswersOthers(t, server);

    for (const socket of sockets) socket.destroy();
    await assertSocketsGone(server, before);
    await eventually('no bytes are left', async () => (await storedBlobs(folder)).length === 0);
    await assertNoFilesOpen(server, folder);
    assert.deepEqual((await server.api.get(`/api/rooms/${room}/files`)).json.files, []);
    assert.equal((await server.api.get(`/api/rooms/${room}/content`)).json.content, '');
  });

  it('[RUN-7] rejects endless bodies, and disconnects clients that continue to send', async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder, noLimit);
    const room = await server.api.room();
    const before = await openSockets(server.pid);
    const endless = [
      { head: requestHead('POST', `/api/rooms/${room}/upload`, bare), status: 413, code: 'FILE_TOO_LARGE' },
      { head: requestHead('POST', `/api/rooms/${room}/content`, json), status: 413, code: 'CONTENT_TOO_LARGE' },
      { head: requestHead('POST', '/api/rooms', json), status: 413, code: 'CONTENT_TOO_LARGE' },
      { head: requestHead('POST', '/no/such/path', json), status: 404, code: 'NOT_FOUND' },
    ];
    const piece = chunk(Buffer.alloc(64 * 1024, ' '));
    await Promise.all(
      endless.map(async ({ head, status, code }) => {
        const socket = await openRawSocket(t, server.port, { allowHalfOpen: true });
        await socket.send(head);
        await eventually('the sender is cut off', async () => {
          await socket.send(piece);
          return socket.isClosed();
        });
        assertError(fromRawResponse(await socket.response()), status, code);
      }),
    );
    await assertAnswersOthers(t, server);
    await assertSocketsGone(server, before);
    assert.deepEqual(await storedBlobs(folder), []);
  });

  it('[RUN-4] [UP-6] stops within 30 seconds of a request to stop, even if an upload never ends', async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder, noLimit);
    const room = await server.api.room();
    const socket = await openRawSocket(t, server.port, { allowHalfOpen: true });
    await socket.send(Buffer.concat([Buffer.from(requestHead('POST', `/api/rooms/${room}/upload`, bare)), chunk('x')]));
    await eventually('it is under way', async () => (await unfinishedBlobs(folder)).length === 1);
    const toldAt = performance.now();
    server.signal('SIGTERM');
    assert.deepEqual(await server.exit, { code: 0, signal: null });
    const seconds = (performance.now() - toldAt) / 1000;
    assert.ok(seconds < 30, `${seconds} seconds`);
    assert.deepEqual(await storedBlobs(folder), []);
  });

  it('[RUN-7] closes the files of readers that disconnect in the middle', async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder, noLimit);
    const room = await server.api.room();
    const { fileUrl } = (await server.api.upload(room, 'big.bin', Buffer.alloc(10_485_760))).json;
    const before = await openSockets(server.pid);
    const readers = Array.from({ length: crowd }, () => readNothing(server.port, new URL(fileUrl).pathname));
    await eventually('all are being served', async () => (await filesOpen(server, folder)).length === crowd);
    await assertAnswersOthers(t, server);
    for (const reader of readers) reader.destroy();
    await assertNoFilesOpen(server, folder);
    await assertSocketsGone(server, before);
  });
});

function openCrowd(t: TestContext, { port }: ServerProcess, options = {}): Promise<RawSocket[]> {
  return Promise.all(Array.from({ length: crowd }, () => openRawSocket(t, port, options)));
}

async function assertAnswersOthers(t: TestContext, { port }: ServerProcess): Promise<void> {
  const socket = await openRawSocket(t, port);
  await socket.send(requestHead('GET', '/api/health', { Connection: 'close' }));
  assert.equal((await socket.response()).status, 200);
  await socket.closed();
}

async function assertSocketsGone({ pid }: ServerProcess, before: number): Promise<void> {
  await eventually('the connections are gone', async () => (await openSockets(pid)) <= before);
}

async function filesOpen({ pid }: ServerProcess, folder: string): Promise<string[]> {
  return (await openHandles(pid)).filter((handle) => handle.startsWith(`${folder}/files/`));
}

async function assertNoFilesOpen(server: ServerProcess, folder: string): Promise<void> {
  await eventually('no file is open', async () => (await filesOpen(server, folder)).length === 0);
}

/** Asks for a file and takes none of its bytes. */
function readNothing(port: number, path: string) {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.pause();
  socket.on('error', () => undefined);
  socket.write(requestHead('GET', path));
  return socket;
}
