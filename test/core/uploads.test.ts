/** Requests that continue the same upload. The stores are stubs, whose answers the tests give when they want. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import type { CoreDeps } from '../../src/core/deps.ts';
import type { FileSpace } from '../../src/core/files/files.ts';
import { createUploads } from '../../src/core/files/uploads.ts';
import type { BlobAppend } from '../../src/core/ports/files.ts';

const fileId = 'f'.repeat(32);
const [ownRoom, otherRoom] = ['7KQ2MX', 'ZZZZZZ'];

function startUploads() {
  const appends: BlobAppend[] = [];
  const { promise: hasStopped, resolve: stop } = Promise.withResolvers<void>();
  const file = { id: fileId, received: 0, size: 100 };
  const stores = {
    rooms: { admit: ({ code }: { code: string }) => ({ outcome: 'admitted', room: { code } }) },
    files: { findFile: async () => undefined },
    uploads: {
      findUpload: async (code: string) => (code === ownRoom ? { ...file } : 'no-file'),
      cancelUpload: async (code: string) => (code === ownRoom ? 'cancelled' : 'no-file'),
    },
    trash: { listTrash: async () => [] },
  };
  const blobs = {
    checkSpace: async () => undefined,
    /** Ends when it is aborted and the test lets it stop. */
    append: (append: BlobAppend) => {
      appends.push(append);
      const { signal } = append;
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => void hasStopped.then(() => reject(signal.reason)));
      });
    },
  };
  const deps = { ...stores, blobs, clock: () => 0, secret: 'secret' } as unknown as CoreDeps;
  const uploads = createUploads(deps, {} as FileSpace);
  const callerIn = (roomId: string) => ({ client: '192.0.2.1', roomId, pin: undefined, deviceId: undefined });

  function append(roomId = ownRoom) {
    const connection = new AbortController();
    const part = { offset: 0, bytes: Readable.from([]), length: 5, checksum: undefined, signal: connection.signal };
    const code = uploads.append(callerIn(roomId ?? ''), fileId, part).then(
      () => 'stored',
      (error) => error.code,
    );
    return { code, disconnect: () => connection.abort(Object.assign(new Error(), { code: 'DISCONNECTED' })) };
  }

  return { appends, append, stop, cancel: (roomId: string) => uploads.cancel(callerIn(roomId), fileId) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('requests that continue the same upload', () => {
  it('[TRANSFER-5] [TUS-10] wait for the running one only if they are the newest; the others get a conflict', async () => {
    const { append, appends, stop } = startUploads();
    const running = append();
    await settled();
    const waiting = Array.from({ length: 20 }, () => append());
    assert.deepEqual(
      new Set(await Promise.all(waiting.slice(0, -1).map(({ code }) => code))),
      new Set(['UPLOAD_CONFLICT']),
    );
    assert.equal(appends.length, 1, 'the running one has not stopped');
    stop();
    assert.equal(await running.code, 'UPLOAD_CONFLICT');
    await settled();
    assert.equal(appends.length, 2);
    assert.equal(appends[1]?.signal.aborted, false, 'the newest one continues the upload');
  });

  it('[TRANSFER-5] stop waiting when their client disconnects', async () => {
    const { append, appends, stop } = startUploads();
    append();
    await settled();
    const gone = append();
    await settled();
    gone.disconnect();
    assert.equal(await gone.code, 'DISCONNECTED');
    stop();
    await settled();
    assert.equal(appends.length, 1);
  });

  it('[TRANSFER-6] are not interrupted by callers in another room', async () => {
    const { append, appends, cancel } = startUploads();
    append();
    await settled();
    assert.equal(await append(otherRoom).code, 'UPLOAD_NOT_FOUND');
    await assert.rejects(cancel(otherRoom ?? ''), { code: 'UPLOAD_NOT_FOUND' });
    assert.equal(appends[0]?.signal.aborted, false);
  });
});
