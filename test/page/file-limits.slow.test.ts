/** The limits of a room for files, which the page states before they are reached. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { joinRoom, startTestSite } from '../support/page.ts';
import { arrived, dropFiles, pickFiles, rowOf } from './support/files.ts';

const mebibyte = 1024 * 1024;
const states = (page: Page, words: string) => page.getByText(words, { exact: true }).waitFor();

describe('the page, the limits for files', () => {
  it('[PAGE-32] states what is left when most of the room is used, and counts with the list', async (t) => {
    const site = await startTestSite(t, { POPROOM_ROOM_MAX_BYTES: '10MiB' });
    const code = await site.server.api.room();
    const { page } = await joinRoom(site, code);
    await dropFiles(page, 'body', [{ name: 'five.bin', content: 5 * mebibyte }]);
    await arrived(page, 'five.bin');
    assert.equal(await page.getByText('left in this room').count(), 0);
    await site.server.api.upload(code, 'four.bin', new Uint8Array(4 * mebibyte));
    await states(page, 'Up to 10 MB per file, 1 MB left in this room');
    await page.getByRole('button', { name: 'Remove five.bin' }).click();
    await page.getByText('left in this room').waitFor({ state: 'detached' });
  });

  it('[PAGE-32] states raised limits in gigabytes, and accepts larger files', async (t) => {
    const site = await startTestSite(t, { POPROOM_FILE_MAX: '2GiB', POPROOM_ROOM_MAX_BYTES: '50GiB' });
    const { page } = await joinRoom(site, await site.server.api.room());
    await dropFiles(page, 'body', [{ name: 'video.mp4', content: 11 * mebibyte }]);
    await arrived(page, 'video.mp4');
    await page.route('**/upload', (route) => route.abort());
    await dropFiles(page, 'body', [{ name: 'next.mp4', content: 'x' }]);
    await states(page, 'Up to 2 GB per file, 50 GB left in this room');
  });

  it('[PAGE-11] [PAGE-32] refuses files that do not fit into the room, with the reason, and sends nothing of them', async (t) => {
    const site = await startTestSite(t, { POPROOM_FILE_MAX: '1MiB', POPROOM_ROOM_MAX_BYTES: '2MiB' });
    const code = await site.server.api.room();
    const { page } = await joinRoom(site, code);
    await dropFiles(page, 'body', [
      { name: 'first.bin', content: mebibyte },
      { name: 'huge.bin', content: mebibyte + 1 },
      { name: 'second.bin', content: mebibyte / 2 },
      { name: 'third.bin', content: mebibyte },
    ]);
    const reason = (name: string) => rowOf(page, name).getByRole('alert');
    await reason('huge.bin').filter({ hasText: 'File too large. The limit is 1 MB.' }).waitFor();
    await reason('third.bin').filter({ hasText: 'Not enough space. 512 kB left in this room.' }).waitFor();
    for (const name of ['first.bin', 'second.bin']) await arrived(page, name);
    assert.equal((await site.server.api.get(`/api/rooms/${code}/files`)).json.files.length, 2);

    await page.getByRole('button', { name: 'Remove first.bin' }).click();
    await states(page, 'Up to 1 MB per file, 1.5 MB left in this room');
    await page.getByRole('button', { name: 'Retry upload of third.bin' }).click();
    await arrived(page, 'third.bin');
  });

  it('[PAGE-11] [PAGE-32] refuses more files than a room may have', async (t) => {
    const site = await startTestSite(t, { POPROOM_ROOM_MAX_FILES: '2' });
    const { page } = await joinRoom(site, await site.server.api.room());
    await pickFiles(
      page,
      ['1.txt', '2.txt', '3.txt'].map((name) => ({ name, content: name })),
    );
    await rowOf(page, '3.txt')
      .getByRole('alert')
      .filter({ hasText: 'This room has reached its limit of 2 files.' })
      .waitFor();
    for (const name of ['1.txt', '2.txt']) await arrived(page, name);
    await page.getByRole('button', { name: 'Cancel upload of 3.txt' }).click();
    await states(page, 'This room has reached its limit of 2 files.');
  });
});
