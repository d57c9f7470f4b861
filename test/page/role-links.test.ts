/** Links with a role: how members make them, and what their holders see. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BrowserDevice, joinRoom, sharedTestSite, type TestSite, textOf } from '../support/page.ts';

async function inviteBy({ page }: BrowserDevice, role: 'View only' | 'Drop files') {
  await page.getByRole('button', { name: 'Invite' }).click();
  const dialog = page.getByRole('dialog', { name: 'Invite' });
  await dialog.getByRole('radio', { name: role }).check();
  return dialog;
}

async function createLink(site: TestSite, room: string, json: object): Promise<string> {
  return (await site.server.api.post(`/api/rooms/${room}/links`, { json })).json.linkId;
}

describe('the page, links with a role', () => {
  it('[ROLE-40] are offered beside the invitation, with a QR code, a list and a way to revoke them', async (t) => {
    const site = await sharedTestSite(t);
    const room = await site.server.api.room();
    const device = await joinRoom(site, room);
    const dialog = await inviteBy(device, 'View only');
    await dialog.getByLabel('Name (optional)').fill('For the press');
    await dialog.getByRole('button', { name: 'Create link' }).click();
    await dialog.locator('svg.qr').waitFor();
    const shown = await dialog.locator('p.link').textContent();
    const [, id = ''] = /\/r\/([0-9A-Z]{24})$/.exec(shown ?? '') ?? [];
    assert.notEqual(id, '', String(shown));
    const entry = dialog.getByRole('list', { name: 'Links' }).getByRole('listitem');
    await entry.getByText('For the press').waitFor();
    await entry.getByText('Not used yet').waitFor();
    assert.equal((await site.server.api.get(`/api/rooms/${id}`)).json.role, 'read');
    await dialog.getByRole('button', { name: 'New link' }).click();
    await dialog.getByLabel('Name (optional)').waitFor();
    await entry.getByRole('button', { name: 'Revoke' }).click();
    await entry.waitFor({ state: 'detached' });
    assert.equal((await site.server.api.get(`/api/rooms/${id}`)).status, 404);
  });

  it('[ROLE-41] [PAGE-120] show readers the text and the files as they change, and no editor', async (t) => {
    const site = await sharedTestSite(t);
    const { api } = site.server;
    const room = await api.room({ name: 'Kitchen table' });
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'First text' } });
    await api.upload(room, 'plan.txt', 'a plan');
    const id = await createLink(site, room, { role: 'read' });
    const reader = await site.openDevice({ at: `/r/${id}` });
    const { page } = reader;
    await page.getByRole('heading', { name: 'Kitchen table' }).waitFor();
    await page.getByText('First text').waitFor();
    await page.getByRole('link', { name: 'plan.txt', exact: true }).waitFor();
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'Second text' } });
    await page.getByText('Second text').waitFor();
    await page.setViewportSize({ width: 320, height: 568 });
    const long = `\`\`\`\n${'a long line of code '.repeat(9)}\n\`\`\``;
    await api.post(`/api/rooms/${room}/content`, { json: { content: long } });
    await page.getByRole('button', { name: 'Copy code block' }).waitFor();
    await page.waitForFunction(() => document.documentElement.scrollWidth === 320);
    await api.upload(room, 'more.txt', 'more');
    await page.getByRole('link', { name: 'more.txt', exact: true }).waitFor();
    assert.equal(await textOf(reader).count(), 0);
    assert.ok(!(await page.content()).includes(room));
    await api.delete(`/api/rooms/${room}/links/${id}`);
    await page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
  });

  it('[ROLE-42] let droppers send files and a note, and show them nothing else', async (t) => {
    const site = await sharedTestSite(t);
    const { api } = site.server;
    const room = await api.room({ name: 'Kitchen table' });
    await api.upload(room, 'secret.txt', 'a secret');
    const id = await createLink(site, room, { role: 'drop', name: 'the jury' });
    const { page } = await site.openDevice({ at: `/r/${id}` });
    await page.getByRole('heading', { name: 'Files go to the jury' }).waitFor();
    const files = ['one.txt', 'two.txt'].map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) }));
    await page.locator('input[type=file]').setInputFiles(files);
    for (const { name } of files)
      await page.getByRole('listitem').filter({ hasText: name }).getByText('Sent').waitFor();
    await page.getByLabel('Note').fill('See both.');
    await page.getByRole('button', { name: 'Send note' }).click();
    await page.getByRole('listitem').filter({ hasText: 'note-' }).getByText('Sent').waitFor();
    const listed = (await api.get(`/api/rooms/${room}/files`)).json.files;
    const names = listed.map(({ fileName }: { fileName: string }) => fileName.replace(/note-.*/, 'note'));
    assert.deepEqual(names.sort(), ['note', 'one.txt', 'secret.txt', 'two.txt']);
    const shown = await page.content();
    for (const hidden of [room, 'Kitchen table', 'secret.txt']) assert.ok(!shown.includes(hidden), hidden);
  });
});
