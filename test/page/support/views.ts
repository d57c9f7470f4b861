/** Every view of the page, in any of its languages, as a person gets to see it. */
import type { Page } from 'playwright-core';
import { strings } from '../../../web/src/i18n/strings.ts';
import type { TestSite } from '../../support/page.ts';
import { dropFiles, picture } from './files.ts';
import { shareFromElsewhere } from './worker.ts';

export type Language = keyof (typeof strings)['start'];
export const languages: readonly Language[] = ['en', 'zh', 'es', 'de'];

/** The words of the page in a language. */
export type Say = (name: keyof typeof strings, values?: Record<string, string>) => string;

export const sayIn =
  (language: Language): Say =>
  (name, values = {}) =>
    strings[name][language].replace(/\{(\w+)\}/g, (_, key) => values[key] ?? '');

/** Shows a view in a page, and waits until it stands. */
export type Show = (page: Page, say: Say) => Promise<void>;

const long = 'a-name-without-end-'.repeat(8);

/** With the rooms that the views need. */
export async function allViews(site: TestSite): Promise<Record<string, Show>> {
  return { ...homeViews, ...(await doorViews(site)), ...(await roomViews(site)), ...shareViews };
}

const homeViews: Record<string, Show> = {
  home: async (page, say) => {
    await page.goto('/');
    await page.getByRole('button', { name: say('start') }).waitFor();
  },
  'home with options': async (page, say) => {
    await page.goto('/');
    await page.getByText(say('options')).click();
    await page.getByRole('checkbox', { name: say('requirePin') }).check();
    await page.getByRole('button', { name: say('start') }).click();
    await page.getByText(say('pinInvalid')).waitFor();
    await page.getByRole('button', { name: say('join'), exact: true }).click();
    await page.getByText(say('codeMissing')).waitFor();
  },
  'home offline': async (page, say) => {
    await page.goto('/');
    await page.context().setOffline(true);
    await page.getByText(say('youAreOffline')).waitFor();
  },
  settings: async (page, say) => {
    await page.goto('/');
    await page.getByRole('button', { name: say('settings') }).click();
    await page.getByRole('dialog').waitFor();
  },
};

async function doorViews({ server: { api, clock } }: TestSite): Promise<Record<string, Show>> {
  const from = '203.0.113.1';
  const [closed, locked] = [await api.room({ pin: '1204' }, { from }), await api.room({ pin: '1204' }, { from })];
  for (let tries = 0; tries < 5; tries++) await api.get(`/api/rooms/${locked}`, { pin: '9999' });
  const expired = await api.room({ expiresIn: 60 });
  clock.advance(60_000);

  return {
    PIN: async (page, say) => {
      await page.goto(`/r/${closed}`);
      await page.getByRole('heading', { name: say('pinTitle', { code: closed }) }).waitFor();
    },
    locked: async (page, say) => {
      await api.get(`/api/rooms/${locked}`, { pin: '9999' });
      await page.goto(`/r/${locked}`);
      await page.getByLabel(say('pinLabel')).pressSequentially('1204');
      await page.locator('[role="alert"] [aria-hidden]').waitFor();
    },
    unknown: async (page, say) => {
      await page.goto('/r/ABCDEF');
      await page.getByRole('heading', { name: say('roomNotFound', { code: 'ABCDEF' }) }).waitFor();
    },
    'not a code': async (page, say) => {
      await page.goto(`/r/${long}`);
      await page.getByRole('heading', { name: say('invalidCode', { code: long }) }).waitFor();
    },
    expired: async (page, say) => {
      await page.goto(`/r/${expired}`);
      await page.getByRole('heading', { name: say('roomExpired') }).waitFor();
    },
    deleted: async (page, say) => {
      const code = await api.room();
      await page.goto(`/r/${code}`);
      await page.locator('textarea').waitFor();
      await api.delete(`/api/rooms/${code}`);
      await page.getByRole('heading', { name: say('roomDeleted') }).waitFor();
    },
  };
}

async function roomViews(site: TestSite): Promise<Record<string, Show>> {
  const empty = await site.server.api.room();
  const enterEmpty = async (page: Page) => {
    await page.goto(`/r/${empty}`);
    await page.locator('textarea').waitFor();
  };
  return {
    'empty room': enterEmpty,
    'full room': await fullRoom(site),
    'room offline': async (page, say) => {
      await enterEmpty(page);
      await page.context().setOffline(true);
      await page.getByText(say('connectionLost')).waitFor();
    },
    'empty history': async (page, say) => {
      await enterEmpty(page);
      await page.getByRole('button', { name: say('history') }).click();
      await page.getByText(say('historyEmpty')).waitFor();
    },
    history: await history(site),
    'delete history': async (page, say) => {
      await (await history(site))(page, say);
      await page.getByRole('button', { name: say('deleteHistory') }).click();
      await page.getByText(say('deleteHistoryHint')).waitFor();
    },
    'delete dialog': async (page, say) => {
      await enterEmpty(page);
      await page.getByRole('button', { name: say('deleteRoom') }).click();
      await page.getByRole('dialog').waitFor();
    },
  };
}

/** Earlier texts, long and short. */
async function history({ server: { api } }: TestSite): Promise<Show> {
  const code = await api.room();
  const texts = [`${long.repeat(3)}\n${'a line of many words '.repeat(20)}`, '', 'short, but not too short', ''];
  for (const content of texts) await api.post(`/api/rooms/${code}/content`, { json: { content } });
  return async (page, say) => {
    await page.goto(`/r/${code}`);
    await page.getByRole('button', { name: say('history') }).click();
    await page.getByRole('radio').last().check();
    await page.locator('.preview').getByText(long).waitFor();
  };
}

/** Files, files on their way, a long text with links, someone at the door. */
async function fullRoom({ server: { api } }: TestSite): Promise<Show> {
  const pin = '1204';
  const code = await api.room({ pin });
  await api.upload(code, `${long}.png`, new Uint8Array(picture), { pin, headers: { 'content-type': 'image/png' } });
  await api.upload(code, 'short.pdf', 'x', { pin });
  const content = `${long.repeat(3)}\nhttps://example.org/${long}\nhttps://example.org/\n`;
  await api.post(`/api/rooms/${code}/content`, { pin, json: { content } });

  return async (page, say) => {
    await page.goto(`/r/${code}`);
    await page.getByLabel(say('pinLabel')).pressSequentially(pin);
    await page.getByRole('navigation', { name: say('linksInText') }).waitFor();
    await api.get(`/api/rooms/${code}`, { pin: '0000', from: '203.0.113.9' });
    await page.getByText(say('pinAttempt')).waitFor();
    await page.route('**/upload', (route) => {
      if (route.request().headers()['x-file-name']?.startsWith('failed')) return route.abort();
    });
    const content = 300_000;
    await dropFiles(page, 'body', [
      { name: `failed-${long}`, content },
      { name: `sending-${long}`, content },
      { name: `next-${long}`, content },
      { name: `waiting-${long}`, content },
      { name: `refused-${long}`, content: 10_485_761 },
    ]);
    await page.getByRole('button', { name: say('retryUpload', { name: `failed-${long}` }) }).waitFor();
    await page.getByText(`· ${say('uploadWaiting')}`).waitFor();
    await page.getByRole('button', { name: say('copyCode'), exact: true }).click();
    await page.getByText(say('copied')).waitFor();
  };
}

const shareViews: Record<string, Show> = {
  'nothing shared': async (page, say) => {
    await page.goto('/share');
    await page.getByRole('heading', { name: say('nothingShared') }).waitFor();
  },
  share: async (page, say) => {
    await page.goto('/');
    await shareFromElsewhere(page, { text: `https://example.org/${long}`, files: [{ name: long, content: 'x' }] });
    await page.getByRole('heading', { name: say('shareTitle') }).waitFor();
  },
};
