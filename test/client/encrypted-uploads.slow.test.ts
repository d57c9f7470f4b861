/** Uploads to encrypted rooms: nothing that the server says decides the key or a nonce of a file. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  createClient,
  type FileEntry,
  type Room,
  type UploadOptions,
  type UploadSource,
} from '../../src/client/index.ts';
import { startKeystreamAttack } from '../support/keystream-attack.ts';
import { jsonResponse, startMaliciousServer } from '../support/malicious-server.ts';
import { startTestServer } from '../support/server.ts';

const MiB = 1024 * 1024;
const size = 6 * MiB + 7;
const name = 'report.bin';

async function start(t: TestContext) {
  const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
  const proxy = await startMaliciousServer(t, () => server.port);
  const client = createClient({ url: proxy.url });
  const room = await client.createRoom({ encrypted: true });
  return { proxy, client, room, attack: startKeystreamAttack(proxy) };
}

/** Starts an upload, and aborts it when a part was stored. Returns the id to continue it with. */
async function interruptUpload(room: Room, source: UploadSource, options: UploadOptions = {}): Promise<string> {
  const aborter = new AbortController();
  let uploadId = '';
  const upload = room.upload(source, {
    name,
    ...options,
    signal: aborter.signal,
    onUploadId: (id) => {
      uploadId = id;
    },
    onProgress: (sent) => sent >= 2 * MiB && aborter.abort(),
  });
  await assert.rejects(upload, { name: 'AbortError' });
  assert.ok(uploadId);
  return uploadId;
}

async function newFile(t: TestContext, bytes: Uint8Array): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-upload-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

/** Only bytes in the middle differ. */
function changed(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  randomBytes(3 * MiB).copy(copy, 100_000);
  return copy;
}

const aDayAgo = new Date(Date.now() - 86_400_000);
const isStored = async (room: Room, file: FileEntry, bytes: Uint8Array) =>
  assert.deepEqual(new Uint8Array(await (await room.download(file)).arrayBuffer()), new Uint8Array(bytes));

/** A file on a disk, of which the runtime does not notice changes. */
class ChangingFile extends Blob {
  readonly #current: () => Uint8Array<ArrayBuffer>;
  readonly #range: readonly [number, number];
  readonly name = name;
  readonly lastModified = 1;

  constructor(current: () => Uint8Array<ArrayBuffer>, range: readonly [number, number] = [0, current().length]) {
    super();
    this.#current = current;
    this.#range = range;
  }

  override get size() {
    return this.#range[1] - this.#range[0];
  }

  override slice(from = 0, to = this.size): Blob {
    const [start] = this.#range;
    return new ChangingFile(this.#current, [start + from, start + Math.min(to, this.size)]);
  }

  override stream() {
    return new Blob([this.#current().subarray(...this.#range)]).stream();
  }
}

describe('a continued upload to an encrypted room', () => {
  it('[slow] [SEALED-90] does not use the salt of another file that the server shows', async (t) => {
    const { room, attack } = await start(t);
    const [known, secret] = [randomBytes(size), randomBytes(size)];
    await room.upload(known, { name });
    const uploadId = await interruptUpload(room, secret);
    attack.pretend(attack.metas[0] ?? '');
    await room.upload(secret, { name, uploadId, onProgress: () => undefined });
    const [first, ...others] = attack.sent.filter(({ at }) => at === 0).map(({ bytes }) => bytes.subarray(0, 1000));
    assert.deepEqual(
      [others.length, others[0]?.equals(others[1] ?? first ?? Buffer.of())],
      [2, true],
      'the same bytes',
    );
    assert.equal(attack.reveals(known, secret), false);

    const bare = uploadId.split('.')[0];
    await room.upload(secret, { name, uploadId: bare, onProgress: () => undefined });
    assert.equal(attack.metas.length, 3, 'an id without its salt starts a new upload');
    assert.equal(attack.reveals(known, secret), false);
  });

  it('[SEALED-90] starts again with another salt if the file or its id is not the same', async (t) => {
    const { client, room, attack } = await start(t);
    const before = randomBytes(size);
    const after = changed(before);
    const path = await newFile(t, before);
    const uploadId = await interruptUpload(room, path);
    await writeFile(path, after);
    await room.upload(path, { uploadId, onProgress: () => undefined });
    await isStored(room, (await room.files()).at(-1) as FileEntry, after);
    assert.equal(attack.metas.length, 2);

    const ofBytes = await interruptUpload(room, before);
    await room.upload(after, { name, uploadId: ofBytes, onProgress: () => undefined });
    assert.equal(attack.metas.length, 4, 'bytes without a time of modification');
    assert.equal(attack.reveals(before, after), false);

    const other = await client.createRoom({ encrypted: true });
    const kept = await interruptUpload(room, before);
    const [id, envelope] = [kept.slice(0, 32), kept.slice(33)];
    const wrong: [Room, string, UploadOptions][] = [
      [other, kept, {}],
      [room, `${'0'.repeat(32)}.${envelope}`, {}],
      [room, `${id}.${attack.metas[0]}`, {}],
      [room, kept, { name: 'other.bin' }],
      [room, kept, { type: 'text/plain' }],
      [room, kept, { folder: 'a' }],
      [room, kept, { once: true }],
    ];
    for (const [index, [where, uploadId, options]] of wrong.entries()) {
      const started = await interruptUpload(where, before, { ...options, uploadId });
      assert.deepEqual([attack.metas.length, started === uploadId], [6 + index, false]);
    }
  });

  it('[SEALED-90] [SEALED-41] continues without a new salt if the file is the same, in one request too', async (t) => {
    const { room, attack } = await start(t);
    const bytes = randomBytes(size);
    const path = await newFile(t, bytes);
    const uploadId = await interruptUpload(room, path);
    await room.upload(path, { uploadId, onProgress: () => undefined });
    assert.equal(attack.metas.length, 1);
    await isStored(room, (await room.files())[0] as FileEntry, bytes);

    const ids: string[] = [];
    await room.upload(Buffer.from('small'), { name, onUploadId: (id) => ids.push(id) });
    const again = { name, uploadId: ids[0], onProgress: () => undefined };
    const { fileId } = await room.upload(Buffer.from('small'), again);
    assert.deepEqual([attack.metas.length, fileId, (await room.files()).length], [2, ids[0]?.slice(0, 32), 2]);
    assert.equal(ids.length, 1);
  });

  it('[SEALED-90] is cancelled with its id', async (t) => {
    const { room } = await start(t);
    const uploadId = await interruptUpload(room, randomBytes(size));
    await room.cancelUpload(uploadId);
    await assert.rejects(room.cancelUpload(uploadId), { status: 404 });
  });
});

describe('a file that changes during its upload to an encrypted room', () => {
  it('[SEALED-91] is not sent any further, even if its size and time of modification are the same', async (t) => {
    const { room, attack } = await start(t);
    const before = randomBytes(size);
    const after = changed(before);
    const path = await newFile(t, before);
    utimesSync(path, aDayAgo, aDayAgo);
    const upload = room.upload(path, {
      onProgress: (sent) => {
        if (sent === 0) return;
        writeFileSync(path, after);
        utimesSync(path, aDayAgo, aDayAgo);
      },
    });
    await assert.rejects(upload, { code: 'FILE_CHANGED' });
    assert.equal(attack.sent.length, 1);
    await room.upload(path);
    assert.equal(attack.reveals(before, after), false);
  });

  it('[SEALED-91] is not encrypted twice with one salt for a server that asks for the same bytes again', async (t) => {
    const { proxy, room, attack } = await start(t);
    const before = Uint8Array.from(randomBytes(size));
    const after = Uint8Array.from(changed(Buffer.from(before)));
    let current = before;
    const source = new ChangingFile(() => current);
    attack.pretend('');
    const answer = proxy.answer;
    proxy.answer = (request) => {
      const response = answer(request);
      if (request.headers['upload-offset'] !== String(MiB)) return response;
      current = after;
      throw new Error('lost');
    };
    const ids: string[] = [];
    const options: UploadOptions = { onUploadId: (id) => ids.push(id), onProgress: () => undefined };
    await assert.rejects(room.upload(source, options), { code: 'FILE_CHANGED' });
    assert.equal(attack.sent.filter(({ at }) => at === 0).length, 1);
    await assert.rejects(room.upload(source, { ...options, uploadId: ids[0] }), { code: 'FILE_CHANGED' });
    assert.equal(attack.reveals(before, after), false);
    proxy.answer = answer;
    await room.upload(source, options);
    assert.equal(attack.reveals(before, after), false);
  });

  it('[SEALED-91] has another salt in each request that sends all of it', async (t) => {
    const { proxy, room, attack } = await start(t);
    const before = Uint8Array.from(randomBytes(size));
    const after = Uint8Array.from(changed(Buffer.from(before)));
    let current = before;
    const answer = proxy.answer;
    proxy.answer = (request) => {
      answer(request);
      if (!/PATCH|HEAD/.test(request.method)) return undefined;
      current = after;
      return jsonResponse(404, { error: { code: 'NOT_FOUND', message: 'There is no such path.' } });
    };
    const source = new ChangingFile(() => current);
    await room.upload(source);
    assert.deepEqual([attack.sent.length, attack.reveals(before, after)], [2, false]);
    await isStored(room, (await room.files())[0] as FileEntry, after);

    const small = Buffer.from('A small file is sent in one request.');
    proxy.answer = (request) => {
      answer(request);
      if (!/\/upload$/.test(request.path)) return undefined;
      return jsonResponse(503, { error: { code: 'UNAVAILABLE', message: 'Try again.' } });
    };
    for (const _attempt of [1, 2]) await assert.rejects(room.upload(small, { name }), { code: 'UNAVAILABLE' });
    const [one, other] = attack.sent.slice(-2).map(({ bytes }) => bytes.subarray(8));
    assert.ok(one && other && one.length === other.length && !one.equals(other));
  });
});

describe('a server that lies about the progress of an upload', () => {
  it('[SEALED-92] is reported instead of being sent parts without end', async (t) => {
    const { proxy, room, attack } = await start(t);
    const answer = proxy.answer;
    const offsets: [string, (sent: number) => number][] = [
      ['after the end', () => 2 ** 40],
      ['not moving', () => 0],
      ['going back once', (sent) => (sent > 2 * MiB ? MiB : sent)],
    ];
    for (const [what, offsetAfter] of offsets) {
      proxy.answer = (request) => {
        answer(request);
        if (request.method !== 'PATCH') return undefined;
        const sent = Number(request.headers['upload-offset']) + request.body.length;
        const headers = { 'tus-resumable': '1.0.0', 'upload-offset': String(offsetAfter(sent)) };
        return { status: 204, headers, body: Buffer.alloc(0) };
      };
      await assert.rejects(room.upload(randomBytes(size), { name }), { code: 'INVALID_RESPONSE' }, what);
    }
    assert.ok(attack.sent.length < 10, String(attack.sent.length));

    proxy.answer = (request) => {
      answer(request);
      const headers = { 'tus-resumable': '1.0.0', 'upload-offset': String(request.body.length) };
      if (request.headers['upload-offset'] === '0') return { status: 204, headers, body: Buffer.alloc(0) };
      if (request.method !== 'PATCH') return undefined;
      return jsonResponse(409, { error: { code: 'UPLOAD_CONFLICT', message: 'Elsewhere.', details: { offset: 0 } } });
    };
    await assert.rejects(room.upload(randomBytes(size), { name }), { code: 'UPLOAD_CONFLICT' }, 'going back each time');
  });
});
