/** Links with a role to encrypted rooms: their holders use only the keys in the fragment, and send nothing in plaintext. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import type { Room } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { type MaliciousServer, startMaliciousServer, tamperJson } from '../support/malicious-server.ts';
import { joinRoom, sharedTestSite, type TestSite, textOf } from '../support/page.ts';
import { unzip } from '../support/unzip.ts';
import { addFiles, bytesOf, createRoom, downloaded, nameButton, pathOf, viewer } from './support/encrypted-files.ts';
import { picture } from './support/files.ts';

const secrets = {
  text: 'The gate code is 4471',
  room: 'Travel plans',
  file: 'Gehälter.txt',
  content: 'Ada earns 4,200 a month.',
  dropped: 'Zeugnis.txt',
  note: 'Please call me at noon.',
};

describe('the page, links to encrypted rooms', () => {
  it('[ROLE-44] [ROLE-45] [ROLE-48] are made by Invite, show readers the room, and end when they are revoked', async (t) => {
    const { site, proxy, room } = await start(t);
    await room.update({ name: secrets.room });
    await room.write(secrets.text);
    await addFiles(room, [{ name: secrets.file, type: 'text/plain', content: secrets.content }]);
    const member = await joinRoom(site, pathOf(room));
    await member.page.getByRole('button', { name: 'Invite' }).click();
    const dialog = member.page.getByRole('dialog', { name: 'Invite' });
    await dialog.getByRole('radio', { name: 'View only' }).check();
    await dialog.getByLabel('Name (optional)').fill('For the press');
    await dialog.getByRole('button', { name: 'Create link' }).click();
    await dialog.locator('svg.qr').waitFor();
    await dialog.getByRole('listitem').getByText('For the press').waitFor();
    const path = await eventually('the whole link is shown', async () => {
      const shown = await dialog.locator('p.link').innerText();
      return /\/r\/(E[0-9A-Z]{23}#[0-9A-Z]{6,12}\.[\w-]{128})$/.exec(shown)?.[1];
    });
    const [id = '', fragment = ''] = path.split('#');

    const { page } = await site.openDevice({ baseURL: proxy.url, at: `/r/${id}#${fragment}` });
    await page.getByRole('heading', { name: secrets.room }).waitFor();
    await page.getByText(secrets.text).waitFor();
    assert.equal(new URL(page.url()).hash, '');
    await member.page.locator('.devices').getByText('View only').waitFor({ state: 'attached' });
    const saved = await downloaded(page, () => page.getByRole('button', { name: `Download ${secrets.file}` }).click());
    assert.equal(String(await bytesOf(saved)), secrets.content);
    await room.write(`${secrets.text}.\n\nChanged`);
    await page.getByText('Changed').waitFor();
    assert.equal(await page.locator('textarea, [contenteditable]').count(), 0);
    await page.reload();
    await page.getByText('Changed').waitFor();

    const keys = await storageOf(page);
    assert.ok(keys.includes(fragment) && !keys.includes(keyOf(room)), 'the keys stay in the tab');
    assert.ok(!(await page.evaluate(() => JSON.stringify({ ...localStorage }))).includes(fragment));
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    for (const secret of [secrets.text, secrets.file, 'Changed', fragment])
      assert.ok(!((await page.content()) + (await storageOf(page))).includes(secret), secret);
    await page.reload();
    await page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    assertSealed(proxy, [fragment, fragment.split('.')[1] ?? '', keyOf(room)]);
  });

  it('[ROLE-46] [ROLE-47] [ROLE-49] let droppers seal files and notes for the members alone, and open from the field for codes', async (t) => {
    const { site, proxy, room } = await start(t);
    const path = await linkPath(room, 'drop');
    const [id = '', fragment = ''] = path.split('#');
    const device = await site.openDevice({ baseURL: proxy.url, at: `/r/${id}` });
    const { page } = device;
    const shows = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
    await shows('This link is incomplete');
    // The browser does not load the page again, because only the fragment changes.
    const openWith = (keys: string) => page.evaluate((hash) => location.assign(hash), `#${keys}`);
    for (const wrong of [`${fragment.slice(0, 9)}!${fragment.slice(10)}`, fragment.slice(0, 20), `${fragment}AA`]) {
      await openWith(wrong);
      // The page takes the symbols of a key from its address.
      await eventually('it is tried', async () => (await storageOf(page)).includes(`"${wrong.split('!')[0]}\\"`));
      await shows('This link is damaged');
    }
    assert.ok(!proxy.sent.some((request) => request.includes(id) && request.includes('/api/')), 'nothing is sent');

    proxy.tamper = tamperJson(`/api/rooms/${id}`, ({ encrypted: _encrypted, ...info }) => info);
    await openWith(fragment);
    await shows('This room isn’t encrypted');
    assert.equal(await page.locator('input, textarea').count(), 0);
    proxy.tamper = (_path, body) => body;
    await page.getByRole('button', { name: 'Try again' }).click();
    await shows('Send files');
    const file = { name: secrets.dropped, mimeType: 'text/plain', buffer: Buffer.from(secrets.content) };
    await page.locator('input[type=file]').setInputFiles(file);
    await sent(page, secrets.dropped);
    await page.getByLabel('Note').fill(secrets.note);
    await page.getByRole('button', { name: 'Send note' }).click();
    await sent(page, 'note-');
    const files = await room.files();
    assert.deepEqual(files.map(({ fileName }) => fileName.replace(/^note-.*/, 'note')).sort(), [
      secrets.dropped,
      'note',
    ]);
    const texts = await Promise.all(files.map(async (entry) => (await room.download(entry)).text()));
    assert.deepEqual(texts.sort(), [secrets.content, secrets.note].sort());
    assertSealed(proxy, [fragment, keyOf(room)]);

    await room.revokeLink(id);
    await page.locator('input[type=file]').setInputFiles({ ...file, name: 'late.txt' });
    await page.getByRole('alert').getByText('This link no longer works').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'late.txt' }).getByText('Not sent').waitFor();
    await page.getByRole('listitem').filter({ hasText: secrets.dropped }).getByText('Sent', { exact: false }).waitFor();
    await eventually('the tab forgets its keys', async () => !(await storageOf(page)).includes(fragment));

    await room.write(secrets.text);
    const { link = '' } = await room.createLink({ role: 'read' });
    await page.getByRole('link', { name: 'Poproom home' }).click();
    await page.getByRole('textbox', { name: 'Code or link' }).fill(link);
    await page.keyboard.press('Enter');
    await page.getByText(secrets.text).waitFor();
    assert.equal(await textOf(device).count(), 0);
  });

  it('[slow] [ROLE-45] show readers pictures and archives, but not the files that were dropped', async (t) => {
    const { site, room } = await start(t);
    await room.write('![the plan](photo.png)');
    await addFiles(room, [
      { name: 'photo.png', type: 'image/png', content: picture },
      { name: 'list.txt', type: 'text/plain', content: 'milk' },
    ]);
    const { page } = await site.openDevice({ at: `/r/${await linkPath(room, 'read')}` });
    const isShown = (image: HTMLImageElement) => image.naturalWidth === 192 && image.src.startsWith('blob:');
    await eventually('the picture in the text', () => page.locator('.read-text img').evaluate(isShown));
    await nameButton(page, 'photo.png').click();
    await eventually('the picture in the viewer', () => viewer(page).locator('img').evaluate(isShown));
    await page.keyboard.press('Escape');
    const dropper = await site.openDevice({ at: `/r/${await linkPath(room, 'drop')}` });
    const file = { name: secrets.dropped, mimeType: 'text/plain', buffer: Buffer.from(secrets.content) };
    await dropper.page.locator('input[type=file]').setInputFiles(file);
    await sent(dropper.page, secrets.dropped);
    await page.getByText('Some files are for the members of the room only.').waitFor();
    const saved = await downloaded(page, () => page.getByRole('button', { name: 'Download all' }).click());
    assert.equal(saved.suggestedFilename(), 'poproom-files.zip');
    const paths = unzip(await bytesOf(saved)).map(({ path }) => path);
    assert.deepEqual(paths, ['list.txt', 'photo.png']);
    const member = await joinRoom(site, pathOf(room));
    const opened = await downloaded(member.page, () =>
      member.page.getByRole('button', { name: `Download ${secrets.dropped}`, exact: true }).click(),
    );
    assert.equal(String(await bytesOf(opened)), secrets.content);
  });

  it('[slow] [ROLE-45] report an older text to readers, who can open it', async (t) => {
    const { site, proxy, room } = await start(t);
    await room.write('older');
    let older: unknown;
    proxy.tamperMessage = (message) => {
      if (message.type === 'snapshot') older ??= message.content;
      return message;
    };
    const { page } = await site.openDevice({ baseURL: proxy.url, at: `/r/${await linkPath(room, 'read')}` });
    await page.getByText('older').waitFor();
    await room.write('newer');
    await page.getByText('newer').waitFor();
    proxy.tamperMessage = (message) => (message.type === 'snapshot' ? { ...message, content: older } : message);
    await page.reload();
    await page.getByRole('heading', { name: 'The server sent an older text' }).waitFor();
    await page.getByRole('button', { name: 'Open it anyway' }).click();
    await page.getByText('older').waitFor();
  });
});

interface Started {
  site: TestSite;
  proxy: MaliciousServer;
  room: Room;
}

async function start(t: TestContext): Promise<Started> {
  const site = await sharedTestSite(t);
  return { site, proxy: await startMaliciousServer(t, () => site.server.port), room: await createRoom(site) };
}

async function linkPath(room: Room, role: 'read' | 'drop'): Promise<string> {
  const { link = '' } = await room.createLink({ role });
  return link.split('/r/')[1] ?? assert.fail(link);
}

const keyOf = ({ key = '' }: Room) => key.replaceAll('-', '');

const storageOf = (page: Page) => page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));

const sent = (page: Page, name: string) =>
  page
    .getByRole('listitem')
    .filter({ hasText: name })
    .getByText(/· Sent$/)
    .waitFor();

/** No request or message has a secret, in any form in which requests carry texts. */
function assertSealed(proxy: MaliciousServer, keys: readonly string[]): void {
  const wire = proxy.sent.join('\n');
  const forms = Object.values(secrets).flatMap((secret) => [
    secret,
    Buffer.from(secret).toString('latin1'),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -1),
  ]);
  for (const secret of [...forms, ...keys]) assert.ok(!wire.includes(secret), `${secret} was sent`);
  assert.ok(wire.includes('/api/rooms/E'), 'requests were recorded');
}
