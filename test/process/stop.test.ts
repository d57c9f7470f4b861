/** Stopping the server: nothing that was started is lost. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { unfinishedBlobs } from '../support/data-folder.ts';
import { eventually } from '../support/eventually.ts';
import { closingBoundary, filePart, formType, partHead } from '../support/form.ts';
import { dataFolder, type ServerProcess, startProcess } from '../support/process.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { startTestServer } from '../support/server.ts';

const stopsWithinMs = 10_000;
const half = 'a'.repeat(100_000);

describe('a stop', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`[RUN-4] by ${signal} finishes running uploads and accepts nothing new`, { timeout: 60_000 }, async (t) => {
      const folder = await dataFolder(t);
      const server = await startProcess(t, folder);
      const room = await server.api.room();
      const uploads = await Promise.all([beginBare(t, server, room), beginForm(server, room)]);
      await eventually('both are in progress', async () => (await unfinishedBlobs(folder)).length === 2);

      server.signal(signal);
      await eventually('new connections are refused', () => isRefused(server.port));
      assert.equal((await unfinishedBlobs(folder)).length, 2, 'both still run');
      for (const { socket, rest } of uploads) {
        await socket.send(rest);
        const { status, text } = await socket.response();
        assert.deepEqual([status, JSON.parse(text).fileSize], [201, 2 * half.length]);
      }
      const { code, ms } = await timed(server);
      assert.equal(code, 0);
      assert.ok(ms < stopsWithinMs, `it exits when its work is done, not at a timeout: ${ms} ms`);
      assert.match(server.output(), /"msg":"stopped"/);
      assert.deepEqual(await readdir(folder).then((names) => names.filter((name) => name.endsWith('-wal'))), []);

      const again = await startProcess(t, folder);
      const { files } = (await again.api.get(`/api/rooms/${room}/files`)).json;
      assert.equal(files.length, 2);
      for (const { fileId } of files) {
        assert.equal((await again.api.get(`/files/${fileId}/a.txt`)).text, half + half);
      }

      async function beginForm({ port }: ServerProcess, to: string) {
        const socket = await openRawSocket(t, port);
        const head = partHead(filePart(''));
        const rest = `${half}\r\n${closingBoundary}`;
        const length = head.length + half.length + rest.length;
        await socket.send(
          requestHead('POST', `/api/rooms/${to}/upload`, { 'Content-Type': formType, 'Content-Length': length }),
        );
        await socket.send(head + half);
        return { socket, rest };
      }
    });
  }

  it('[slow] [RUN-4] happens once, however many signals arrive together', { timeout: 60_000 }, async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder);
    const { socket, rest } = await beginBare(t, server, await server.api.room());
    await eventually('the upload is in progress', async () => (await unfinishedBlobs(folder)).length === 1);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) server.signal(signal);
    await eventually('it is stopping', () => isRefused(server.port));
    await socket.send(rest);
    assert.equal((await socket.response()).status, 201);
    assert.deepEqual(await server.exit, { code: 0, signal: null });
    assert.equal(server.output().match(/"msg":"stop(ping|ped)"/g)?.length, 2);
  });

  it('[RUN-4] is shared by all callers while it runs, and afterwards', async (t) => {
    const server = await startTestServer(t);
    await Promise.all([server.stop(), server.stop()]);
    await server.stop();
  });

  it('[slow] [RUN-4] is cut short by a later signal', { timeout: 60_000 }, async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder);
    await beginBare(t, server, await server.api.room());
    await eventually('the upload is in progress', async () => (await unfinishedBlobs(folder)).length === 1);
    const since = performance.now();
    const again = setInterval(() => server.signal('SIGINT'), 50);
    t.after(() => clearInterval(again));
    assert.deepEqual(await server.exit, { code: 130, signal: null });
    const ms = performance.now() - since;
    assert.ok(ms > 1000 && ms < stopsWithinMs, `${ms} ms`);
  });

  it('[slow] [RUN-4] does not wait for idle connections', { timeout: 60_000 }, async (t) => {
    const server = await startProcess(t, await dataFolder(t));
    const unused = await openRawSocket(t, server.port);
    const kept = await openRawSocket(t, server.port);
    await kept.send(requestHead('GET', '/livez'));
    assert.equal((await kept.response()).status, 200);
    server.signal('SIGTERM');
    const { code, ms } = await timed(server);
    assert.equal(code, 0);
    assert.ok(ms < stopsWithinMs, `${ms} ms`);
    assert.ok(unused.unread() === '' && kept.unread() === '');
  });

  it('[RUN-4] keeps what was acknowledged just before', async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder, { POPROOM_FREE_LIMIT: '0' });
    const room = await server.api.room();
    const writes = Array.from({ length: 50 }, (_, i) =>
      server.api.post(`/api/rooms/${room}/content`, { json: { content: `text ${i}` } }),
    );
    await Promise.race(writes);
    server.signal('SIGTERM');
    const settled = await Promise.allSettled(writes);
    const stored = settled.filter((write) => write.status === 'fulfilled' && write.value.status === 200).length;
    assert.ok(stored > 0);
    assert.deepEqual(await server.exit, { code: 0, signal: null });
    const again = await startProcess(t, folder);
    const { headers } = await again.api.get(`/api/rooms/${room}/content`);
    assert.ok(Number(headers.get('etag')?.slice(1, -1)) >= stored);
  });
});

/** Sends the first half of a file, and returns the second. */
async function beginBare(t: TestContext, { port }: ServerProcess, to: string) {
  const socket = await openRawSocket(t, port);
  const headers = { 'Content-Type': 'text/plain', 'X-File-Name': 'a.txt', 'Content-Length': 2 * half.length };
  await socket.send(requestHead('POST', `/api/rooms/${to}/upload`, headers) + half);
  return { socket, rest: half };
}

function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('error', () => resolve(true));
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });
}

async function timed({ exit }: ServerProcess): Promise<{ code: number | null; ms: number }> {
  const since = performance.now();
  const { code } = await exit;
  return { code, ms: performance.now() - since };
}
