/** Private servers: the page asks for the password or the API key, and remembers it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apiKeysOf, bearer } from '../support/keys.ts';
import { codeOf, startTestSite, textOf } from '../support/page.ts';

const password = 'correct horse battery';

describe('the page of a private server', () => {
  it('[CREATE-6] asks for the password once, and starts the room then', async (t) => {
    const env = { POPROOM_CREATE: 'password', POPROOM_CREATE_PASSWORD: password };
    const { openDevice, server } = await startTestSite(t, env);
    const device = await openDevice();
    const { page } = device;
    const start = page.getByRole('button', { name: 'Start a room' });
    const dialog = page.getByRole('dialog', { name: 'Password required' });
    await start.click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('alert').getByText('Password required').waitFor();
    await start.click();
    const field = dialog.getByLabel('Password');
    await field.fill('not the password');
    await field.press('Enter');
    await dialog.getByRole('alert').getByText('Wrong password.').waitFor();
    await field.fill(password);
    await field.press('Enter');
    await textOf(device).waitFor();

    await page.goto('/');
    await start.click();
    await textOf(device).waitFor();
    const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }));
    assert.ok(kept.includes('popc.') && !kept.includes(password));
    await page.getByRole('link', { name: 'Poproom home' }).click();
    await page.getByRole('button', { name: 'Settings', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out of this server' }).click();
    await start.click();
    await dialog.waitFor();
    assert.ok(!server.logged().includes(password));
  });

  it('[slow] [CREATE-6] sends people who have not signed in to the home page, where the proxy signs them in', async (t) => {
    const { openDevice } = await startTestSite(t, { POPROOM_CREATE: 'proxy', POPROOM_TRUSTED_PROXIES: '127.0.0.1' });
    const device = await openDevice();
    const { page } = device;
    await page.getByRole('button', { name: 'Start a room' }).click();
    const dialog = page.getByRole('dialog', { name: 'Sign in required' });
    assert.equal(await dialog.getByRole('link', { name: 'Sign in' }).getAttribute('href'), '/');
    await page.setExtraHTTPHeaders({ 'Remote-User': 'alice' });
    await dialog.getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Start a room' }).click();
    await textOf(device).waitFor();
  });

  it('[slow] [CREATE-7] asks for the API key where everything requires one, and joins the room live', async (t) => {
    const site = await startTestSite(t, { POPROOM_REQUIRE_API_KEY: 'true' });
    const key = await apiKeysOf(t, site.server).make('laptop', 'pro');
    const { api } = site.server;
    const room = await api.room({}, { headers: bearer(key) });
    const device = await site.openDevice({ at: `/r/${room}` });
    const dialog = device.page.getByRole('dialog', { name: 'API key required' });
    const field = dialog.getByLabel('API key');
    await field.fill(`pop_${'x'.repeat(32)}`);
    await field.press('Enter');
    await dialog.getByRole('alert').getByText('This API key is not valid.').waitFor();
    await field.fill(key);
    await field.press('Enter');
    await textOf(device).waitFor();
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'Hello' }, headers: bearer(key) });
    await device.page.waitForFunction(() => document.querySelector('textarea')?.value === 'Hello');
    await device.page.reload();
    await textOf(device).waitFor();
    assert.equal(await codeOf(device.page), room);
  });
});
