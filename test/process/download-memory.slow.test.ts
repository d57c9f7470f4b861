/** The memory of downloads with slow readers, measured on the built server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { dataFolder, startProcess } from '../support/process.ts';
import { peakMemory } from '../support/process-stats.ts';

const MiB = 1024 * 1024;
const maxFileSize = 10 * MiB;
const readerCount = 32;

describe('memory', () => {
  it('[RUN-7] [FILE-2] stays flat while many readers of the largest files stop reading', {
    timeout: 60_000,
  }, async (t) => {
    const server = await startProcess(t, await dataFolder(t), { POPROOM_FREE_LIMIT: '0' });
    const room = await server.api.room();
    const { fileUrl } = (await server.api.upload(room, 'large.txt', 'x'.repeat(maxFileSize))).json;
    const { pathname } = new URL(fileUrl);
    assert.ok((await (await startDownload(t, server.port, pathname)).readRest()) > maxFileSize);
    const before = await peakMemory(server.pid);
    const readers = await Promise.all(
      Array.from({ length: readerCount }, () => startDownload(t, server.port, pathname)),
    );
    // After 50 other requests, the server has allocated all memory for the downloads.
    for (let n = 0; n < 50; n++) await server.api.get(`/api/rooms/${room}`);
    const growth = (await peakMemory(server.pid)) - before;
    t.diagnostic(`the peak grew by ${growth.toFixed(1)} MiB from ${before.toFixed(1)} MiB`);
    // A reader needs less than 1 MiB, whatever the size of its file.
    assert.ok(growth < readerCount, `memory grew by ${growth} MiB; the files have ${readerCount * 10} MiB`);
    for (const { readRest } of readers) assert.ok((await readRest()) > maxFileSize);
  });
});

/** Requests a file and reads its first bytes. `readRest` returns the total number of bytes received. */
async function startDownload(t: TestContext, port: number, path: string) {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  let received = 0;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  const [first] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  received += first.length;
  return {
    async readRest(): Promise<number> {
      socket.on('data', (chunk: Buffer) => {
        received += chunk.length;
      });
      socket.resume();
      await once(socket, 'end');
      return received;
    },
  };
}
