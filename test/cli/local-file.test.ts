/** A local file as the source of an upload. */
import assert from 'node:assert/strict';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { LocalFile } from '../../src/cli/room/local-file.ts';

const GiB = 1024 ** 3;

describe('a local file', () => {
  it('[CLI-10] has its true size and its bytes at any position, also over 4 GiB', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'poproom-'));
    t.after(() => rm(folder, { recursive: true }));
    const path = join(folder, 'large');
    const handle = await open(path, 'w');
    await handle.write('at the end', 5 * GiB);
    await handle.close();
    const file = new LocalFile(path, await stat(path));
    assert.equal(file.size, 5 * GiB + 10);
    const end = file.slice(5 * GiB - 2, 6 * GiB);
    assert.equal(end.size, 12);
    assert.equal(await textOf(end), '\0\0at the end');
    assert.equal(await textOf(end.slice(5, 8)), 'the');
    assert.equal(await textOf(end.slice(8, 5)), '');
  });
});

const textOf = (blob: Blob) => new Response(blob.stream()).text();
