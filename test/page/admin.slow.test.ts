/** The admin page in a real browser. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { adminEnv, adminToken, masked } from '../support/admin.ts';
import { apiKeysOf, bearer } from '../support/keys.ts';
import { startTestSite } from '../support/page.ts';

describe('the admin page', () => {
  it('[ADMIN-10] asks for the token, shows numbers, and removes, blocks and revokes', {
    timeout: 120_000,
  }, async (t) => {
    const site = await startTestSite(t, { ...adminEnv, POPROOM_ABUSE_CONTACT: 'abuse@example.org' });
    const { server } = site;
    const { api } = server;
    const key = await apiKeysOf(t, server).make('build-server', 'pro');
    await api.get('/api/health', { headers: bearer(key) });
    const room = await api.room({ name: 'private room' }, { from: '203.0.113.7' });
    const { page, context } = await site.openDevice({ at: '/admin', viewport: { width: 1280, height: 800 } });
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    const open = async (section: string) => {
      await page.getByRole('navigation').getByRole('link', { name: section }).click();
      await page.getByRole('heading', { level: 1, name: section }).waitFor();
    };
    const button = (name: string | RegExp) => page.getByRole('button', { name });

    await page.getByLabel('Admin token').fill('a wrong token');
    await button('Sign in').click();
    await page.getByRole('alert').getByText('Wrong token. Check it and try again.').waitFor();
    await assertAccessible(page, 'sign-in', ['light']);
    await page.getByLabel('Admin token').fill(adminToken);
    await button('Sign in').click();
    await page.getByRole('img', { name: /^Requests per 5 minutes, last 24 hours: highest [1-9]/ }).waitFor();
    await assertAccessible(page, 'overview');

    await api.post(`/api/rooms/${room}/reports`, { json: { reason: 'malware', comment: 'a virus' } });
    await open('Reports');
    await page.getByRole('cell', { name: 'a virus', exact: true }).waitFor();
    await assertAccessible(page, 'reports');
    await button(`Dismiss the report about ${masked(room)}`).click();
    await page.getByText('There are no reports.').waitFor();

    await open('Rooms');
    const row = page.getByRole('row').filter({ hasText: masked(room) });
    await row.waitFor();
    await assertAccessible(page, 'rooms');
    assert.ok(!(await page.content()).includes('private room'));
    await button(/^Reveal/).click();
    await page.getByRole('cell', { name: room, exact: true }).waitFor();
    await button(/^Remove/).click();
    await page.getByRole('dialog').getByText(`Remove room ${room}?`).waitFor();
    await assertAccessible(page, 'question', ['dark']);
    await page.getByRole('dialog').getByRole('button', { name: 'Remove room' }).click();
    await page.getByText('There are no rooms.').waitFor();
    assert.equal((await api.get(`/api/rooms/${room}`)).status, 404);

    await open('Clients');
    await button('Block 203.0.113.7').click();
    await page.getByLabel('Reason').fill('a test');
    await page.getByLabel('Ends after').selectOption('1 hour');
    await page.getByRole('button', { name: 'Block', exact: true }).click();
    await page.getByRole('cell', { name: '203.0.113.7/32', exact: true }).waitFor();
    const [ends = ''] = await page.getByRole('row').filter({ hasText: '203.0.113.7/32' }).allInnerTexts();
    assert.match(ends, /\b(1 hour|1 h|60 min|59 min|60 minutes|59 minutes)\b/);
    assert.equal(await page.getByLabel('Ends after').inputValue(), '86400', 'for the next block');
    assert.equal((await api.get('/api/health', { from: '203.0.113.7' })).code, 'ADDRESS_BLOCKED');
    await assertAccessible(page, 'blocks', ['light']);
    await button('Unblock 203.0.113.7/32').click();
    await page.getByText('No address is blocked.').waitFor();
    await page.getByLabel('Address or range').fill('127.0.0.0/8');
    await page.getByLabel('Reason').fill('a mistake');
    await page.getByRole('button', { name: 'Block', exact: true }).click();
    await page.getByRole('alert').getByText('contains this machine').waitFor();
    await page.getByLabel('Block it anyway').waitFor();

    await open('Keys');
    await button('Revoke build-server').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('cell', { name: 'Revoked' }).waitFor();
    assert.equal((await api.get('/api/health', { headers: bearer(key) })).code, 'INVALID_API_KEY');

    await page.setViewportSize({ width: 390, height: 844 });
    for (const section of ['Overview', 'Rooms', 'Reports', 'Clients', 'Blocks', 'Keys']) {
      await open(section);
      const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.equal(content, window, section);
    }
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    assert.ok(requested.every((url) => new URL(url).origin === new URL(page.url()).origin && !url.includes('token')));
    const stored = await page.evaluate(() => [JSON.stringify(localStorage), document.cookie, location.href].join());
    assert.ok(!stored.includes(adminToken));
    const other = await context.newPage();
    await other.goto('/admin');
    await other.getByLabel('Admin token').waitFor();
    await button('Sign out').click();
    await page.getByLabel('Admin token').waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  });
});

const rules: axe.RunOnly = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
};
const ofColours: axe.RunOnly = { type: 'rule', values: ['color-contrast'] };

type Theme = 'light' | 'dark';

async function assertAccessible(page: Page, name: string, themes: readonly Theme[] = ['light', 'dark']): Promise<void> {
  await page.evaluate(axe.source);
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await page.evaluate(
      (runOnly) =>
        (window as unknown as { axe: typeof axe }).axe.run({ runOnly, resultTypes: ['violations'], preload: false }),
      colorScheme === themes[0] ? rules : ofColours,
    );
    const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`));
    assert.deepEqual(found, [], `${name}, ${colorScheme}`);
  }
}
