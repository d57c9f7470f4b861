/** Files: how they get into a room. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { joinRoom, sharedTestSite, startTestSite, textOf } from '../support/page.ts';
import type { TestServer } from '../support/server.ts';
import { assertNothingStored } from '../support/stored-blobs.ts';
import { arrived, dropFiles, pickFiles, picture, rowOf, slowDown } from './support/files.ts';

describe('the page, uploads', () => {
  it('[PAGE-10] [PAGE-12] of picked files appear on the other device with size and type, and dropped files start anywhere', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code);
    await pickFiles(laptop.page, [
      { name: 'notes.txt', type: 'text/plain', content: 'notes' },
      { name: 'report.pdf', type: 'application/pdf', content: 250_000 },
      { name: 'nothing.bin', content: 0 },
      { name: 'README', type: 'text/plain', content: 1023 },
      { name: 'film.mp4', type: 'video/mp4', content: 2_500_000 },
    ]);
    const expected = {
      'notes.txt': '5 bytes · TXT',
      'report.pdf': '244 kB · PDF',
      'nothing.bin': '0 bytes · BIN',
      README: '1 kB · PLAIN',
      'film.mp4': '2.4 MB · MP4',
    };
    for (const { page } of [laptop, phone]) {
      for (const [name, words] of Object.entries(expected)) {
        await arrived(page, name);
        await rowOf(page, name).getByText(words, { exact: true }).waitFor();
      }
      // The room may tell of a file before its upload is answered.
      await eventually('no upload is in progress', async () => (await page.getByRole('progressbar').count()) === 0);
    }
    assert.equal((await filesOf(site.server, code)).length, 5);

    const { page } = laptop;
    for (const [name, place] of Object.entries({
      'on-text': 'textarea',
      'on-header': 'header >> nth=0',
      'on-all': 'body',
    })) {
      await dropFiles(page, place, [{ name, content: name }], { letGo: false });
      await page.getByText('Drop files to upload').waitFor();
      await dropFiles(page, place, [{ name, content: name }]);
      await arrived(page, name);
      assert.equal(await page.getByText('Drop files to upload').count(), 0, 'the drop zone is gone');
    }
    assert.equal(await textOf(laptop).inputValue(), '');
  });

  it('[slow] [PAGE-10] start when a screenshot is pasted, which is named after the time', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const device = await joinRoom(site, code, { permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = device;
    await copy(page, { 'image/png': picture });
    await textOf(device).press('Control+V');
    await page.getByRole('button', { name: /^Remove screenshot-\d{4}-\d\d-\d\d-\d{6}\.png$/ }).waitFor();
    const [file] = await filesOf(site.server, code);
    assert.deepEqual([file?.contentType, await textOf(device).inputValue()], ['image/png', '']);
  });

  it('[slow] [PAGE-10] do not start when a pasted text also contains a picture of itself, as from office programs', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const device = await joinRoom(site, code, { permissions: ['clipboard-read', 'clipboard-write'] });
    const { page } = device;
    const html = Buffer.from('<b>a cell</b>');
    await copy(page, { 'text/plain': Buffer.from('a cell'), 'text/html': html, 'image/png': picture });
    await textOf(device).press('Control+V');
    await eventually('the text is pasted', async () => (await textOf(device).inputValue()) === 'a cell');
    await page.getByText('Saved').waitFor();
    assert.deepEqual(await filesOf(site.server, code), []);
  });

  it('[slow] [PAGE-10] start when a pasted file also contains its name as text, as from the Finder', async (t) => {
    const site = await sharedTestSite(t);
    const device = await joinRoom(site, await site.server.api.room());
    const { page } = device;
    await textOf(device).evaluate((field) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', 'plan.pdf');
      clipboardData.items.add(new File(['%PDF'], 'plan.pdf', { type: 'application/pdf' }));
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    });
    await arrived(page, 'plan.pdf');
  });

  it('[slow] [PAGE-10] show their progress, their speed and the time left, and leave nothing behind when they are cancelled', async (t) => {
    const site = await startTestSite(t);
    const code = await site.server.api.room();
    const { page } = await joinRoom(site, code);
    await slowDown(page, 150_000);
    await pickFiles(page, [
      { name: 'large.bin', content: 3_000_000 },
      { name: 'second.bin', content: 3_000_000 },
      { name: 'third.bin', content: 1_000 },
    ]);
    const row = rowOf(page, 'large.bin');
    await rowOf(page, 'third.bin').getByText('waiting').waitFor();
    const { first } = await eventually('the upload is in progress', async () => {
      const first = await row.getByRole('progressbar').evaluate((bar: HTMLProgressElement) => bar.value);
      return first > 0 && { first };
    });
    await row.getByText(/^\d+%\sof\s2\.9\sMB · \d+\skB\/s · \d+\sseconds?\sleft$/).waitFor();
    await page.waitForFunction((before) => Number(document.querySelector('progress')?.value) > before, first);
    assert.ok(first < 0.9, `${first}`);

    for (const name of ['third.bin', 'second.bin', 'large.bin']) {
      await page.getByRole('button', { name: `Cancel upload of ${name}` }).click();
      await rowOf(page, name).waitFor({ state: 'detached' });
    }
    await assertNothingStored(site.server, code);
  });

  it('[slow] [PAGE-10] [PAGE-12] of pictures show a preview', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await joinRoom(site, await site.server.api.room());
    await slowDown(page, 10_000);
    const content = Buffer.concat([picture, Buffer.alloc(500_000)]);
    await pickFiles(page, [{ name: 'photo.png', type: 'image/png', content }]);
    await page.getByRole('button', { name: 'Cancel upload of photo.png' }).waitFor();
    await rowOf(page, 'photo.png').locator('img[src^="blob:"]').waitFor();
  });

  it('[slow] [PAGE-10] that fail show an error, and can be retried with a click', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const { page } = await joinRoom(site, code, { serviceWorkers: 'block' });
    await page.route('**/upload', (route) => route.abort('connectionreset'));
    await pickFiles(page, [{ name: 'large.bin', content: 1_500_000 }]);
    await rowOf(page, 'large.bin').getByRole('alert').filter({ hasText: 'Can’t reach the server.' }).waitFor();
    await page.getByRole('button', { name: 'Retry upload of large.bin' }).click();
    await page.getByRole('button', { name: 'Retry upload of large.bin' }).waitFor();

    await page.unroute('**/upload');
    await page.getByRole('button', { name: 'Retry upload of large.bin' }).click();
    await arrived(page, 'large.bin');
    const sizes = (await filesOf(site.server, code)).map(({ fileSize }) => fileSize);
    assert.deepEqual(sizes, [1_500_000]);
  });

  it('[slow] [PAGE-10] are cancelled when the device leaves the room', async (t) => {
    const site = await startTestSite(t);
    const code = await site.server.api.room();
    const { page } = await joinRoom(site, code);
    await slowDown(page, 150_000);
    await pickFiles(
      page,
      [1, 2, 3, 4].map((n) => ({ name: `${n}.bin`, content: 1_500_000 })),
    );
    await page.waitForFunction(() => Number(document.querySelector('progress')?.value) > 0);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.getByRole('link', { name: 'Poproom home' }).click();
    await page.getByRole('button', { name: 'Leave', exact: true }).click();
    await page.getByRole('button', { name: 'Start a room' }).waitFor();
    await assertNothingStored(site.server, code);
    assert.deepEqual(
      asked.filter((path) => path.endsWith('/upload')),
      [],
      'none is begun to be broken off',
    );
  });

  it('[slow] [PAGE-11] over the limit are rejected with the reason, and nothing is sent', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const { page } = await joinRoom(site, code);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await dropFiles(page, 'body', [{ name: 'too-large.iso', content: 10_485_761 }]);
    const row = rowOf(page, 'too-large.iso');
    await row.getByRole('alert').filter({ hasText: 'File too large. The limit is 10 MB.' }).waitFor();
    assert.equal(await row.getByRole('button').count(), 1, 'sending it again would not help');
    assert.deepEqual(
      asked.filter((url) => url.includes('/api/')),
      [],
    );

    await dropFiles(page, 'body', [{ name: 'just-right.iso', content: 10_485_760 }]);
    await arrived(page, 'just-right.iso');
    await page.getByRole('button', { name: 'Cancel upload of too-large.iso' }).click();
    await row.waitFor({ state: 'detached' });
    assert.equal((await filesOf(site.server, code)).length, 1);
  });
});

interface Listed {
  fileName: string;
  fileSize: number;
  contentType: string;
}

async function filesOf(server: TestServer, code: string): Promise<Listed[]> {
  return (await server.api.get(`/api/rooms/${code}/files`)).json.files;
}

/** Into the system's clipboard, in all these forms. */
async function copy(page: Page, forms: Record<string, Buffer>): Promise<void> {
  const contents = Object.entries(forms).map(([type, bytes]) => ({ type, bytes: [...bytes] }));
  await page.evaluate(async (contents) => {
    const blobs = contents.map(({ type, bytes }) => [type, new Blob([Uint8Array.from(bytes)], { type })]);
    await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(blobs))]);
  }, contents);
}
