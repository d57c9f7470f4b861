/** One text on all devices. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { joinRoom, sharedTestSite, showsStatus, showsText, startRoom, startTestSite, textOf } from '../support/page.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { typeWhenVisible } from './support/fast-typing.ts';

describe('the page, the text', () => {
  it('[PAGE-7] is the same on two and on three devices as they type', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code);
    await textOf(laptop).pressSequentially('from the laptop');
    await showsText(phone, 'from the laptop');
    await textOf(phone).press('End');
    await textOf(phone).pressSequentially(', and the phone');
    await showsText(laptop, 'from the laptop, and the phone');

    const tablet = await joinRoom(site, code);
    await showsText(tablet, 'from the laptop, and the phone');
    await textOf(tablet).fill('all anew 你好 😀\nin two lines');
    for (const device of [laptop, phone]) await showsText(device, 'all anew 你好 😀\nin two lines');
    assert.equal(
      (await site.server.api.get(`/api/rooms/${code}/content`)).json.content,
      'all anew 你好 😀\nin two lines',
    );
  });

  it('[slow] [PAGE-7] accepts input as soon as the room is shown', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    await site.server.api.post(`/api/rooms/${code}/content`, { json: { content: 'what was there' } });
    const device = await site.openDevice({ at: '/api/health' });
    await typeWhenVisible(device.page, 'textarea', 'first, ');
    await device.page.goto(`/r/${code}`);
    await showsText(device, 'first, what was there');
    await showsStatus(device, 'Saved');
  });

  it('[slow] [PAGE-7] of three devices that type concurrently has the words of all', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const devices = [laptop, await joinRoom(site, code), await joinRoom(site, code)];
    await textOf(laptop).fill('one:\n\ntwo:\n\nthree:\n');
    for (const device of devices) await showsText(device, 'one:\n\ntwo:\n\nthree:\n');
    await Promise.all(
      devices.map(async (device, i) => {
        const end = ['one:', 'two:', 'three:'][i] as string;
        await textOf(device).evaluate((field: HTMLTextAreaElement, end) => {
          field.focus();
          const at = field.value.indexOf(end) + end.length;
          field.setSelectionRange(at, at);
        }, end);
        await device.page.keyboard.type(' abcdefghijklmnopqrstuvwxyz', { delay: 15 });
      }),
    );
    const alphabet = 'abcdefghijklmnopqrstuvwxyz';
    for (const device of devices)
      await showsText(device, `one: ${alphabet}\n\ntwo: ${alphabet}\n\nthree: ${alphabet}\n`);
  });

  it('[slow] [PAGE-7] [PAGE-8] keeps its line endings, which the field does not show, during typing', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    const path = `/api/rooms/${code}/content`;
    await site.server.api.post(path, { json: { content: 'one\r\ntwo\nthree\r\n' } });
    const laptop = await joinRoom(site, code);
    await textOf(laptop).evaluate((field: HTMLTextAreaElement) => {
      field.focus();
      field.setSelectionRange('one\n'.length, 'one\n'.length);
    });
    await laptop.page.keyboard.type('one\nand a half, ');
    await eventually('the text is stored with them', async () => {
      return (await site.server.api.get(path)).json.content === 'one\r\none\r\nand a half, two\nthree\r\n';
    });
    await showsText(laptop, 'one\none\nand a half, two\nthree\n');
  });

  it('[slow] [PAGE-7] shows whether it is saved, being saved, or offline', async (t) => {
    const site = await sharedTestSite(t);
    const proxy = await startTcpProxy(t, () => site.server.port);
    const laptop = await joinRoom(site, await site.server.api.room(), { baseURL: proxy.url });
    await showsStatus(laptop, 'Saved');
    proxy.pause();
    await textOf(laptop).fill('on its way');
    await showsStatus(laptop, 'Saving…');
    proxy.resume();
    await showsStatus(laptop, 'Saved');
    await laptop.context.setOffline(true);
    await showsStatus(laptop, 'Offline');
    await textOf(laptop).fill('on its way, and waiting');
    await showsStatus(laptop, 'Offline');
    await laptop.context.setOffline(false);
    await showsStatus(laptop, 'Saved');
  });

  it('[slow] [PAGE-7] over the limit shows an error and is kept, and is sent when it is shortened', async (t) => {
    const site = await startTestSite(t, { POPROOM_CONTENT_MAX: '2KiB' });
    const code = await site.server.api.room();
    const laptop = await joinRoom(site, code);
    const phone = await joinRoom(site, code);
    await textOf(laptop).fill('short\n');
    await showsText(phone, 'short\n');

    const long = 'ü'.repeat(1022);
    await textOf(laptop).fill(`short\n${long}`);
    await showsStatus(laptop, 'Text too long. The limit is 2 kB.');
    await textOf(phone).fill('top\nshort\n');
    await showsText(laptop, `top\nshort\n${long}`);
    await showsStatus(laptop, 'Text too long. The limit is 2 kB.');
    await textOf(laptop).fill(`top\n${long}`);
    await showsStatus(laptop, 'Saved');
    await showsText(phone, `top\n${long}`);
  });

  it('[slow] [PAGE-7] rejects a paste that exceeds the limit, with a message', async (t) => {
    const site = await startTestSite(t, { POPROOM_CONTENT_MAX: '2KiB' });
    const laptop = await joinRoom(site, await site.server.api.room());
    await textOf(laptop).fill('short');
    await laptop.page.keyboard.insertText('x'.repeat(3_000));
    await laptop.page.getByText('Couldn’t insert. The text limit is 2 kB.').waitFor();
    await showsText(laptop, 'short');
    await laptop.page.keyboard.type('er');
    await showsText(laptop, 'shorter');
    await showsStatus(laptop, 'Saved');
  });

  it('[slow] [PAGE-7] [PAGE-15] is sent if the device leaves immediately, and does not remain as a draft', async (t) => {
    const site = await sharedTestSite(t);
    const proxy = await startTcpProxy(t, () => site.server.port);
    // From the home page, which could not be loaded later.
    const laptop = await site.openDevice({ baseURL: proxy.url });
    const code = await startRoom(laptop);
    const phone = await joinRoom(site, code);
    proxy.pauseResponses();
    await textOf(laptop).fill('the last words');
    await laptop.page.getByRole('link', { name: 'Poproom home' }).click();
    await laptop.page.getByRole('button', { name: 'Start a room' }).waitFor();
    await showsText(phone, 'the last words');
    proxy.resume();

    await laptop.page.goBack();
    await showsText(laptop, 'the last words');
    await showsStatus(laptop, 'Saved');
    await textOf(phone).fill('others');
    await showsText(laptop, 'others');
    await laptop.page.reload();
    await textOf(laptop).waitFor();
    await showsStatus(laptop, 'Saved');
    for (const device of [laptop, phone]) await showsText(device, 'others');
  });
});
