/** Pictures among the files of a room, and files that leave the browser. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { joinRoom, sharedTestSite } from '../support/page.ts';
import { picture, rowOf } from './support/files.ts';

const png = { headers: { 'content-type': 'image/png' } };

describe('the page, pictures', () => {
  it('[VIEW-6] [VIEW-7] are a grid with captions, and files can be dragged out and shared', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const { page } = await joinRoom(site, code, { viewport: { width: 900, height: 900 } });
    await page.evaluate(stubShareSheet);
    for (const name of ['one.png', 'two.png']) await site.server.api.upload(code, name, new Uint8Array(picture), png);
    await site.server.api.upload(code, 'a:b.txt', 'a note');

    const grid = page.getByRole('list', { name: 'Pictures' });
    await grid.getByRole('listitem').nth(1).waitFor();
    const boxes = await grid
      .getByRole('listitem')
      .evaluateAll((items) => items.map((item) => item.getBoundingClientRect().y));
    assert.equal(boxes[0], boxes[1], 'side by side');
    assert.equal(await grid.getByRole('link').first().textContent(), 'two.png');
    const note = rowOf(page, 'a:b.txt');
    await note.waitFor();
    assert.equal(await grid.getByText('a:b.txt').count(), 0);
    await eventually('the picture is loaded', () =>
      grid
        .locator('img')
        .first()
        .evaluate((image: HTMLImageElement) => image.naturalWidth > 0),
    );

    const { fileUrl } = (await site.server.api.get(`/api/rooms/${code}/files`)).json.files.at(-1);
    assert.equal(await draggedFrom(page, 'a:b.txt'), `application/octet-stream:a_b.txt:${fileUrl}?download`);

    await note.getByRole('button', { name: 'Share a:b.txt' }).click();
    const shared = () => page.evaluate(() => (window as { shared?: string }).shared);
    await eventually('the share sheet has the file', async () => (await shared()) === 'a:b.txt a note');

    const tile = await grid.locator('img').first().boundingBox();
    assert.ok(tile && tile.width > 100, 'a large picture');
    await page.mouse.click(tile.x + tile.width / 2, tile.y + tile.height - 10);
    await page.getByRole('dialog', { name: 'two.png' }).waitFor();
  });
});

/** Playwright's browser has no share sheet. */
function stubShareSheet(): void {
  const share = async ({ files: [file] = [] }: ShareData) => {
    Object.assign(window, { shared: `${file?.name} ${await file?.text()}` });
  };
  Object.assign(navigator, { canShare: () => true, share });
}

/** The data that a drag to the desktop would carry. */
const draggedFrom = (page: Page, name: string) =>
  page.getByRole('link', { name, exact: true }).evaluate((link) => {
    const dataTransfer = new DataTransfer();
    link.dispatchEvent(new DragEvent('dragstart', { dataTransfer, bubbles: true }));
    return dataTransfer.getData('DownloadURL');
  });
