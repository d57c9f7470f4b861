/** Rooms, text and files by requests of the SDK. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  createClient,
  PoproomError,
  type PoproomErrorCode,
  type Room,
  type UploadSource,
} from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer } from '../support/server.ts';
import { startUnfinishedResponse } from '../support/unfinished-response.ts';
import { unzip } from '../support/unzip.ts';

describe('a room', () => {
  it('[SDK-8] keeps its PIN if this client created it', async (t) => {
    const { client } = await setUp(t);
    const room = await client.createRoom({ pin: '0427', expiresIn: 3600 });
    assert.equal(room.hasPin, true);
    const { roomId, expiresAt, hasPin, deviceCount } = await room.info();
    assert.deepEqual({ roomId, expiresAt, hasPin, deviceCount }, { ...shown(room), deviceCount: 0 });
    assert.equal(room.link, `${client.url}/r/${room.code}`);
  });

  it('[SDK-8] is opened by its code in any notation, and its PIN', async (t) => {
    const { client } = await setUp(t);
    const { code } = await client.createRoom({ pin: '0427' });
    const typed = ` ${code.slice(0, 3).toLowerCase()}-${code.slice(3)} `;
    assert.equal((await client.room(typed, { pin: '0427' }).info()).roomId, code);
    await assert.rejects(client.room(typed).info(), is('PIN_REQUIRED'));
    await assert.rejects(client.room(typed, { pin: '0428' }).info(), is('PIN_INCORRECT'));
    await assert.rejects(client.room('no/such room?').info(), is('ROOM_NOT_FOUND'));
  });

  it('[SDK-8] is deleted with its content', async (t) => {
    const { room } = await setUp(t);
    assert.equal((await room.delete()).success, true);
    await assert.rejects(room.read(), is('ROOM_NOT_FOUND'));
  });

  it('[SDK-8] is no longer requested after an abort', async (t) => {
    const { client, room } = await setUp(t);
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    for (const call of [room.info, room.read, room.files, room.downloadZip, room.zipUrl, room.delete, client.health])
      await assert.rejects(call({ signal }), reason);
    await assert.rejects(room.write('x', { signal }), reason);
    await assert.rejects(room.upload(new Blob(['x']), { name: 'x', signal }), reason);
    assert.equal((await client.health()).status, 'healthy');
  });
});

describe('the files of a room as a zip archive', () => {
  it('[ZIP-9] are downloaded with the PIN, or by a URL that does not contain it', async (t) => {
    const { client } = await setUp(t);
    const room = await client.createRoom({ pin: '0427' });
    await assert.rejects(room.downloadZip(), is('FILE_NOT_FOUND'));
    for (const name of ['a.txt', 'b.txt']) await room.upload(new Blob([name]), { name });
    const namesIn = async (response: Response) => unzip(await response.bytes()).map(({ path }) => path);
    assert.deepEqual(await namesIn(await room.downloadZip()), ['a.txt', 'b.txt']);
    const files = [(await room.files())[1]?.fileId ?? ''];
    assert.deepEqual(await namesIn(await room.downloadZip({ files })), ['b.txt']);
    const [all, selected] = [await room.zipUrl(), await room.zipUrl({ files })];
    assert.ok(all.startsWith(`${client.url}/api/rooms/${room.code}/files.zip?ticket=`));
    assert.deepEqual(await namesIn(await fetch(all)), ['a.txt', 'b.txt']);
    assert.deepEqual(await namesIn(await fetch(selected)), ['b.txt']);
    await assert.rejects(client.room(room.code).zipUrl(), is('PIN_REQUIRED'));
    await assert.rejects(room.downloadZip({ files: ['0'.repeat(32)] }), is('FILE_NOT_FOUND'));
  });
});

describe('a call that is aborted during its response', () => {
  it('[SDK-8] fails with the reason of the abort', async (t) => {
    for (const status of [200, 500]) {
      const server = await startUnfinishedResponse(t, status);
      const room = createClient({ url: server.url }).room('7KQ2MX');
      const aborter = new AbortController();
      const reason = new Error('enough');
      const { signal } = aborter;
      const calls = [room.read({ signal }), room.info({ signal }), room.write('x', { signal })];
      const rejected = Promise.all(calls.map((call) => assert.rejects(call, reason)));
      await eventually('all have begun', () => server.responses === 3);
      aborter.abort(reason);
      await rejected;
      await assert.rejects(room.info({ signal: AbortSignal.timeout(100) }), { name: 'TimeoutError' });
    }
  });
});

describe('the text', () => {
  it('[SDK-9] is returned as it was written, with its version', async (t) => {
    const { room } = await setUp(t);
    assert.deepEqual({ ...(await room.read()), timestamp: '' }, { content: '', version: 0, timestamp: '' });
    const written = await room.write('naïve\0 你好 😀');
    assert.equal(written.version, 1);
    assert.deepEqual(await room.read(), written);
  });

  it('[SDK-9] is not overwritten if a write has an older base version', async (t) => {
    const { room } = await setUp(t);
    const first = await room.write('first', { baseVersion: 0 });
    const error = await failure(room.write('second', { baseVersion: 0 }));
    assert.equal(error.code, 'VERSION_CONFLICT');
    assert.equal(error.details.content, 'first');
    assert.equal(error.details.version, first.version);
    assert.equal((await room.write('second', { baseVersion: first.version })).version, 2);
  });
});

describe('a file', () => {
  const sources: Record<string, (bytes: Uint8Array<ArrayBuffer>) => Parameters<Room['upload']>[0]> = {
    'a Blob': (bytes) => new Blob([bytes]),
    bytes: (bytes) => bytes,
    'a stream': (bytes) => new Blob([bytes]).stream(),
    'an async iterator': async function* (bytes: Uint8Array) {
      for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
    },
  };
  for (const [kind, make] of Object.entries(sources)) {
    it(`[SDK-10] is uploaded from ${kind}, with its progress, and downloaded`, async (t) => {
      const { room } = await setUp(t);
      const bytes = crypto.getRandomValues(new Uint8Array(65_536));
      const told: number[] = [];
      const uploaded = await room.upload(make(bytes), {
        name: 'naïve 你好.bin',
        onProgress: (sent) => told.push(sent),
      });
      assert.equal(uploaded.fileName, 'naïve 你好.bin');
      assert.equal(told.at(-1), bytes.length);
      const [entry] = await room.files();
      assert.equal(entry?.fileUrl, uploaded.fileUrl);
      assert.deepEqual(await (await room.download(uploaded)).bytes(), bytes);
    });
  }

  it('[SDK-10] is uploaded from its path, under its own name', async (t) => {
    const { room } = await setUp(t);
    const path = join(await folder(t), 'notes.txt');
    await writeFile(path, 'hello');
    const uploaded = await room.upload(path, { type: 'text/plain' });
    assert.equal(uploaded.fileName, 'notes.txt');
    assert.equal((await room.files())[0]?.contentType, 'text/plain');
    assert.equal(await (await room.download(uploaded)).text(), 'hello');
    await assert.rejects(room.upload(`${path}.missing`), { code: 'ENOENT' });
  });

  it('[SDK-10] has its own name or a given one', async (t) => {
    const { room } = await setUp(t);
    assert.equal((await room.upload(new File(['x'], 'a.txt'))).fileName, 'a.txt');
    await assert.rejects(room.upload(new Blob(['x'])), TypeError);
  });

  it('[SDK-10] of more than 10 MB is rejected from any source, and nothing of it is stored', async (t) => {
    const { room } = await setUp(t);
    const large = new Blob([new Uint8Array(10_485_761)]);
    await assert.rejects(room.upload(large, { name: 'x' }), is('FILE_TOO_LARGE'));
    await assert.rejects(room.upload(large.stream(), { name: 'x' }), is('FILE_TOO_LARGE'));
    assert.deepEqual(await room.files(), []);
    const largest = await room.upload(new Blob([new Uint8Array(10_485_760)]).stream(), { name: 'x' });
    assert.equal(largest.fileSize, 10_485_760);
  });

  it('[SDK-10] whose source fails reports that error, and nothing of it is stored', async (t) => {
    const { room } = await setUp(t);
    const broken = new Error('the disk is gone');
    async function* source() {
      yield new Uint8Array(100_000);
      throw broken;
    }
    await assert.rejects(room.upload(source(), { name: 'x' }), broken);
    assert.deepEqual(await room.files(), []);
  });

  it('[SDK-10] is rejected with the reason, even if most of it was not sent yet', async (t) => {
    const { client } = await setUp(t);
    const { code } = await client.createRoom({ pin: '0427' });
    const bytes = new Blob([new Uint8Array(10_000_000)]);
    for (let time = 0; time < 3; time++) {
      await assert.rejects(client.room(code).upload(bytes, { name: 'x', onProgress: () => {} }), is('PIN_REQUIRED'));
      await assert.rejects(client.room(code).upload(bytes.stream(), { name: 'x' }), is('PIN_REQUIRED'));
    }
  });

  it('[SDK-10] can be aborted during the upload, and nothing of it is stored', async (t) => {
    const { room } = await setUp(t);
    const aborter = new AbortController();
    const reason = new Error('changed my mind');
    async function* endless() {
      yield new Uint8Array(1000);
      aborter.abort(reason);
      await new Promise(() => {});
    }
    await assert.rejects(room.upload(endless(), { name: 'x', signal: aborter.signal }), reason);
    assert.deepEqual(await room.files(), []);
  });

  it('[SDK-10] whose upload fails in any way closes its source', async (t) => {
    const { client, room } = await setUp(t);
    const { code } = await client.createRoom({ pin: '0427' });
    const elsewhere = createClient({ url: 'http://127.0.0.1:1' }).room('7KQ2MX');
    for (const open of [endlessIterator, endlessStream]) {
      const aborter = new AbortController();
      const ways: Record<string, (bytes: UploadSource) => Promise<unknown>> = {
        'too large': (bytes) => room.upload(bytes, { name: 'x' }),
        refused: (bytes) => client.room(code).upload(bytes, { name: 'x' }),
        'without a server': (bytes) => elsewhere.upload(bytes, { name: 'x' }),
        'called off': (bytes) =>
          room.upload(bytes, { name: 'x', signal: aborter.signal, onProgress: () => aborter.abort() }),
        'called off before': (bytes) => room.upload(bytes, { name: 'x', signal: aborter.signal }),
      };
      for (const [way, upload] of Object.entries(ways)) {
        const { bytes, isClosed } = open();
        await assert.rejects(upload(bytes));
        await eventually(`it is closed: ${open.name} ${way}`, isClosed);
      }
    }
  });

  it('[SDK-10] fails with the error of its progress callback', async (t) => {
    const { room } = await setUp(t);
    const broken = new Error('no screen');
    const onProgress = () => {
      throw broken;
    };
    await assert.rejects(room.upload(new Blob(['x']), { name: 'x', onProgress }), broken);
    assert.deepEqual(await room.files(), []);
  });

  it('[SDK-10] is removed, and its URL no longer works', async (t) => {
    const { room } = await setUp(t);
    const uploaded = await room.upload(new Blob(['x']), { name: 'x' });
    const [entry] = await room.files();
    await room.removeFile(entry?.fileId ?? '');
    assert.deepEqual(await room.files(), []);
    await assert.rejects(room.download(uploaded), is('FILE_NOT_FOUND'));
  });
});

async function setUp(t: TestContext) {
  const { url } = await sharedServer(t);
  const client = createClient({ url });
  return { client, room: await client.createRoom() };
}

const chunk = new Uint8Array(100_000);

function endlessIterator() {
  let isClosed = false;
  const iterator = {
    next: async () => ({ done: false, value: chunk }),
    return: async () => {
      isClosed = true;
      return { done: true, value: undefined } as const;
    },
  };
  const bytes: UploadSource = { [Symbol.asyncIterator]: () => iterator };
  return { bytes, isClosed: () => isClosed };
}

function endlessStream() {
  let isClosed = false;
  const bytes = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(chunk),
    cancel() {
      isClosed = true;
    },
  });
  return { bytes, isClosed: () => isClosed };
}

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'poproom-sdk-'));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

const shown = ({ code, expiresAt, hasPin }: { code: string; expiresAt: string; hasPin: boolean }) => ({
  roomId: code,
  expiresAt,
  hasPin,
});

const is = (code: PoproomErrorCode) => (error: unknown) => {
  assert.ok(error instanceof PoproomError, String(error));
  assert.equal(error.code, code);
  return true;
};

async function failure(promise: Promise<unknown>): Promise<PoproomError> {
  return promise.then(
    () => assert.fail('it did not fail'),
    (error) => error,
  );
}
