/** Uploads of the SDK in parts: true progress, interruptions, and continuation by another program. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { startTestServer } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const MiB = 1024 * 1024;

async function start(t: TestContext, env: Record<string, string> = {}) {
  const server = await startTestServer(t, { POPROOM_FILE_MAX: '50MiB', POPROOM_FREE_LIMIT: '0', ...env });
  const line = await startTcpProxy(t, () => server.port);
  const client = createClient({ url: line.url });
  const { code } = await client.createRoom();
  return { server, line, client, room: client.room(code) };
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function storedHash(room: Awaited<ReturnType<typeof start>>['room']): Promise<string> {
  const [file] = await room.files();
  assert.ok(file);
  return sha256(new Uint8Array(await (await room.download(file)).arrayBuffer()));
}

describe('an upload of the SDK', () => {
  it('[SDK-20] continues after a lost connection, and reports what the server has', async (t) => {
    const { line, room } = await start(t);
    const bytes = randomBytes(12 * MiB);
    const progress: number[] = [];
    let cuts = 0;
    const uploaded = await room.upload(bytes, {
      name: 'video.mp4',
      onProgress(sent) {
        progress.push(sent);
        // Not at the end, where the next request would be lost and not the upload.
        if (cuts < 3 && sent >= (cuts + 1) * MiB && sent < bytes.length) {
          cuts += 1;
          line.disconnect();
        }
      },
    });
    assert.deepEqual([uploaded.fileName, uploaded.fileSize], ['video.mp4', bytes.length]);
    assert.equal(await storedHash(room), sha256(bytes));
    assert.equal(cuts, 3);
    assert.deepEqual([progress[0], progress.at(-1)], [0, bytes.length]);
  });

  it('[SDK-20] never reports more than the server has', async (t) => {
    const { server, line, room } = await start(t);
    const sent: number[] = [];
    line.pause();
    const upload = room.upload(randomBytes(3 * MiB), { name: 'a.bin', onProgress: (bytes) => void sent.push(bytes) });
    upload.catch(() => undefined);
    // Around the proxy, a request of the same process gets its response.
    assert.equal((await server.api.get('/api/health')).status, 200);
    assert.deepEqual(sent, [], 'nothing was reported while nothing could be sent');
    line.resume();
    await upload;
    assert.equal(sent.at(-1), 3 * MiB);
    assert.equal((await server.api.get(`/api/rooms/${room.code}/files`)).json.files.length, 1);
  });

  it('[slow] [SDK-20] is continued by another program with its id', async (t) => {
    const { server, room } = await start(t);
    const bytes = randomBytes(12 * MiB);
    const stop = new AbortController();
    let uploadId: string | undefined;
    const first = room.upload(bytes, {
      name: 'video.mp4',
      signal: stop.signal,
      onUploadId(id) {
        uploadId = id;
      },
      onProgress: (sent) => sent > 4 * MiB && stop.abort(),
    });
    await assert.rejects(first, { name: 'AbortError' });
    assert.ok(uploadId);
    const another = createClient({ url: server.url }).room(room.code);
    const progress: number[] = [];
    await another.upload(bytes, { name: 'video.mp4', uploadId, onProgress: (sent) => void progress.push(sent) });
    assert.ok((progress[0] ?? 0) > 4 * MiB, `it continued at ${progress[0]}`);
    assert.equal(await storedHash(room), sha256(bytes));
  });

  it('[SDK-20] starts again if the server no longer has it', async (t) => {
    const { room } = await start(t);
    const bytes = randomBytes(6 * MiB);
    await room.upload(bytes, { name: 'a.bin', uploadId: '0'.repeat(32) });
    assert.equal(await storedHash(room), sha256(bytes));
  });

  it('[SDK-20] of a large file is refused before a byte is sent', async (t) => {
    const { room, line } = await start(t, { POPROOM_FILE_MAX: '6MiB' });
    const progress: number[] = [];
    const upload = room.upload(randomBytes(6 * MiB + 1), {
      name: 'a.bin',
      onProgress: (sent) => void progress.push(sent),
    });
    await assert.rejects(upload, { code: 'FILE_TOO_LARGE', details: { maximum: 6 * MiB } });
    assert.deepEqual(progress, []);
    assert.ok(line.connections > 0);
  });

  it('[SDK-20] names the device that sent it, in one request or in parts', async (t) => {
    const { server, room } = await start(t);
    const phone = createClient({ url: server.url, deviceId: 'phone' }).room(room.code);
    await phone.upload(new Blob(['a']), { name: 'whole.txt' });
    await phone.upload(new Blob(['a']), { name: 'parts.txt', onProgress: () => undefined });
    await room.upload(new Blob(['a']), { name: 'unknown.txt' });
    assert.deepEqual(
      (await room.files()).map(({ fileName, deviceId }) => [fileName, deviceId]),
      [
        ['whole.txt', 'phone'],
        ['parts.txt', 'phone'],
        ['unknown.txt', undefined],
      ],
    );
  });

  it('[SDK-20] removes an unfinished upload', async (t) => {
    const { room } = await start(t);
    const aborter = new AbortController();
    let id = '';
    const onUploadId = (uploadId: string) => {
      id = uploadId;
      aborter.abort();
    };
    const options = { name: 'a.bin', signal: aborter.signal, onUploadId };
    await assert.rejects(room.upload(randomBytes(6 * MiB), options), { name: 'AbortError' });
    await room.cancelUpload(id);
    await assert.rejects(room.cancelUpload(id), { code: 'UPLOAD_NOT_FOUND' });
  });

  it('[SDK-20] keeps its folder, and a removed file can be restored', async (t) => {
    const { room } = await start(t);
    await room.upload(new Blob(['a']), { name: 'a.txt', folder: 'notes' });
    await room.upload(randomBytes(6 * MiB), { name: 'b.bin', folder: 'notes/large' });
    assert.deepEqual(
      (await room.files()).map(({ folder }) => folder),
      ['notes', 'notes/large'],
    );
    const [file] = await room.files();
    await room.removeFile(file?.fileId ?? '');
    await eventually('it is hidden', async () => (await room.files()).length === 1);
    await room.restoreFile(file?.fileId ?? '');
    assert.equal((await room.files()).length, 2);
  });
});
