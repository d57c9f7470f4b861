/** The progress of transfers, and the type that the SDK derives from the name of a file. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createClient, type FileEntry, type NewRoom, type Room } from '../../src/client/index.ts';
import { sharedServer } from '../support/server.ts';

const size = 300_000;
const bytes = new Uint8Array(size).fill(7);

type Reports = [bytes: number, total: number | undefined][];

function recorder() {
  const reports: Reports = [];
  return { reports, onProgress: (done: number, total: number | undefined) => void reports.push([done, total]) };
}

/** Ascending to the size of the file, always with the total. */
function assertComplete(reports: Reports, total: number | undefined): void {
  assert.ok(reports.length > 0);
  assert.equal(reports.at(-1)?.[0], size);
  for (const [index, [done, said]] of reports.entries()) {
    assert.equal(said, total);
    assert.ok(done >= (reports[index - 1]?.[0] ?? 0), 'ascending');
  }
}

async function openRoom(t: TestContext, request: NewRoom = { pin: '0427' }): Promise<Room> {
  const { url } = await sharedServer(t);
  return createClient({ url }).createRoom(request);
}

const openRooms = async (t: TestContext) => [await openRoom(t), await openRoom(t, { encrypted: true })];

describe('a transfer', () => {
  it('[SDK-37] continues a download only if the file is still the same', async (t) => {
    const server = await sharedServer(t);
    const room = await createClient({ url: server.url }).createRoom();
    const { fileUrl } = await room.upload(new Blob(['0123456789']), { name: 'a.txt' });
    const whole = await room.download({ fileUrl });
    await whole.body?.cancel();
    const range = { from: 4, to: 10 };
    const read = async (ifRange: string | undefined) => {
      const response = await room.download({ fileUrl }, { range, ifRange });
      return [response.status, await response.text()];
    };
    assert.deepEqual(await read(whole.headers.get('ETag') ?? ''), [206, '456789']);
    assert.deepEqual(await read('"another"'), [200, '0123456789']);
    assert.deepEqual(await read(undefined), [206, '456789']);
  });

  it('[SDK-27] reports its progress with the total, in ordinary and in encrypted rooms', async (t) => {
    for (const room of await openRooms(t)) {
      const uploaded = recorder();
      await room.upload(bytes, { name: 'a.bin', onProgress: uploaded.onProgress });
      assertComplete(uploaded.reports, size);
      const [file] = (await room.files()) as [FileEntry];
      const downloaded = recorder();
      const response = await room.download(file, { onProgress: downloaded.onProgress });
      assert.deepEqual(new Uint8Array(await response.arrayBuffer()), bytes);
      assertComplete(downloaded.reports, size);

      await room.upload(bytes, { name: 'once.bin', once: true });
      const once = (await room.files()).find((each) => each.once) as FileEntry;
      const received = recorder();
      assert.equal((await room.receive(once, { onProgress: received.onProgress })).size, size);
      assertComplete(received.reports, size);
    }
  });

  it('[SDK-27] of a stream reports the total that the program names', async (t) => {
    const room = await openRoom(t);
    for (const total of [size, undefined]) {
      const { reports, onProgress } = recorder();
      await room.upload(new Blob([bytes]).stream(), { name: 'a.bin', size: total, onProgress });
      assertComplete(reports, total);
    }
  });

  it('[SDK-27] [ZIP-9] of a part, or of a zip archive, reports that part or archive', async (t) => {
    const room = await openRoom(t);
    await room.upload(bytes, { name: 'a.bin' });
    const [file] = (await room.files()) as [FileEntry];
    const part = recorder();
    await (await room.download(file, { range: { from: 10, to: 20 }, onProgress: part.onProgress })).bytes();
    assert.deepEqual(part.reports.at(-1), [10, 10]);
    const zip = recorder();
    const archive = await (await room.downloadZip({ onProgress: zip.onProgress })).bytes();
    assert.equal(zip.reports.at(-1)?.[0], archive.length);
  });

  it('[SDK-27] keeps what a response of fetch has, and can be read into a buffer', async (t) => {
    const room = await openRoom(t);
    await room.upload(bytes, { name: 'a.png' });
    const [file] = (await room.files()) as [FileEntry];
    const response = await room.download(file);
    assert.deepEqual([response.status, response.ok, response.headers.get('content-type')], [200, true, 'image/png']);
    assert.match(response.url, /\/files\/[0-9a-f]{32}\/a\.png$/);
    const reader = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader({ mode: 'byob' });
    let read = 0;
    for (let next = await reader.read(new Uint8Array(1000)); !next.done; next = await reader.read(new Uint8Array(1000)))
      read += next.value.length;
    assert.equal(read, size);
  });

  it('[SDK-27] fails with the error that onProgress throws', async (t) => {
    const room = await openRoom(t);
    const reason = new Error('enough');
    const onProgress = () => {
      throw reason;
    };
    await assert.rejects(room.upload(bytes, { name: 'a.bin', onProgress }), reason);
    await room.upload(bytes, { name: 'a.bin' });
    const [file] = (await room.files()) as [FileEntry];
    await assert.rejects((await room.download(file, { onProgress })).bytes(), reason);
  });
});

describe('the type of a file', () => {
  it('[SDK-26] is that of the options, of the Blob, or of the extension of its name', async (t) => {
    for (const room of await openRooms(t)) {
      const typeOf = async (source: Blob, name: string, type?: string) => {
        await room.upload(source, { name, type });
        return (await room.files()).at(-1)?.contentType;
      };
      const plain = new Blob(['x']);
      assert.equal(await typeOf(plain, 'photo.JPG'), 'image/jpeg');
      assert.equal(await typeOf(plain, 'notes.2026.md'), 'text/markdown');
      assert.equal(
        await typeOf(plain, 'report.docx'),
        'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      );
      for (const name of ['Makefile', 'a.unknown', 'png', '.png.', 'a.constructor'])
        assert.equal(await typeOf(plain, name), 'application/octet-stream', name);
      assert.equal(await typeOf(new Blob(['x'], { type: 'image/x-test' }), 'a.png'), 'image/x-test');
      assert.equal(await typeOf(plain, 'a.png', 'text/plain'), 'text/plain');
    }
  });
});
