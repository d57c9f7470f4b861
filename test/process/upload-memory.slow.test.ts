/** The memory of uploads, measured on the built server. */
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { storedBlobs } from '../support/data-folder.ts';
import { eventually } from '../support/eventually.ts';
import { closingBoundary, filePart, formType, partHead } from '../support/form.ts';
import { dataFolder, startProcess } from '../support/process.ts';
import { peakMemory } from '../support/process-stats.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';

const MiB = 1024 * 1024;
const largest = 10 * MiB;
const atOnce = 24;

describe('memory', () => {
  it('[UP-7] stays flat while many files of the maximum size are uploaded concurrently', {
    timeout: 60_000,
  }, async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder, { POPROOM_FREE_LIMIT: '0' });
    const bytes = Buffer.alloc(largest, 'x');
    const head = partHead(filePart(''));
    const tail = Buffer.concat([Buffer.from('\r\n'), closingBoundary]);

    /** Sends all but the last bytes, so that all uploads are unfinished at the same time. */
    async function begin(i: number) {
      const room = await server.api.room();
      const socket = await openRawSocket(t, server.port);
      const asForm = i % 2 === 0;
      const headers = asForm
        ? { 'Content-Type': formType, 'Content-Length': head.length + largest + tail.length }
        : { 'Content-Type': 'text/plain', 'X-File-Name': 'a.txt', 'Content-Length': largest };
      await socket.send(requestHead('POST', `/api/rooms/${room}/upload`, headers));
      if (asForm) await socket.send(head);
      await socket.send(bytes.subarray(0, -1));
      return { socket, rest: asForm ? Buffer.concat([Buffer.from('x'), tail]) : Buffer.from('x') };
    }

    async function finish({ socket, rest }: Awaited<ReturnType<typeof begin>>) {
      await socket.send(rest);
      assert.equal((await socket.response()).status, 201);
    }

    // The first uploads load modules and grow the heap, whatever their size.
    for (let i = 0; i < 2; i++) await finish(await begin(i));
    const before = await peakMemory(server.pid);
    const begun = await Promise.all(Array.from({ length: atOnce }, (_, i) => begin(i)));
    await eventually('all but the last bytes are on the disk', async () => {
      const sizes = await Promise.all((await storedBlobs(folder)).map(async (path) => (await stat(path)).size));
      return sizes.length === atOnce + 2 && sizes.every((size) => size > largest - 128 * 1024);
    });
    await Promise.all(begun.map(finish));
    const growth = (await peakMemory(server.pid)) - before;
    t.diagnostic(`the peak grew by ${growth.toFixed(1)} MiB from ${before.toFixed(1)} MiB`);
    // Up to 64 MiB of spent buffers may wait for the collector before it hurries; the files would be far more.
    assert.ok(growth < (atOnce * 10) / 2, `holding the files would take ${atOnce * 10} MiB; it took ${growth} MiB`);
  });
});
