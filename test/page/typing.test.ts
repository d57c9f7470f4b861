/** Someone who types while others do. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Device, showsStatus, showsText, textOf } from '../support/page.ts';
import { twoDevices } from '../support/two-devices.ts';

describe('the page, changes of others', () => {
  it('[PAGE-8] do not move the cursor of someone who is typing', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'one two three');
    await putCursor(laptop, 'one two'.length);
    await textOf(phone).fill('at the start, one two three');
    await showsText(laptop, 'at the start, one two three');
    await laptop.page.keyboard.type(' and a half');
    for (const device of [laptop, phone]) await showsText(device, 'at the start, one two and a half three');

    await putCursor(laptop, 'at the start, one two'.length);
    await textOf(phone).fill('at the start, one two and a half three four');
    await showsText(laptop, 'at the start, one two and a half three four');
    await laptop.page.keyboard.type('!');
    await showsText(phone, 'at the start, one two! and a half three four');
  });

  it('[PAGE-8] before and after the cursor at once do not move it either', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'one\ntwo\nthree');
    await putCursor(laptop, 'one\ntwo'.length);
    await textOf(phone).fill('one, before\ntwo\nthree, after');
    await showsText(laptop, 'one, before\ntwo\nthree, after');
    await laptop.page.keyboard.type(' and a half');
    for (const device of [laptop, phone]) await showsText(device, 'one, before\ntwo and a half\nthree, after');
  });

  it('[PAGE-8] do not break a word that an input method is making, nor does it break them', async (t) => {
    const { laptop, phone, world, code } = await twoDevices(t, 'hello ');
    await putCursor(laptop, 'hello '.length);
    const ime = await laptop.context.newCDPSession(laptop.page);
    const compose = (text: string) =>
      ime.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
    await compose('に');
    await textOf(phone).fill('and theirs\nhello ');
    await showsStatus(phone, 'Saved');
    // What is told later has come, so the text has.
    await world.server.api.upload(code, 'later.txt', 'x');
    await laptop.page.getByRole('link', { name: 'later.txt', exact: true }).waitFor();
    await compose('にほん');
    assert.match(await textOf(laptop).inputValue(), /hello にほん/);
    await ime.send('Input.insertText', { text: '日本' });
    for (const device of [laptop, phone]) await showsText(device, 'and theirs\nhello 日本');
  });

  it('[PAGE-21] do not take the focus from elsewhere, in a browser that focuses the field where it selects', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'one');
    const button = laptop.page.getByRole('button', { name: 'Copy all' });
    await button.focus();
    await laptop.page.evaluate(() => {
      const select = HTMLTextAreaElement.prototype.setSelectionRange;
      HTMLTextAreaElement.prototype.setSelectionRange = function (...range) {
        this.focus();
        select.apply(this, range);
      };
    });
    await textOf(phone).fill('one two');
    await showsText(laptop, 'one two');
    assert.ok(await button.evaluate((element) => element === document.activeElement));
  });
});

async function putCursor(device: Device, at: number): Promise<void> {
  await textOf(device).evaluate((field: HTMLTextAreaElement, at) => {
    field.focus();
    field.setSelectionRange(at, at);
  }, at);
}
