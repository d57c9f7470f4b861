/** A screen without a keyboard shows a QR code, and a phone invites it into a room. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page, Response } from 'playwright-core';
import { createInvitationSecret, parseInvitation, sealAnswer } from '../../src/client/crypto/invitation.ts';
import type { RoomCode } from '../../src/protocol/room-code.ts';
import { eventually } from '../support/eventually.ts';
import {
  type BrowserDevice,
  codeOf,
  hasFocus,
  leaveDisplayMode,
  sharedTestSite,
  showsText,
  startRoom,
  startTestSite,
  type TestSite,
  textOf,
} from '../support/page.ts';
import { readQr } from './support/qr.ts';

/** The smallest that still has the QR code beside the words: pictures of it are small too. */
const screenSize = { width: 640, height: 360 };
const openScreen = (site: TestSite, at = '/invite') => site.openDevice({ at, viewport: screenSize });
const linkOn = ({ page }: BrowserDevice) => readQr(page, 'QR code to invite this screen');
const meetingIn = (link: string) => /#(\w+)\./.exec(link)?.[1] ?? assert.fail(link);
const showsHeading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
const tapRoom = (page: Page, code: string) => page.getByRole('listitem').getByText(code, { exact: true }).click();

/** Its body is gone once the page navigates, its headers are not. */
const createdRoom = (response: Response) => /\w{6}$/.exec(response.headers().location ?? '')?.[0] ?? assert.fail();

/** A tab of the same phone, as its camera app opens one. */
async function openLink({ context }: BrowserDevice, link: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(link);
  return page;
}

async function assertDeleted({ server: { api } }: TestSite, code: string): Promise<void> {
  await eventually('the room is deleted', async () => (await api.get(`/api/rooms/${code}`)).status === 404);
}

describe('the page, inviting a screen', () => {
  it('[PAGE-100] [PAGE-102] [PAGE-103] [VIEW-11] lets a phone open a recent room on the screen, also over plain HTTP', async (t) => {
    const site = await startTestSite(t, {}, { host: 'poproom.test' });
    const phone = await site.openDevice();
    const code = await startRoom(phone);
    await textOf(phone).fill('on the phone');
    const screen = await openScreen(site, '/');
    const loaded: string[] = [];
    screen.page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
    await screen.page.reload();
    await screen.page.getByRole('button', { name: 'Start a room' }).waitFor();
    assert.equal(
      loaded.some((path) => path.includes('invite')),
      false,
      'the first view loads nothing of it',
    );
    await screen.page.getByRole('button', { name: 'Show a QR code to be invited' }).click();
    const link = await linkOn(screen);
    assert.deepEqual(await screen.page.evaluate(() => [isSecureContext, crypto.subtle]), [false, undefined]);
    assert.match(link, /^http:\/\/poproom\.test:\d+\/invite#\w{6}\.[\w-]{43}\.[\w-]{22}$/);
    assert.match(await screen.page.getByRole('status').first().innerText(), /\d left/);

    const tab = await openLink(phone, link);
    const sent: string[] = [];
    tab.on('request', (request) => sent.push(`${request.url()} ${request.postData()}`));
    await showsHeading(tab, 'Invite another screen');
    assert.equal(tab.url(), link.replace(/#.*/, ''), 'the invitation is not in the address bar');
    await tab.reload();
    await tab.getByText('Another screen wants to join one of your rooms.').waitFor();
    const tapped = performance.now();
    await tapRoom(tab, code);
    await screen.page.getByRole('dialog', { name: 'Display mode' }).waitFor();
    // As after a power cycle: a tab without the storage of the one before.
    const restarted = await screen.context.newPage();
    await restarted.goto(screen.page.url());
    await restarted.getByRole('dialog', { name: 'Display mode' }).waitFor();
    await restarted.close();
    await leaveDisplayMode(screen);
    t.diagnostic(`${((performance.now() - tapped) / 1000).toFixed(1)} s from the tap until the room is open`);
    await showsText(screen, 'on the phone');
    assert.equal(codeOf(screen.page), code);
    await showsHeading(tab, `The screen is in room ${code}`);
    await assertDeleted(site, meetingIn(link));
    const [, key = '', token = ''] = link.split('.').slice(-3);
    for (const secret of [code, key, token]) {
      assert.equal(
        sent.some((request) => request.includes(secret)),
        false,
        'the server cannot read the answer',
      );
      assert.equal(site.server.logged().includes(secret), false);
    }
    assert.ok(sent.some((request) => request.includes('pop1-invite.')));
    await tab.getByRole('button', { name: 'Open the room here' }).click();
    await tab.getByRole('textbox', { name: 'Text' }).waitFor();
  });

  it('[PAGE-100] [PAGE-101] passes on a PIN that the phone knows, and works once', async (t) => {
    const site = await sharedTestSite(t);
    const [screen, phone] = [await openScreen(site), await site.openDevice()];
    const link = await linkOn(screen);
    const tab = await openLink(phone, link);
    await tab.getByText('No recent rooms on this device.').waitFor();
    await tab.getByText('Options').click();
    await tab.getByRole('checkbox', { name: 'Require a PIN' }).check();
    await tab.getByRole('textbox', { name: '4-digit PIN' }).fill('1204');
    await tab.getByRole('button', { name: 'Start a room' }).click();
    await leaveDisplayMode(screen);
    const code = codeOf(screen.page);
    assert.equal((await site.server.api.get(`/api/rooms/${code}`, { pin: '1204' })).status, 200);
    await showsHeading(tab, `The screen is in room ${code}`);

    const second = await openLink(phone, link);
    await tapRoom(second, code);
    await showsHeading(second, 'This invitation is no longer valid');
    await second.getByText('Show a new code on the screen and scan it.').waitFor();

    // The new tab does not know the PIN, so the screen asks for it.
    const other = await openScreen(site);
    await second.goto(await linkOn(other));
    await tapRoom(second, code);
    await showsHeading(other.page, `Enter the PIN for room ${code}`);
    await other.page.keyboard.type('1204');
    await leaveDisplayMode(other);
  });

  it('[PAGE-101] renews a QR code that expires, a few times, and then waits for the user', async (t) => {
    const site = await startTestSite(t);
    const screen = await openScreen(site);
    const first = await linkOn(screen);
    const drawn = screen.page.locator('.qr path[d^="M"]');
    for (let renewals = 0; renewals < 3; renewals++) {
      const shape = await drawn.getAttribute('d');
      site.server.clock.advance(600_000);
      await eventually('another QR code', async () => {
        const next = (await drawn.count()) > 0 && (await drawn.getAttribute('d', { timeout: 1000 }).catch(() => shape));
        return next !== false && next !== shape;
      });
    }
    site.server.clock.advance(600_000);
    await screen.page.getByRole('status').filter({ hasText: 'The QR code has expired.' }).waitFor();
    assert.equal(await drawn.count(), 0);

    const phone = await site.openDevice({ at: new URL(first).pathname + new URL(first).hash });
    await phone.page.getByRole('button', { name: 'Start a room' }).click();
    await showsHeading(phone.page, 'This invitation is no longer valid');

    await screen.page.getByRole('button', { name: 'Show a new code' }).click();
    const tab = await openLink(phone, await linkOn(screen));
    await tab.getByRole('button', { name: 'Start a room' }).click();
    await leaveDisplayMode(screen);
  });

  it('[PAGE-102] ignores what strangers write into the meeting room', async (t) => {
    const site = await sharedTestSite(t);
    const { api } = site.server;
    const screen = await openScreen(site);
    const link = await linkOn(screen);
    const invitation = parseInvitation(link.replace(/.*#/, '')) ?? assert.fail();
    const path = `/api/rooms/${invitation.meeting}/content`;
    const [wanted, unwanted] = [await api.room(), (await api.room()) as RoomCode];
    const other = createInvitationSecret();
    const junk = [
      `${site.server.url}/r/${unwanted}`,
      'x'.repeat(1_000_000),
      sealAnswer({ ...invitation, token: other.token }, { code: unwanted }),
      sealAnswer({ ...invitation, publicKey: other.publicKey }, { code: unwanted }),
    ];
    for (const content of junk) assert.equal((await api.post(path, { json: { content } })).status, 200);

    // While the screen is offline, someone overwrites the answer, and the phone writes it again.
    await screen.context.setOffline(true);
    await screen.page.getByRole('status').filter({ hasText: 'Can’t reach the server' }).waitFor();
    assert.equal(new URL(screen.page.url()).pathname, '/invite');
    const phone = await site.openDevice({ at: `/r/${wanted}` });
    await textOf(phone).waitFor();
    const tab = await openLink(phone, link);
    await tapRoom(tab, wanted);
    await showsHeading(tab, 'Waiting for the screen…');
    const isAnswered = async () => (await api.get(path)).json.content.startsWith('pop1-invite.');
    await eventually('the phone has answered', isAnswered);
    await api.post(path, { json: { content: 'junk' } });
    await eventually('the phone has answered again', isAnswered);
    await screen.context.setOffline(false);
    await leaveDisplayMode(screen);
    assert.equal(codeOf(screen.page), wanted);
  });

  it('[PAGE-101] deletes the meeting room when it is cancelled: with Escape, Back, the button or a reload', async (t) => {
    const site = await sharedTestSite(t);
    const { page } = await openScreen(site, '/');
    const cancel = {
      Escape: () => page.keyboard.press('Escape'),
      Back: () => page.goBack(),
      button: () => page.getByRole('button', { name: 'Cancel' }).click(),
    };
    for (const act of Object.values(cancel)) {
      const created = page.waitForResponse('**/api/rooms');
      await page.getByRole('button', { name: 'Show a QR code to be invited' }).click();
      const roomId = createdRoom(await created);
      await page.getByRole('img', { name: 'QR code to invite this screen' }).waitFor();
      await hasFocus(page.locator('h1'));
      await act();
      await page.getByRole('button', { name: 'Start a room' }).waitFor();
      await assertDeleted(site, roomId);
    }
    const [first] = await Promise.all([page.waitForResponse('**/api/rooms'), page.goto('/invite')]);
    const roomId = createdRoom(first);
    await page.getByRole('img', { name: 'QR code to invite this screen' }).waitFor();
    await page.reload();
    await assertDeleted(site, roomId);
  });

  it('[PAGE-103] says why an invitation cannot be answered: damaged, offline, or too many requests', async (t) => {
    const site = await startTestSite(t, { POPROOM_FREE_LIMIT: '30' });
    const { api } = site.server;
    const from = '203.0.113.7';
    const screen = await openScreen(site);
    const link = await linkOn(screen);
    const phone = await site.openDevice({ at: '/invite#7KQ2MX.abc', extraHTTPHeaders: { 'X-Forwarded-For': from } });
    const { page, context } = phone;
    await showsHeading(page, 'This QR code is incomplete');
    const code = await api.room({}, { from });
    await page.goto(`/r/${code}`);
    await textOf(phone).waitFor();

    // In a tab that is open already, only the fragment of the address changes.
    await page.goto('/invite#7KQ2MX.abc');
    await showsHeading(page, 'This QR code is incomplete');
    await page.evaluate((hash) => location.assign(hash), new URL(link).hash);
    await showsHeading(page, 'Invite another screen');
    await page.getByRole('link', { name: 'Skip to content' }).press('Enter');
    await showsHeading(page, 'Invite another screen');

    await context.setOffline(true);
    await tapRoom(page, code);
    await page.getByRole('alert').filter({ hasText: 'Can’t reach the server.' }).waitFor();
    await context.setOffline(false);
    await eventually(
      'no requests are left',
      async () => (await api.get(`/api/rooms/${code}`, { from })).status === 429,
    );
    await tapRoom(page, code);
    await page.getByRole('alert').filter({ hasText: 'Too many requests.' }).waitFor();
    site.server.clock.advance(3_600_000);
    await tapRoom(page, code);
    await showsHeading(page, 'This invitation is no longer valid');
  });
});
