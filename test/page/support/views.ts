/** Shows every view of the page, in all languages. */
import type { Page } from 'playwright-core';
import type { Language } from '../../../web/src/i18n/languages.ts';
import type { StringKey } from '../../../web/src/i18n/translation.ts';
import { askToDelete, chooseEntry, type TestSite } from '../../support/page.ts';
import { encryptionViews } from './encryption-views.ts';
import { dropFiles, picture } from './files.ts';
import { inviteViews } from './invite-views.ts';
import { linkViews } from './link-views.ts';
import { shareFromOtherApp } from './service-worker.ts';
import { type Translate, translatorFor } from './translations.ts';

export { type Language, languageCodes as languages } from '../../../web/src/i18n/languages.ts';
export { type Translate, translatorFor } from './translations.ts';

/** Changes the language of an open view, as if it had been chosen in another tab. */
export async function switchLanguage(page: Page, chosen: Language): Promise<void> {
  await switchLanguages(page, [chosen], () => []);
}

/**
 * Shows an open view in each of the languages, and returns what `measure` finds in them. Both run in the page, in a
 * single call. Waits for `lastText` in each language, if it is given.
 */
export function switchLanguages(
  page: Page,
  chosen: readonly Language[],
  measure: () => string[],
  lastText?: StringKey,
): Promise<[Language, string[]][]> {
  const texts = chosen.map((language) => [language, lastText ? translatorFor(language)(lastText) : '']);
  // As an expression, because the Content-Security-Policy does not allow creating `measure` in the page.
  return page.evaluate(`(${inLanguages})(${JSON.stringify(texts)}, ${measure})`);
}

async function inLanguages(texts: readonly [Language, string][], measure: () => string[]) {
  const key = 'poproom:language';
  const found: [Language, string[]][] = [];
  // Nothing is painted, which would take as long as measuring.
  document.documentElement.style.clipPath = 'inset(100%)';
  for (const [language, text] of texts) {
    localStorage.setItem(key, JSON.stringify(language));
    dispatchEvent(new StorageEvent('storage', { key }));
    const deadline = performance.now() + 15_000;
    const isShown = () => document.documentElement.lang === language && document.body.textContent.includes(text);
    while (!isShown() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve));
    if (!isShown()) throw new Error(`the page is not in "${language}"`);
    found.push([language, measure()]);
  }
  document.documentElement.style.clipPath = '';
  return found;
}

/** Opens a view, and waits until it is visible. */
export type ShowView = (page: Page, translate: Translate) => Promise<void>;

/**
 * Shows a path of the page. Loading the page again would also load its languages, which takes longer than showing a
 * view, so this is only done if something is left of the former view: a dialog, or an upload that blocks leaving.
 */
export async function visit(page: Page, path: string): Promise<void> {
  const isShown = await page.evaluate(async (path) => {
    const go = async (to: string) => {
      window.history.pushState(null, '', to);
      dispatchEvent(new PopStateEvent('popstate'));
      await new Promise((resolve) => setTimeout(resolve));
    };
    // Another view comes first, because the next one may have the same path.
    await go('/no/such/page');
    const isLeft = location.pathname === '/no/such/page' && !document.querySelector('dialog[open], .notice');
    if (isLeft) await go(path);
    return isLeft;
  }, path);
  if (!isShown) await page.goto(path);
}

const longName = 'a-name-without-end-'.repeat(8);

/** Creates the rooms that the views need. */
export async function allViews(site: TestSite): Promise<Record<string, ShowView>> {
  return {
    ...{ ...homeViews, ...inviteViews, ...(await joinViews(site)), ...(await roomViews(site)), ...shareViews },
    ...(await encryptionViews(site)),
    ...(await linkViews(site)),
  };
}

const homeViews: Record<string, ShowView> = {
  home: async (page, translate) => {
    await visit(page, '/');
    await page.getByRole('button', { name: translate('start') }).waitFor();
  },
  'home with options': async (page, translate) => {
    await visit(page, '/');
    await page.getByText(translate('options')).click();
    await page.getByRole('checkbox', { name: translate('requirePin') }).check();
    await page.getByRole('button', { name: translate('start') }).click();
    await page.getByText(translate('pinInvalid')).waitFor();
    await page.getByRole('button', { name: translate('join'), exact: true }).click();
    await page.getByText(translate('codeMissing')).waitFor();
  },
  'home offline': async (page, translate) => {
    await visit(page, '/');
    await page.context().setOffline(true);
    await page.getByText(translate('youAreOffline')).waitFor();
  },
  settings: async (page, translate) => {
    await visit(page, '/');
    await page.getByRole('button', { name: translate('settings') }).click();
    await page.getByRole('dialog').waitFor();
  },
};

async function joinViews({ server: { api, clock } }: TestSite): Promise<Record<string, ShowView>> {
  const from = '203.0.113.1';
  const [closed, locked] = [await api.room({ pin: '1204' }, { from }), await api.room({ pin: '1204' }, { from })];
  for (let tries = 0; tries < 5; tries++) await api.get(`/api/rooms/${locked}`, { pin: '9999' });
  const expired = await api.room({ expiresIn: 60 });
  clock.advance(60_000);

  return {
    PIN: async (page, translate) => {
      await visit(page, `/r/${closed}`);
      await page.getByRole('heading', { name: translate('pinTitle', { code: closed }) }).waitFor();
    },
    locked: async (page, translate) => {
      await api.get(`/api/rooms/${locked}`, { pin: '9999' });
      await visit(page, `/r/${locked}`);
      await page.getByLabel(translate('pinLabel')).pressSequentially('1204');
      await page.locator('[role="alert"] [aria-hidden]').waitFor();
    },
    unknown: async (page, translate) => {
      await visit(page, '/r/ABCDEF');
      await page.getByRole('heading', { name: translate('roomNotFound', { code: 'ABCDEF' }) }).waitFor();
    },
    'not a code': async (page, translate) => {
      await visit(page, `/r/${longName}`);
      await page.getByRole('heading', { name: translate('invalidCode', { code: longName }) }).waitFor();
    },
    expired: async (page, translate) => {
      await visit(page, `/r/${expired}`);
      await page.getByRole('heading', { name: translate('roomExpired') }).waitFor();
    },
    deleted: async (page, translate) => {
      const code = await api.room();
      await visit(page, `/r/${code}`);
      await page.locator('textarea').waitFor();
      await api.delete(`/api/rooms/${code}`);
      await page.getByRole('heading', { name: translate('roomDeleted') }).waitFor();
    },
  };
}

async function roomViews(site: TestSite): Promise<Record<string, ShowView>> {
  const empty = await site.server.api.room();
  const openEmptyRoom = async (page: Page) => {
    await visit(page, `/r/${empty}`);
    await page.locator('textarea').waitFor();
  };
  return {
    'empty room': openEmptyRoom,
    'full room': await fullRoom(site),
    'room offline': async (page, translate) => {
      await openEmptyRoom(page);
      await page.context().setOffline(true);
      await page.getByText(translate('connectionLost')).waitFor();
    },
    'full-screen invitation': async (page, translate) => {
      await page.setViewportSize({ width: 320, height: 640 });
      await openEmptyRoom(page);
      await page.getByRole('button', { name: translate('invite'), exact: true }).click();
      await page.locator('dialog .qr path[d^="M"]').waitFor();
    },
    'paste dialog': async (page, translate) => {
      await openEmptyRoom(page);
      await page.getByRole('button', { name: translate('paste'), exact: true }).click();
      await page.getByRole('dialog', { name: translate('paste') }).waitFor();
    },
    'text menu': async (page, translate) => {
      await openEmptyRoom(page);
      await page.getByRole('button', { name: translate('more'), exact: true }).click();
      await page.getByRole('menu').waitFor();
    },
    'menu that adds files': async (page, translate) => {
      await openEmptyRoom(page);
      await page.getByRole('button', { name: translate('addFiles') }).click();
      await page.getByRole('menu').waitFor();
    },
    'read view': await readView(site, 'readView'),
    'display mode': await readView(site, 'displayMode'),
    'empty history': async (page, translate) => {
      await openEmptyRoom(page);
      await chooseEntry(page, translate('history'), translate('more'));
      await page.getByText(translate('historyEmpty')).waitFor();
    },
    history: await history(site),
    'delete history': async (page, translate) => {
      await (await history(site))(page, translate);
      await page.getByRole('button', { name: translate('deleteHistory') }).click();
      await page.getByText(translate('deleteHistoryHint')).waitFor();
    },
    'file menu': await fileMenu(site),
    ...(await viewers(site)),
    ...(await oneTimeViews(site)),
    'leave dialog': await leaveDialog(site),
    'room settings': await roomSettings(site),
    'delete dialog': async (page, translate) => {
      await openEmptyRoom(page);
      await askToDelete(page, translate);
      await page.getByText(translate('deleteRoomHint')).waitFor();
    },
  };
}

/** The settings of a room with a long name and a PIN. */
async function roomSettings({ server: { api } }: TestSite): Promise<ShowView> {
  const pin = '1204';
  const code = await api.room({ pin, name: longName.slice(0, 80) });
  return async (page, translate) => {
    await visit(page, `/r/${code}`);
    await page.getByLabel(translate('pinLabel')).pressSequentially(pin);
    await page.getByRole('button', { name: translate('roomSettings') }).click();
    const dialog = page.getByRole('dialog', { name: translate('roomSettings') });
    await dialog.getByRole('button', { name: translate('showPin') }).click();
    await dialog.getByRole('radio', { name: translate('newPin') }).check();
  };
}

/** A menu that phones have, and the message that a file was removed from it. */
async function fileMenu({ server: { api } }: TestSite): Promise<ShowView> {
  const code = await api.room();
  for (const name of [`${longName}.png`, 'removed.txt']) await api.upload(code, name, 'x');
  return async (page, translate) => {
    await page.setViewportSize({ width: 320, height: 640 });
    await visit(page, `/r/${code}`);
    const openMenu = (name: string) => page.getByRole('button', { name: translate('moreActions', { name }) }).click();
    await openMenu('removed.txt');
    await page.getByRole('button', { name: translate('removeFile', { name: 'removed.txt' }) }).click();
    await page.getByText(translate('fileRemoved', { name: 'removed.txt' })).waitFor();
    await api.upload(code, 'removed.txt', 'x');
    await openMenu(`${longName}.png`);
  };
}

/** A text that is too long to be shown as a whole, and an image that is damaged. */
async function viewers({ server: { api } }: TestSite): Promise<Record<string, ShowView>> {
  const code = await api.room();
  const content = `${longName.repeat(3)}\n`.repeat(700);
  await api.upload(code, `${longName}.txt`, content, { headers: { 'content-type': 'text/plain' } });
  await api.upload(code, `${longName}.png`, 'x', { headers: { 'content-type': 'image/png' } });
  const open = async (page: Page, name: string) => {
    await visit(page, `/r/${code}`);
    await page.getByRole('link', { name, exact: true }).click();
  };
  return {
    'text viewer': async (page) => {
      await open(page, `${longName}.txt`);
      await page.getByRole('dialog').locator('pre').waitFor();
    },
    'damaged image in the viewer': async (page, translate) => {
      await open(page, `${longName}.png`);
      await page.getByText(translate('cannotShowFile')).waitFor();
    },
  };
}

/** A one-time file in the list, in a selection, and in the dialog that receives it. */
async function oneTimeViews({ server: { api } }: TestSite): Promise<Record<string, ShowView>> {
  const code = await api.room();
  const name = `${longName}.txt`;
  await api.upload(code, 'ordinary.pdf', 'x');
  await api.upload(code, 'other.pdf', 'x');
  const headers = { 'content-type': 'text/plain', 'x-file-name': name };
  await api.post(`/api/rooms/${code}/upload?once=true`, { body: 'x', headers });
  const open = async (page: Page, translate: Translate) => {
    await visit(page, `/r/${code}`);
    await page.getByRole('button', { name: translate('downloadAll') }).waitFor();
    await chooseEntry(page, translate('deleteAfterDownload'), translate('addFiles'));
    await page.getByText(translate('nextFilesOnce')).waitFor();
  };
  return {
    'one-time file': open,
    selection: async (page, translate) => {
      await open(page, translate);
      await page.getByRole('button', { name: translate('select'), exact: true }).click();
      await page.getByRole('checkbox', { name }).check();
    },
    'receive dialog': async (page, translate) => {
      await open(page, translate);
      await page.getByRole('button', { name: translate('receiveFile', { name }) }).click();
      await page.getByText(translate('receiveHint')).waitFor();
    },
  };
}

async function leaveDialog({ server: { api } }: TestSite): Promise<ShowView> {
  const code = await api.room();
  return async (page, translate) => {
    await visit(page, `/r/${code}`);
    await page.locator('textarea').waitFor();
    await page.route('**/upload', () => undefined);
    await dropFiles(page, 'body', [{ name: `sending-${longName}`, content: 300_000 }]);
    await page.getByRole('progressbar').waitFor();
    await page.getByRole('link', { name: translate('home') }).click();
    await page.getByRole('dialog', { name: translate('leaveTitle') }).waitFor();
  };
}

/** Markdown of every kind, with long words. */
async function readView({ server: { api } }: TestSite, entry: 'readView' | 'displayMode'): Promise<ShowView> {
  const code = await api.room();
  const parts = [`# ${longName}`, '- [x] done', `| a | ${longName} |\n|-|-|\n| 1 | 2 |`, '> quote https://example.org'];
  const blocks = ['```js\n// comment\nconst a = "text" + 1;\n```', 'https://example.org/ `code` **bold**'];
  await api.post(`/api/rooms/${code}/content`, { json: { content: [...parts, ...blocks].join('\n\n') } });
  return async (page, translate) => {
    await visit(page, `/r/${code}`);
    await chooseEntry(page, translate(entry), translate('more'));
    await page.locator('.hl-keyword').waitFor();
  };
}

/** Earlier texts, longName and short. */
async function history({ server: { api } }: TestSite): Promise<ShowView> {
  const code = await api.room();
  const texts = [`${longName.repeat(3)}\n${'a line of many words '.repeat(20)}`, '', 'short, but not too short', ''];
  for (const content of texts) await api.post(`/api/rooms/${code}/content`, { json: { content } });
  return async (page, translate) => {
    await visit(page, `/r/${code}`);
    await chooseEntry(page, translate('history'), translate('more'));
    await page.getByRole('slider').press('Home');
    await page.locator('.preview').getByText(longName).waitFor();
  };
}

/** A room with files, uploads in progress, a long text with links, and a wrong PIN attempt. */
async function fullRoom({ server: { api } }: TestSite): Promise<ShowView> {
  const pin = '1204';
  const code = await api.room({ pin });
  await api.upload(code, `${longName}.png`, new Uint8Array(picture), { pin, headers: { 'content-type': 'image/png' } });
  await api.upload(code, 'short.pdf', 'x', { pin });
  const content = `${longName.repeat(3)}\nhttps://example.org/${longName}\nhttps://example.org/\n`;
  await api.post(`/api/rooms/${code}/content`, { pin, json: { content } });

  return async (page, translate) => {
    await visit(page, `/r/${code}`);
    await page.getByLabel(translate('pinLabel')).pressSequentially(pin);
    await page.getByRole('navigation', { name: translate('linksInText') }).waitFor();
    await api.get(`/api/rooms/${code}`, { pin: '0000', from: '203.0.113.9' });
    await page.getByText(translate('pinAttempts', { n: 1 })).waitFor();
    await page.route('**/upload', (route) => {
      if (route.request().headers()['x-file-name']?.startsWith('failed')) return route.abort();
    });
    const content = 300_000;
    await dropFiles(page, 'body', [
      { name: `failed-${longName}`, content },
      { name: `sending-${longName}`, content },
      { name: `next-${longName}`, content },
      { name: `waiting-${longName}`, content },
      { name: `refused-${longName}`, content: 10_485_761 },
    ]);
    await page.getByRole('button', { name: translate('retryUpload', { name: `failed-${longName}` }) }).waitFor();
    await page.getByText(`· ${translate('uploadWaiting')}`).waitFor();
    await page.getByRole('button', { name: translate('copyAll'), exact: true }).click();
    await page.getByText(translate('copied')).waitFor();
  };
}

const shareViews: Record<string, ShowView> = {
  'nothing shared': async (page, translate) => {
    await page.goto('/share');
    await page.getByRole('heading', { name: translate('nothingShared') }).waitFor();
  },
  share: async (page, translate) => {
    await visit(page, '/');
    await shareFromOtherApp(page, {
      text: `https://example.org/${longName}`,
      files: [{ name: longName, content: 'x' }],
    });
    await page.getByRole('heading', { name: translate('shareTitle') }).waitFor();
  },
};
