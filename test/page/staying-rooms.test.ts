/** Room settings for rooms that stay, and for webhooks. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { joinRoom, startTestSite } from '../support/page.ts';

describe('the page, a room that stays', () => {
  it('[STAY-4] [STAY-5] [HOOK-12] does not count the days, extends itself, and has webhooks', async (t) => {
    let hits = 0;
    const receiver = createServer((_, response) => {
      hits += 1;
      response.writeHead(204).end();
    });
    const url = await listenOnFreePort(t, receiver);
    const env = { POPROOM_ROOM_MAX_TTL: '3650d', POPROOM_WEBHOOK_HOSTS: new URL(url).host };
    const site = await startTestSite(t, env);
    const { api } = site.server;
    const code = await api.room({ expiresIn: 3650 * 86_400 });
    const { page } = await joinRoom(site, code);
    await page.locator('.expiry').getByText('Does not expire soon').waitFor();

    await page.getByRole('button', { name: 'Room settings' }).click();
    const dialog = page.getByRole('dialog', { name: 'Room settings' });
    const webhooks = dialog.getByRole('group', { name: 'Webhooks' });
    await webhooks.getByRole('textbox', { name: 'URL' }).fill('https://elsewhere.example/');
    await webhooks.getByRole('button', { name: 'Add webhook' }).click();
    await webhooks
      .getByRole('alert')
      .getByText(/does not allow webhooks/)
      .waitFor();
    await webhooks.getByRole('textbox', { name: 'URL' }).fill(`${url}/token`);
    await webhooks.getByRole('textbox', { name: 'URL' }).press('Enter');
    await webhooks.getByText(new URL(url).host, { exact: true }).waitFor();
    await webhooks.getByRole('button', { name: 'Copy secret' }).waitFor();
    assert.ok(!(await webhooks.innerText()).includes('token'));
    await dialog.getByRole('radio', { name: '1 day', exact: true }).check();
    await dialog.getByRole('checkbox', { name: 'Extend while used' }).check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal((await api.get(`/api/rooms/${code}`)).json.extend, true);
    await eventually('the change is reported', () => hits > 0);

    await page.reload();
    await page.getByRole('button', { name: 'Room settings' }).click();
    assert.ok(await dialog.getByRole('checkbox', { name: 'Extend while used' }).isChecked());
    await webhooks.getByRole('button', { name: /^Remove/ }).click();
    await eventually('it is removed', async () => {
      return (await api.get(`/api/rooms/${code}/webhooks`)).json.webhooks.length === 0;
    });
  });
});
