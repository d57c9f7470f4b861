/** The views of encrypted rooms. */
import type { StringKey } from '../../../web/src/i18n/translation.ts';
import type { TestSite } from '../../support/page.ts';
import { createEncryptedRoom } from './encrypted.ts';
import type { ShowView } from './views.ts';

/** A text of each view. They are loaded after those of the page. */
export const encryptionTexts: Record<string, StringKey> = {
  'key question': 'keyLabel',
  'encrypted room': 'encrypted',
  'older text': 'rollbackTitle',
};

export async function encryptionViews(site: TestSite): Promise<Record<string, ShowView>> {
  const [room, older] = [await createEncryptedRoom(site), await createEncryptedRoom(site)];
  const [code, olderCode] = [room, older].map((name) => name.split('#')[0] as string) as [string, string];
  return {
    'key question': async (page, translate) => {
      await page.goto(`/r/${code}`);
      await page.getByRole('heading', { name: translate('keyTitle', { code }) }).waitFor();
      await page.getByRole('textbox', { name: translate('keyLabel') }).fill('H4T9-WZ3B-NQ6Y-RC88');
      await page.getByRole('button', { name: translate('openRoom') }).click();
      await page.locator('[role="alert"][data-wrong]').waitFor();
    },
    'encrypted room': async (page, translate) => {
      await page.goto('/');
      await page.goto(`/r/${room}`);
      await page.getByRole('button', { name: translate('encrypted') }).click();
      await page.getByRole('dialog', { name: translate('encrypted') }).waitFor();
    },
    'older text': async (page, translate) => {
      await page.goto('/');
      await page.evaluate((code) => {
        const seen = { version: 99, hash: 'A'.repeat(22) };
        const recent = { code, expiresAt: Date.now() + 3_600_000, since: Date.now(), hasPin: false, isEncrypted: true };
        localStorage.setItem(`poproom:seen:${code}`, JSON.stringify(seen));
        localStorage.setItem('poproom:rooms', JSON.stringify([recent]));
      }, olderCode);
      await page.goto(`/r/${older}`);
      await page.getByRole('heading', { name: translate('rollbackTitle') }).waitFor();
    },
  };
}
