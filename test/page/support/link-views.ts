/** The views of links with a role: in the invitation, and of their holders. */
import { createClient } from '../../../src/client/index.ts';
import type { TestSite } from '../../support/page.ts';
import { picture } from './files.ts';
import type { ShowView } from './views.ts';

const longName = 'a-name-without-end-'.repeat(8);

export async function linkViews({ server: { url, api } }: TestSite): Promise<Record<string, ShowView>> {
  const client = createClient({ url, deviceId: 'script' });
  const room = await client.createRoom({ encrypted: true, name: longName.slice(0, 80) });
  await room.write(`# Title\n\n${longName.repeat(3)}`);
  await room.upload(new Blob(['x'], { type: 'text/plain' }), { name: `${longName}.txt` });
  const pathOf = async (role: 'read' | 'drop') => {
    const { link = '' } = await room.createLink({ role, name: longName.slice(0, 64) });
    return `/r/${link.split('/r/')[1]}`;
  };
  const [read, drop, plain] = [await pathOf('read'), await pathOf('drop'), await api.room()];
  const file = { mimeType: 'image/png', buffer: picture };
  return {
    'links in the invitation': async (page, translate) => {
      await page.goto(`/r/${room.link.split('/r/')[1]}`);
      await page.getByRole('button', { name: translate('invite'), exact: true }).click();
      await page.getByRole('radio', { name: translate('linkRoleRead') }).check();
      await page
        .getByRole('list', { name: translate('linkList') })
        .getByRole('button')
        .first()
        .click();
      await page.locator('dialog .qr path[d^="M"]').waitFor();
    },
    'new link': async (page, translate) => {
      await page.goto(`/r/${plain}`);
      await page.getByRole('button', { name: translate('invite'), exact: true }).click();
      await page.getByRole('radio', { name: translate('linkRoleDrop') }).check();
      await page.getByRole('button', { name: translate('linkCreate') }).waitFor();
    },
    reader: async (page, translate) => {
      await page.goto('/');
      await page.goto(read);
      await page.getByRole('button', { name: translate('downloadFile', { name: `${longName}.txt` }) }).waitFor();
      await page.locator('.read-text h3').waitFor();
    },
    dropper: async (page, translate) => {
      // Other views hold back their uploads.
      await page.unrouteAll();
      await page.goto('/');
      await page.goto(drop);
      await page.locator('input[type=file]').setInputFiles({ ...file, name: `${longName}.png` });
      await page.getByText(translate('dropSent')).first().waitFor();
      await page.route('**/upload', () => undefined);
      await page.locator('input[type=file]').setInputFiles({ ...file, name: `sending-${longName}.png` });
      await page.getByRole('progressbar').waitFor();
    },
    'ended link of a dropper': async (page, translate) => {
      const path = await pathOf('drop');
      await page.unrouteAll();
      await page.goto(path);
      await page.locator('input[type=file]').waitFor({ state: 'attached' });
      await room.revokeLink(/E\w{23}/.exec(path)?.[0] ?? '');
      await page.locator('input[type=file]').setInputFiles({ ...file, name: `${longName}.png` });
      await page.getByRole('heading', { name: translate('linkGone') }).waitFor();
    },
    'incomplete link': async (page, translate) => {
      await page.goto('/');
      await page.evaluate(() => sessionStorage.clear());
      await page.goto(read.split('#')[0] as string);
      await page.getByRole('heading', { name: translate('linkIncomplete') }).waitFor();
    },
  };
}
