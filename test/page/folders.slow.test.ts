/** Folders: dropped or picked with everything in them. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { chooseEntry, joinRoom, sharedTestSite, startTestSite, type TestSite } from '../support/page.ts';
import { arrived, dropFiles, rowOf } from './support/files.ts';

const contents = { 'photos/a.txt': 'a', 'photos/2026/b.txt': 'b', 'photos/2026/may/c.txt': 'c' };
const listed = ['photos/2026/b.txt', 'photos/2026/may/c.txt', 'photos/a.txt'];

describe('the page, a folder', () => {
  it('[PAGE-34] is dropped with all its files, which keep their paths', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const { page } = await joinRoom(site, code);
    await dropFromDisk(page, [join(await folderOnDisk(t, contents), 'photos')]);
    for (const name of ['a.txt', 'b.txt', 'c.txt']) await arrived(page, name);
    assert.deepEqual(await pathsOf(site, code), listed);
    await rowOf(page, 'c.txt').getByText('photos/2026/may/ · 1 byte · TXT').waitFor();
  });

  it('[PAGE-34] is picked with all its files, and files can still be picked after it', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const { page } = await joinRoom(site, code);
    const folder = await folderOnDisk(t, contents);
    await pick(page, 'Choose folder', join(folder, 'photos'));
    for (const name of ['a.txt', 'b.txt', 'c.txt']) await arrived(page, name);
    assert.deepEqual(await pathsOf(site, code), listed);
    await writeFile(join(folder, 'single.txt'), 'x');
    await pick(page, 'Choose files', join(folder, 'single.txt'));
    await arrived(page, 'single.txt');
    assert.deepEqual(await pathsOf(site, code), [...listed, 'single.txt'].sort());
  });

  it('[PAGE-34] [PAGE-118] with far too many files is added as far as it fits, and the others wait in one line', async (t) => {
    const site = await startTestSite(t, { POPROOM_ROOM_MAX_FILES: '2' });
    const code = await site.server.api.room();
    const { page } = await joinRoom(site, code);
    const files = Array.from({ length: 30 }, (_, n) => ({ name: `${n}.txt`, content: 'x' }));
    await dropFiles(page, 'body', files);
    for (const name of ['0.txt', '1.txt']) await arrived(page, name);
    const rest = page.getByRole('alert');
    await rest.getByText('2 of 30 files added. This room is full. Remove files to free up space.').waitFor();
    assert.equal(await page.locator('.file').count(), 2, 'the others have no rows');

    await page.getByRole('button', { name: 'Remove 0.txt' }).click();
    await eventually('it is removed', async () => (await pathsOf(site, code)).join() === '1.txt');
    await rest.getByRole('button', { name: 'Try again' }).click();
    await arrived(page, '2.txt');
    await rest.getByText('1 of 28 files added.').waitFor();
    await rest.getByRole('button', { name: 'Dismiss all' }).click();
    await rest.waitFor({ state: 'detached' });
    assert.deepEqual(await pathsOf(site, code), ['1.txt', '2.txt']);
  });
});

describe('the page, the kind of a file', () => {
  it('[PAGE-12] is shown by an icon', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const names = ['song.mp3', 'film.mkv', 'all.zip', 'text.pdf', 'data.bin'];
    for (const name of names) await site.server.api.upload(code, name, 'x');
    const { page } = await site.openDevice({ at: `/r/${code}` });
    for (const name of names) await arrived(page, name);
    const icons = await page
      .locator('.thumbnail path')
      .evaluateAll((paths) => paths.map((path) => path.getAttribute('d')));
    assert.equal(new Set(icons).size, names.length);
  });
});

async function folderOnDisk(t: TestContext, files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-folder-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

async function pick(page: Page, entry: string, path: string): Promise<void> {
  const [dialog] = await Promise.all([page.waitForEvent('filechooser'), chooseEntry(page, entry, 'Add files')]);
  await dialog.setFiles(path);
}

/** As from a file manager: only such a drop has folders. */
async function dropFromDisk(page: Page, files: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await session.send('Input.dispatchDragEvent', { type, x: 300, y: 300, data });
  }
}

async function pathsOf({ server }: TestSite, code: string): Promise<string[]> {
  const { files } = (await server.api.get(`/api/rooms/${code}/files`)).json;
  return files
    .map(({ folder, fileName }: { folder?: string; fileName: string }) => join(folder ?? '', fileName))
    .sort();
}
