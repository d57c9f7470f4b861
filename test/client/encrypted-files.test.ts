/** Files of encrypted rooms in the SDK: sealed while they are sent, verified while they are read. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { createClient, EncryptionError, type FileEntry, type PoproomError } from '../../src/client/index.ts';
import {
  copyOf,
  type MaliciousServer,
  startMaliciousServer,
  tamperFileLists,
  tamperJson,
} from '../support/malicious-server.ts';
import { startTestServer } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { follow } from './follower.ts';

const KiB = 1024;
const MiB = KiB * KiB;
const sealedChunk = 64 * KiB + 16;
const isDamaged = (error: unknown) => error instanceof EncryptionError && error.code === 'DATA_DAMAGED';

async function start(t: TestContext) {
  const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
  const proxy = await startMaliciousServer(t, () => server.port);
  const room = await createClient({ url: proxy.url }).createRoom({ encrypted: true });
  return { server, proxy, room };
}

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
const untouched: MaliciousServer['tamper'] = (_path, body) => body;

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

  it('[slow] [SEALED-41] continues an interrupted upload, by another program too', async (t) => {
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

describe('a malicious server that a file is downloaded from', () => {
  const range = { from: 65_000, to: 140_001 };
  const name = 'a.png';
  const sealedHeader = 8;

  async function setUp(t: TestContext) {
    const { proxy, room } = await start(t);
    const [bytes, others] = [randomBytes(200_000), randomBytes(200_000)];
    await room.upload(bytes, { name, type: 'image/png' });
    await room.upload(others, { name, type: 'image/png' });
    await room.upload(bytes, { name, type: 'image/png', once: true });
    const [file, other, once] = (await room.files()) as [FileEntry, FileEntry, FileEntry];
    const [sealed, swapped] = await Promise.all(
      [file, other].map(async ({ fileUrl }) => bytesOf(await fetch(fileUrl))),
    );
    assert.ok(sealed && swapped);
    const chunk = (index: number) => sealed.subarray(sealedHeader + index * sealedChunk).subarray(0, sealedChunk);
    const head = sealed.subarray(0, sealedHeader);
    return { proxy, room, bytes, file, once, sealed, swapped, chunk, head };
  }

  it('[SEALED-96] [SEALED-42] decides neither the type nor the length of what is read', async (t) => {
    const { proxy, room, bytes, file } = await setUp(t);
    const claims = { 'content-type': 'text/html', 'content-range': 'bytes 0-9/10', 'content-disposition': 'inline' };
    proxy.tamperResponse = (response) => ({ ...response, headers: { ...response.headers, ...claims } });
    const whole = await room.download(file);
    assert.deepEqual([whole.headers.get('content-type'), whole.headers.get('content-length')], ['image/png', '200000']);
    assert.deepEqual(await bytesOf(whole), bytes);
    assert.deepEqual(await bytesOf(await room.download(file, { range })), bytes.subarray(range.from, range.to));

    for (const claimedLength of [100_000, 201_000]) {
      proxy.tamperResponse = (response, { path }) =>
        path.startsWith('/files/') ? { ...response, claimedLength } : response;
      await assert.rejects(async () => bytesOf(await room.download(file)), String(claimedLength));
      await assert.rejects(async () => bytesOf(await room.download(file, { range })), String(claimedLength));
    }
  });

  it('[slow] [SEALED-96] [SEALED-42] is noticed if it cuts, extends, swaps or reorders the bytes of a range', async (t) => {
    const { proxy, room, bytes, file, sealed, swapped, chunk } = await setUp(t);
    const ranges: [string, Buffer[]][] = [
      ['cut', [chunk(0), chunk(1), chunk(2).subarray(0, -1)]],
      ['a missing chunk', [chunk(0), chunk(1)]],
      ['nothing', []],
      ['extended', [chunk(0), chunk(1), chunk(2), Buffer.of(0)]],
      ['one more chunk', [chunk(0), chunk(1), chunk(2), chunk(3)]],
      ['reordered', [chunk(1), chunk(0), chunk(2)]],
      ['repeated', [chunk(0), chunk(0), chunk(2)]],
      ['another range', [chunk(1), chunk(2), chunk(3)]],
      ['another file', [swapped.subarray(sealedHeader, sealedHeader + 3 * sealedChunk)]],
      ['plaintext', [bytes.subarray(0, 3 * sealedChunk)]],
      ['the whole file', [sealed]],
    ];
    for (const [what, parts] of ranges) {
      proxy.tamper = (path, body) => (path.startsWith('/files/') ? Buffer.concat(parts) : body);
      await assert.rejects(async () => bytesOf(await room.download(file, { range })), isDamaged, what);
    }
    proxy.tamper = untouched;
    proxy.tamperResponse = (response, { path }) =>
      path.startsWith('/files/') ? { ...response, status: 200, body: sealed } : response;
    await assert.rejects(room.download(file, { range }), { code: 'INVALID_RESPONSE' }, 'a server that ignores ranges');
  });

  it('[slow] [SEALED-96] [SEALED-43] does not use up a one-time file whose bytes it extends, swaps or reorders', async (t) => {
    const { proxy, room, bytes, once, sealed, swapped, chunk, head } = await setUp(t);
    const bodies: [string, Buffer][] = [
      ['another file', swapped],
      ['the same bytes with another salt', sealed],
      ['reordered', Buffer.concat([head, chunk(1), chunk(0), chunk(2), chunk(3)])],
      ['extended', Buffer.concat([sealed, Buffer.of(0)])],
    ];
    for (const [what, body] of bodies) {
      proxy.tamper = (path, received) => (path.includes('claim=') ? body : received);
      const isRefused = (error: unknown) => isDamaged(error) || (error as PoproomError).code === 'INVALID_RESPONSE';
      await assert.rejects(room.receive(once), isRefused, what);
    }
    proxy.tamper = untouched;
    assert.equal((await room.files()).length, 3);
    assert.deepEqual(Buffer.from(await (await room.receive(once)).arrayBuffer()), bytes);
  });
});

describe('the files that a malicious server lists', () => {
  const named = (files: readonly FileEntry[]) => files.map(({ fileId, fileName }) => [fileId, fileName]);

  it('[SEALED-94] have no name, type or folder that the server chose', async (t) => {
    const { proxy, room } = await start(t);
    await room.upload(randomBytes(10), { name: 'a.txt' });
    await room.upload(randomBytes(10), { name: 'b.txt', folder: 'b' });
    const chosen = { fileName: 'invoice.exe', contentType: 'text/html', folder: '../x' };
    const changes: [string | undefined, (file: FileEntry) => FileEntry][] = [
      ['encrypted', (file) => ({ ...file, ...chosen, meta: `${file.meta?.slice(0, -4)}AAAA` })],
      ['encrypted', ({ meta: _meta, ...file }) => ({ ...file, ...chosen })],
      ['encrypted', (file) => ({ ...file, ...chosen, meta: '' })],
      [undefined, (file) => ({ ...file, ...chosen })],
    ];
    for (const [expected, change] of changes) {
      tamperFileLists(proxy, (files) => files.map(change));
      const follower = follow(t, room);
      for (const files of [await room.files(), (await follower.next('snapshot')).files]) {
        const [first, second] = files as [FileEntry, FileEntry];
        assert.deepEqual([first.fileName, first.folder], [expected ?? 'a.txt', undefined]);
        assert.deepEqual([second.fileName, second.folder], [expected ?? 'b.txt', expected ? undefined : 'b']);
        assert.equal(first.contentType, expected ? 'application/octet-stream' : 'text/plain');
        if (expected) await assert.rejects(room.download(first), isDamaged);
      }
      follower.leave();
    }
  });

  it('[SEALED-95] appear once, and none takes the place of another', async (t) => {
    const { proxy, room } = await start(t);
    await room.upload(randomBytes(10), { name: 'a.txt' });
    await room.upload(randomBytes(10), { name: 'b.txt' });
    const [one, two] = (await room.files()) as [FileEntry, FileEntry];
    const expected = [
      [one.fileId, 'a.txt'],
      [two.fileId, 'b.txt'],
    ];
    tamperFileLists(proxy, (files) => [...files, copyOf(files[0] as FileEntry, '0'), files[0] as FileEntry]);
    assert.deepEqual(named(await room.files()), expected);
    const follower = follow(t, room);
    assert.deepEqual(named((await follower.next('snapshot')).files), expected);

    proxy.inject({ type: 'file-added', seq: 100, file: copyOf(two, '1') });
    assert.equal((await follower.next('file-removed')).fileId, '1'.repeat(32));
    proxy.inject({ type: 'file-added', seq: 101, file: { ...one, meta: two.meta } });
    assert.equal((await follower.next('file-added')).file.fileName, 'a.txt', 'the id of another file');

    tamperFileLists(proxy, ([first, second]) => [
      copyOf(first as FileEntry, '2'),
      { ...(second as FileEntry), meta: '' },
      first as FileEntry,
    ]);
    proxy.tamperSentMessage = ({ seq: _seq, version: _version, resumeToken: _token, ...join }) => join;
    proxy.closeChannels(1012);
    assert.deepEqual(named((await follower.next('snapshot')).files), expected.toReversed(), 'those from before stay');

    await room.removeFile(one.fileId);
    assert.equal((await follower.next('file-removed')).fileId, one.fileId);
    await room.restoreFile(one.fileId);
    assert.equal((await follower.next('file-added')).file.fileName, 'a.txt', 'after Undo');
  });
});
