/** The views for `view-screenshots.ts`, as a person would see them. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';

export interface View {
  readonly name: string;
  open(page: Page): Promise<void>;
}

const text = `Gate code for Saturday: 4471#
Slides: https://example.org/talks/one-room

Bring the long HDMI cable. Questions to maria@example.org or +49 30 1234567.`;

const picture = await readFile(new URL('../docs/images/room-light.png', import.meta.url));

/** Creates the rooms that they need. */
export async function createViews(server: string): Promise<View[]> {
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const isJson = !(body instanceof Uint8Array);
    const type = isJson ? { 'content-type': 'application/json' } : {};
    const response = await fetch(server + path, {
      method: 'POST',
      headers: { ...type, ...headers },
      body: isJson ? JSON.stringify(body) : Buffer.from(body),
    });
    return (await response.json()) as { roomId: string };
  };
  const createRoom = async (options = {}) => (await post('/api/rooms', options)).roomId;
  const upload = (code: string, name: string, bytes: Uint8Array, type: string) =>
    post(`/api/rooms/${code}/upload`, bytes, { 'x-file-name': encodeURIComponent(name), 'content-type': type });

  const empty = await createRoom();
  const locked = await createRoom({ pin: '1204' });
  const full = await createRoom({ name: 'Kitchen table' });
  for (const content of ['Milk, bread', 'Milk, bread, apples\nand cheese', '', text])
    await post(`/api/rooms/${full}/content`, { content });
  await upload(full, 'whiteboard.png', picture, 'image/png');
  await upload(full, 'schedule.pdf', Buffer.alloc(482_133, 1), 'application/pdf');
  await upload(full, 'notes.txt', Buffer.from(text.repeat(20)), 'text/plain');
  await upload(full, 'صور العطلة.zip', Buffer.alloc(2_482_133, 1), 'application/zip');

  const go = (page: Page, path: string) => page.goto(server + path);
  const openRoom = async (page: Page, code: string) => {
    await go(page, `/r/${code}`);
    await page.locator('textarea').waitFor();
  };
  const click = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();
  /** With the strings of both languages. */
  const goOffline = async (page: Page) => {
    for (const language of ['ar', 'en']) await switchLanguage(page, language);
    await page.context().setOffline(true);
  };
  const openHome = async (page: Page) => {
    await go(page, '/');
    await page.getByRole('button', { name: 'Start a room' }).waitFor();
  };

  const open: Record<string, View['open']> = {
    home: openHome,
    async 'start-options'(page) {
      await openHome(page);
      await page.getByText('Options').first().click();
      await page.getByRole('checkbox').first().check();
    },
    async 'join-error'(page) {
      await openHome(page);
      await page.getByRole('textbox').first().fill('12');
      await page.keyboard.press('Enter');
      await page.locator('.problem:not(:empty)').waitFor();
    },
    async 'pin-pad'(page) {
      await go(page, `/r/${locked}`);
      await page.getByRole('heading').first().waitFor();
      await page.keyboard.type('12');
    },
    'room-empty': (page) => openRoom(page, empty),
    async room(page) {
      await openRoom(page, full);
      await page.getByRole('link', { name: 'notes.txt', exact: true }).waitFor();
      await page.getByRole('navigation').waitFor();
    },
    async invitation(page) {
      await openRoom(page, empty);
      await click(page, 'Invite');
      await page.locator('dialog .qr path[d^="M"]').waitFor();
    },
    async settings(page) {
      await openHome(page);
      await click(page, 'Settings');
      await page.getByRole('dialog').waitFor();
    },
    async 'room-settings'(page) {
      await openRoom(page, full);
      await click(page, 'Room settings');
      await page.getByRole('dialog').waitFor();
    },
    async history(page) {
      await openRoom(page, full);
      await click(page, 'More');
      await page.getByRole('menuitem', { name: 'Version history' }).click();
      await page.getByRole('dialog').getByRole('slider').press('Home');
      await page.locator('.preview').waitFor();
    },
    async viewer(page) {
      await openRoom(page, full);
      await page.getByRole('link', { name: 'whiteboard.png', exact: true }).click();
      await page.getByRole('dialog').locator('img').waitFor();
    },
    async 'viewer-text'(page) {
      await openRoom(page, full);
      await page.getByRole('link', { name: 'notes.txt', exact: true }).click();
      await page.getByRole('dialog').locator('pre').waitFor();
    },
    async 'delete-room'(page) {
      await openRoom(page, full);
      await click(page, 'Room settings');
      await click(page, 'Delete room');
      await page.getByRole('dialog', { name: /^Delete room/ }).waitFor();
    },
    async ended(page) {
      const code = await createRoom();
      await openRoom(page, code);
      await page.locator('textarea').fill(text);
      await page.getByText('Saved').first().waitFor();
      await fetch(`${server}/api/rooms/${code}`, { method: 'DELETE' });
      await page.getByRole('heading', { name: 'deleted' }).waitFor();
    },
    async 'room-not-found'(page) {
      await go(page, '/r/ABCDEF');
      await page.getByRole('heading', { name: 'not found' }).waitFor();
    },
    async 'page-not-found'(page) {
      await go(page, '/nothing/here');
      await page.getByRole('heading').first().waitFor();
    },
    async offline(page) {
      await openRoom(page, full);
      await page.getByRole('link', { name: 'notes.txt', exact: true }).waitFor();
      await goOffline(page);
      await page.getByText('No connection').waitFor();
    },
    async 'home-offline'(page) {
      await openHome(page);
      await goOffline(page);
      await page.getByText('You’re offline').waitFor();
    },
    async 'reverse-qr'(page) {
      await go(page, '/invite');
      await page.locator('.qr path[d^="M"]').waitFor();
    },
    async recent(page) {
      await openRoom(page, full);
      await page.getByRole('link', { name: 'notes.txt', exact: true }).waitFor();
      await openRoom(page, empty);
      await openHome(page);
    },
    async docs(page) {
      await go(page, '/docs');
      await page.getByRole('heading').first().waitFor();
    },
  };
  return Object.entries(open).map(([name, open]) => ({ name, open }));
}

/** As if it had been chosen in another tab. The documentation has one language. */
export async function switchLanguage(page: Page, language: string): Promise<void> {
  await page.evaluate(`{
    localStorage.setItem('poproom:language', JSON.stringify('${language}'));
    dispatchEvent(new StorageEvent('storage', { key: 'poproom:language' }));
  }`);
  if (!page.url().endsWith('/docs')) await page.locator(`html[lang="${language}"]`).waitFor({ state: 'attached' });
  await page.waitForTimeout(300);
}
