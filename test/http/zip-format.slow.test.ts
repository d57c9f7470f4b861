/** The format of zip archives beyond 4 GiB and 65,535 files, read by unzip. No bytes of large files are written. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { crc32 } from 'node:zlib';
import { zipStream } from '../../src/http/routes/file-handlers.ts';
import {
  descriptor,
  directoryRecord,
  endRecords,
  localHeader,
  planZip,
  type ZipFile,
  type ZipPlan,
} from '../../src/zip/format.ts';
import { namesInZip, textInZip, unzip } from '../support/info-zip.ts';
import { startTestServer } from '../support/server.ts';

const GiB = 1024 ** 3;
const modifiedAt = Date.UTC(2026, 0, 15, 9, 30);
const smallText = 'behind 4 GiB';

/** Writes an archive whose large files are holes. Returns its path. */
async function sparseZip(t: TestContext, plan: ZipPlan): Promise<string> {
  const path = join(await temporaryFolder(t), 'archive.zip');
  const file = await open(path, 'w');
  const records: Uint8Array[] = [];
  for (const entry of plan.entries) {
    const bytes = entry.file.size === smallText.length ? Buffer.from(smallText) : Buffer.alloc(0);
    const header = localHeader(entry);
    const end = descriptor(entry, crc32(bytes));
    await file.write(Buffer.concat([header, bytes]), 0, undefined, entry.offset);
    await file.write(end, 0, undefined, entry.offset + header.length + entry.file.size);
    records.push(directoryRecord(entry, crc32(bytes)));
  }
  await file.write(Buffer.concat([...records, endRecords(plan)]), 0, undefined, plan.directoryAt);
  assert.equal((await file.stat()).size, plan.length, 'its length is known in advance');
  await file.close();
  return path;
}

const fileOf = (path: string, size: number): ZipFile => ({ path, size, modifiedAt });

describe('a zip archive', () => {
  it('[ZIP-1] [ZIP-4] of a room has its folders, names and times', async (t) => {
    const { api, url, clock } = await startTestServer(t);
    const room = await api.room();
    const names = ['größe 日本 🎉.txt', 'empty', 'plain.txt'];
    for (const name of names) await api.upload(room, name, name === 'empty' ? '' : name);
    const archive = await (await fetch(`${url}/api/rooms/${room}/files.zip`)).bytes();
    const found = await unzip(t, archive);
    assert.deepEqual(found.map(({ path }) => path).sort(), names.toSorted());
    for (const { path, bytes, modifiedAt } of found)
      assert.deepEqual([String(bytes), modifiedAt], [path === 'empty' ? '' : path, clock.now]);
  });

  it('[ZIP-4] has files of more than 4 GiB, and files behind them', async (t) => {
    const plan = planZip([
      fileOf('large', 5 * GiB),
      fileOf('größe.txt', smallText.length),
      fileOf('last', 4 * GiB - 1),
    ]);
    const path = await sparseZip(t, plan);
    assert.deepEqual(await namesInZip(path), ['large', 'größe.txt', 'last']);
    assert.equal(await textInZip(path, 'größe.txt'), smallText);
  });

  it('[ZIP-4] reads at most a few chunks ahead, opens one file at a time and closes it', async () => {
    const chunk = Buffer.alloc(128 * 1024);
    const opened: Readable[] = [];
    let read = 0;
    const plan = planZip(['a', 'b'].map((path) => fileOf(path, 100 * chunk.length)));
    const stream = zipStream(plan, async () => {
      const source = new Readable({
        read() {
          read += chunk.length;
          this.push(Buffer.from(chunk));
        },
      });
      opened.push(source);
      return source;
    });
    let received = 0;
    for await (const piece of stream) {
      received += piece.length;
      assert.ok(read - received <= 4 * chunk.length, `${read} bytes read, ${received} sent`);
      if (received > 10 * chunk.length) break;
    }
    assert.deepEqual([opened.length, opened[0]?.destroyed], [1, true]);
  });

  it('[ZIP-4] closes a file whose bytes do not arrive', async () => {
    const silent = new Readable({ read() {} });
    const stream = zipStream(planZip([fileOf('a', 10)]), async () => {
      setImmediate(() => stream.destroy());
      return silent;
    });
    await once(stream.resume(), 'close');
    assert.ok(silent.destroyed);
  });

  it('[ZIP-4] has more than 65,535 files', async (t) => {
    const count = 65_536;
    const { entries, directoryAt } = planZip([fileOf('same', 0)]);
    const [entry = assert.fail()] = entries;
    const record = directoryRecord(entry, 0);
    const records = Buffer.alloc(count * record.length, record);
    const plan = { entries: Array(count).fill(entry), directoryAt, directoryLength: records.length, length: 0 };
    const path = join(await temporaryFolder(t), 'archive.zip');
    await writeFile(path, Buffer.concat([localHeader(entry), descriptor(entry, 0), records, endRecords(plan)]));
    assert.equal((await namesInZip(path)).length, count);
  });
});

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-zip-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
