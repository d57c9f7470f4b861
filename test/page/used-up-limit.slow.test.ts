/** A room whose device has no requests left. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type BrowserDevice,
  joinRoom,
  showsStatus,
  showsText,
  startRoom,
  startTestSite,
  type TestSite,
  textOf,
} from '../support/page.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { startEncryptedRoom } from './support/encrypted.ts';
import { arrived, pickFiles, rowOf } from './support/files.ts';

const noFiles = ({ page }: BrowserDevice) =>
  page.getByText(/^Too many requests\. You can add files again in (60|59) minutes\.$/).first();

describe('the page, when the request limit is reached', () => {
  it('[PAGE-28] shows and edits the text after a reload, and shows when files can be added again', async (t) => {
    const site = await startTestSite(t, { POPROOM_FREE_LIMIT: '4' });
    const laptop = await site.openDevice();
    const code = await startRoom(laptop);
    await pickFiles(laptop.page, [{ name: 'notes.txt', type: 'text/plain', content: 'notes' }]);
    await arrived(laptop.page, 'notes.txt');
    await textOf(laptop).fill('before ');
    await showsStatus(laptop, 'Saved');
    const phone = await joinRoom(site, code);
    await showsText(phone, 'before ');
    assert.equal(await remaining(site), 0);

    const addresses: string[] = [];
    laptop.page.on('websocket', (socket) => void addresses.push(socket.url()));
    await laptop.page.reload();
    await showsText(laptop, 'before ');
    await textOf(laptop).press('End');
    await laptop.page.keyboard.type('after');
    await showsText(phone, 'before after');
    await showsStatus(laptop, 'Saved');
    await noFiles(laptop).waitFor();
    await arrived(laptop.page, 'notes.txt');
    const link = await rowOf(laptop.page, 'notes.txt').getByRole('link').first().getAttribute('href');
    assert.equal(await (await fetch(new URL(link ?? '', laptop.page.url()))).text(), 'notes');
    assert.deepEqual(
      addresses.map((address) => new URL(address).search),
      [''],
    );

    await pickFiles(laptop.page, [{ name: 'more.txt', type: 'text/plain', content: 'more' }]);
    await rowOf(laptop.page, 'more.txt')
      .getByText(/^Too many requests\. You can add files again in (60|59) minutes\.$/)
      .waitFor();
  });

  it('[PAGE-28] [PAGE-4] rejoins a protected room after a reload without its PIN', async (t) => {
    const site = await startTestSite(t, { POPROOM_FREE_LIMIT: '2' });
    const code = await site.server.api.room({ pin: '1204' }, { from: '10.0.0.9' });
    const laptop = await site.openDevice({ at: `/r/${code}` });
    await laptop.page.getByRole('textbox', { name: '4-digit PIN' }).pressSequentially('1204');
    await textOf(laptop).fill('protected');
    await showsStatus(laptop, 'Saved');
    await useUp(site);
    await laptop.page.reload();
    await showsText(laptop, 'protected');
    await textOf(laptop).fill('still protected');
    await showsStatus(laptop, 'Saved');
  });

  it('[PAGE-28] [PAGE-15] reconnects after a lost connection and sends offline edits', async (t) => {
    const site = await startTestSite(t, { POPROOM_FREE_LIMIT: '2' });
    const proxy = await startTcpProxy(t, () => site.server.port);
    const laptop = await site.openDevice({ baseURL: proxy.url });
    await startRoom(laptop);
    await showsStatus(laptop, 'Saved');
    assert.equal(await remaining(site), 0);
    await laptop.context.setOffline(true);
    proxy.disconnect();
    await showsStatus(laptop, 'Offline');
    await textOf(laptop).fill('typed offline');
    await laptop.context.setOffline(false);
    await showsStatus(laptop, 'Saved');
    await showsText(laptop, 'typed offline');
    await noFiles(laptop).waitFor();
  });

  it('[PAGE-28] [PAGE-14] shows the limit when its resume token is too old', async (t) => {
    const site = await startTestSite(t, { POPROOM_FREE_LIMIT: '2' });
    const laptop = await site.openDevice();
    await startRoom(laptop);
    await textOf(laptop).fill('there again later');
    await showsStatus(laptop, 'Saved');
    site.server.clock.advance(20 * 60_000);
    await laptop.page.reload();
    await laptop.page
      .getByText(/^Too many requests\. Try again in (40|39) minutes\.$/)
      .first()
      .waitFor();
    site.server.clock.advance(3_600_000);
    await laptop.page.getByRole('button', { name: 'Try again' }).click();
    await showsText(laptop, 'there again later');
  });
});

const fourFiles = (prefix: string) =>
  Array.from({ length: 4 }, (_, i) => ({ name: `${prefix}${i}.txt`, content: 'x' }));

describe('the page, when few requests are left', () => {
  it('[PAGE-61] [RATE-9] says how many, sends several files with one request, and others when the limit is lifted', async (t) => {
    const site = await startTestSite(t, { POPROOM_FREE_LIMIT: '30' });
    const laptop = await site.openDevice({ at: '/api/health' });
    const { page } = laptop;
    await page.clock.install();
    await page.goto('/');
    await startRoom(laptop);
    await page.getByText(/requests? left/).waitFor({ state: 'detached' });
    while ((await remaining(site)) > 4) await site.server.api.get('/api/health');
    await pickFiles(page, [{ name: 'first.txt', content: 'x' }]);
    await page.getByText(/^3 requests left\. Resets in (60|59) minutes\.$/).waitFor();

    while ((await remaining(site)) > 1) await site.server.api.get('/api/health');
    await pickFiles(page, fourFiles('a'));
    for (const { name } of fourFiles('a')) await arrived(page, name);
    assert.equal(await remaining(site), 0);
    await pickFiles(page, fourFiles('b'));
    for (const { name } of fourFiles('b'))
      await rowOf(page, name)
        .getByText(/^Too many requests\. You can add files again in (60|59) minutes\.$/)
        .waitFor();
    site.server.clock.advance(3_700_000);
    await page.clock.fastForward(3_700_000);
    for (const { name } of fourFiles('b')) await arrived(page, name);
    assert.ok((await remaining(site)) >= 27, 'not one request for each');
  });

  for (const [kind, count] of Object.entries({ 'a room': 100, 'an encrypted room': 20 }))
    it(`[RATE-9] sends ${count} files to ${kind} with one request`, async (t) => {
      const site = await startTestSite(t, { POPROOM_FREE_LIMIT: '20' });
      const laptop = await site.openDevice();
      await (kind === 'a room' ? startRoom : startEncryptedRoom)(laptop);
      while ((await remaining(site)) > 5) await site.server.api.get('/api/health');
      const stored = waitForUploads(laptop, count);
      const files = Array.from({ length: count }, (_, i) => ({ name: `file-${i}.txt`, content: `content ${i}` }));
      await pickFiles(laptop.page, files);
      await stored;
      assert.equal(await remaining(site), 4);
    });
});

/** All requests of this machine. */
async function useUp(site: TestSite): Promise<void> {
  while ((await remaining(site)) > 0) await site.server.api.get('/api/health');
}

/** Asking is free. */
async function remaining({ server }: TestSite): Promise<number> {
  return Number((await server.api.get('/livez')).headers.get('x-ratelimit-remaining'));
}

/** Resolves when the server has stored so many files. */
function waitForUploads({ page }: BrowserDevice, count: number): Promise<void> {
  let stored = 0;
  return new Promise((resolve) => {
    page.on('response', (response) => {
      if (/\/upload(\?|$)/.test(response.url()) && response.status() === 201) stored += 1;
      if (stored === count) resolve();
    });
  });
}
