/** Files of encrypted rooms in the SDK: sealed while they are sent, verified while they are read. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { createClient, EncryptionError, type FileEntry } from '../../src/client/index.ts';
import { startTestServer } from '../support/server.ts';
import { startTamperingProxy, type TamperingProxy, tamperJson } from '../support/tampering-proxy.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const KiB = 1024;
const MiB = KiB * KiB;
const sealedChunk = 64 * KiB + 16;
const isDamaged = (error: unknown) => error instanceof EncryptionError && error.code === 'DATA_DAMAGED';

async function start(t: TestContext) {
  const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
  const proxy = await startTamperingProxy(t, () => server.port);
  const room = await createClient({ url: proxy.url }).createRoom({ encrypted: true });
  return { server, proxy, room };
}

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
const untouched: TamperingProxy['tamper'] = (_path, body) => body;

describe('a file of an encrypted room', () => {
  it('[SEALED-40] has its name, type, folder and bytes again on every device', async (t) => {
    const { room } = await start(t);
    const sources = [
      randomBytes(0),
      randomBytes(100),
      randomBytes(64 * KiB),
      randomBytes(200_000),
      randomBytes(6 * MiB),
    ];
    for (const [index, bytes] of sources.entries()) {
      const source = index % 2 ? new Blob([bytes]).stream() : bytes;
      const options = { name: `Zoë ${index}.bin`, type: 'image/x-test', folder: 'a/b', size: bytes.length };
      const uploaded = await room.upload(source, options);
      assert.deepEqual([uploaded.fileName, uploaded.fileSize], [options.name, bytes.length]);
      const file = (await room.files()).at(-1) as FileEntry;
      assert.deepEqual(
        [file.fileName, file.contentType, file.folder, file.fileSize],
        [options.name, 'image/x-test', 'a/b', bytes.length],
      );
      const response = await room.download(file);
      assert.equal(response.headers.get('content-type'), 'image/x-test');
      assert.deepEqual(await bytesOf(response), bytes);
      assert.deepEqual(await bytesOf(await room.download({ fileUrl: file.fileUrl })), bytes);
      if (bytes.length < 150_000) continue;
      const range = { from: 65_000, to: 140_001 };
      assert.deepEqual(await bytesOf(await room.download(file, { range })), bytes.subarray(range.from, range.to));
    }
  });

  it('[SEALED-41] continues an interrupted upload, by another program too', async (t) => {
    const { server, room } = await start(t);
    const line = await startTcpProxy(t, () => server.port);
    const bytes = randomBytes(6 * MiB + 7);
    const overLine = createClient({ url: line.url }).room(room.code, { key: room.key });
    let uploadId = '';
    const stopped = new AbortController();
    const upload = overLine.upload(bytes, {
      name: 'film.mp4',
      signal: stopped.signal,
      onUploadId: (id) => {
        uploadId = id;
      },
      onProgress: (sent) => sent >= 2 * MiB && stopped.abort(),
    });
    await assert.rejects(upload, { name: 'AbortError' });
    const progress: number[] = [];
    await room.upload(bytes, { name: 'film.mp4', uploadId, onProgress: (sent) => progress.push(sent) });
    assert.ok((progress[0] ?? 0) > MiB, `it continued at ${progress[0]}`);
    assert.equal(progress.at(-1), bytes.length);
    const [file, ...others] = await room.files();
    assert.equal(others.length, 0);
    assert.deepEqual(await bytesOf(await room.download(file as FileEntry)), bytes);
  });

  it('[SEALED-42] fails with an error if its bytes or its metadata are changed, cut, moved or swapped', async (t) => {
    const { proxy, room } = await start(t);
    const [first, second] = [randomBytes(200_000), randomBytes(200_000)];
    await room.upload(first, { name: 'first.bin' });
    await room.upload(second, { name: 'second.bin' });
    const [one, two] = (await room.files()) as [FileEntry, FileEntry];
    const chunk = (body: Buffer, index: number) =>
      body.subarray(8 + index * sealedChunk, 8 + Math.min((index + 1) * sealedChunk, body.length));
    const changes: [string, (body: Buffer) => Buffer][] = [
      ['a flipped bit', (body) => Buffer.from(body.map((byte, at) => (at === 70_000 ? byte ^ 1 : byte)))],
      ['a missing chunk', (body) => body.subarray(0, 8 + 2 * sealedChunk)],
      [
        'swapped chunks',
        (body) =>
          Buffer.concat([body.subarray(0, 8), chunk(body, 1), chunk(body, 0), body.subarray(8 + 2 * sealedChunk)]),
      ],
      ['a repeated chunk', (body) => Buffer.concat([body, chunk(body, 1)])],
      ['a cut end', (body) => body.subarray(0, -1)],
      ['plaintext', () => first],
    ];
    for (const [what, change] of changes) {
      proxy.tamper = (path, body) => (path.startsWith('/files/') ? change(body) : body);
      await assert.rejects(async () => bytesOf(await room.download(one)), isDamaged, what);
    }
    proxy.tamper = untouched;
    await assert.rejects(
      async () => bytesOf(await room.download({ ...one, fileUrl: two.fileUrl })),
      isDamaged,
      'a swapped body',
    );
    proxy.tamper = tamperJson('/files', ({ files }) => ({
      files: (files as FileEntry[]).map((file) => ({
        ...file,
        meta: `${file.meta?.slice(0, 80)}AAAA${file.meta?.slice(84)}`,
      })),
    }));
    const [renamed] = await room.files();
    assert.equal(renamed?.fileName, 'encrypted', 'the name is unknown');
    await assert.rejects(room.download(renamed as FileEntry), isDamaged, 'changed metadata');
  });

  it('[SEALED-43] is erased after one receipt only if it was decrypted', async (t) => {
    const { proxy, room } = await start(t);
    const bytes = randomBytes(100_000);
    await room.upload(bytes, { name: 'once.bin', once: true });
    const [file] = (await room.files()) as [FileEntry];
    proxy.tamper = (path, body) =>
      path.startsWith('/files/') ? Buffer.from(body.map((byte, at) => (at === 90_000 ? byte ^ 1 : byte))) : body;
    await assert.rejects(room.receive(file), isDamaged);
    const ignoring = room.receive(file, { save: (response) => response.blob().catch(() => new Blob([])) });
    await assert.rejects(ignoring, isDamaged, 'a program that ignores the error');
    proxy.tamper = untouched;
    assert.deepEqual((await room.files()).length, 1);
    assert.deepEqual(Buffer.from(await (await room.receive(file)).arrayBuffer()), bytes);
    assert.deepEqual(await room.files(), []);
  });
});
