/** Undo and redo of local edits, despite remote edits. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import {
  type BrowserDevice,
  chooseEntry,
  hasFocus,
  joinRoom,
  sharedTestSite,
  showsText,
  startRoom,
  textOf,
} from '../support/page.ts';
import { twoDevices } from '../support/two-devices.ts';
import { startEncryptedRoom } from './support/encrypted.ts';
import { nativeCommand, putCaret, seenIn, typeQuickly, undoAll, write } from './support/typing.ts';

const undoKey = 'ControlOrMeta+z';
const redoKey = 'ControlOrMeta+Shift+z';
const tool = ({ page }: BrowserDevice, name: string) => page.locator('.text-panel').getByRole('button', { name });

describe('the page, undo', () => {
  it('[PAGE-25] reverts typing in groups, and redo restores it', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'a list: ');
    const { keyboard } = laptop.page;
    await putCaret(laptop, 8);
    await typeQuickly(laptop, 'milk');
    await putCaret(laptop, 0);
    await laptop.page.waitForFunction(() => document.querySelector('textarea')?.selectionStart === 0);
    await typeQuickly(laptop, 'this is ');
    await showsText(phone, 'this is a list: milk');
    await keyboard.press(undoKey);
    for (const device of [laptop, phone]) await showsText(device, 'a list: milk');
    await keyboard.press(undoKey);
    for (const device of [laptop, phone]) await showsText(device, 'a list: ');
    assert.equal((await seenIn(laptop)).start, 8, 'the caret is where something changed');
    await keyboard.press(redoKey);
    for (const device of [laptop, phone]) await showsText(device, 'a list: milk');
    assert.equal((await seenIn(laptop)).start, 12);
    await keyboard.press('Control+y');
    for (const device of [laptop, phone]) await showsText(device, 'this is a list: milk');
  });

  it('[slow] [PAGE-25] [SYNC-4] reverts a few words of a long sentence at a time', async (t) => {
    const { laptop, phone } = await twoDevices(t, '');
    await typeQuickly(laptop, 'It was a bright cold day in April,\nand the clocks were striking thirteen.');
    for (const left of [
      'It was a bright cold day in April,\nand the clocks were ',
      'It was a bright cold day in April,\n',
      'It was a bright cold ',
      '',
    ]) {
      await laptop.page.keyboard.press(undoKey);
      for (const device of [laptop, phone]) await showsText(device, left);
    }
    await laptop.page.keyboard.press(redoKey);
    for (const device of [laptop, phone]) await showsText(device, 'It was a bright cold ');
  });

  it('[slow] [PAGE-25] [SYNC-4] keeps remote edits before, after and in between', (t) =>
    assertRemoteEditsStay(t, startRoom));

  it('[slow] [PAGE-25] [SYNC-4] [SEALED-63] keeps remote edits in an encrypted room', (t) =>
    assertRemoteEditsStay(t, startEncryptedRoom));

  it('[slow] [PAGE-25] works after Clear and Paste, with keys and buttons', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'one two');
    await laptop.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await laptop.page.evaluate(() => navigator.clipboard.writeText('pasted '));
    await putCaret(laptop, 4);
    await tool(laptop, 'Paste').click();
    for (const device of [laptop, phone]) await showsText(device, 'one pasted two');
    await chooseEntry(laptop.page, 'Clear');
    for (const device of [laptop, phone]) await showsText(device, '');
    await typeQuickly(laptop, 'new');
    await showsText(phone, 'new');
    await laptop.page.keyboard.press(undoKey);
    await laptop.page.keyboard.press(undoKey);
    for (const device of [laptop, phone]) await showsText(device, 'one pasted two');
    await tool(laptop, 'Undo').click();
    for (const device of [laptop, phone]) await showsText(device, 'one two');
    await hasFocus(textOf(laptop));
    await tool(laptop, 'Redo').click();
    for (const device of [laptop, phone]) await showsText(device, 'one pasted two');
    await tool(laptop, 'Redo').click();
    await tool(laptop, 'Redo').click();
    for (const device of [laptop, phone]) await showsText(device, 'new');
    await tool(laptop, 'Redo').and(laptop.page.locator('[aria-disabled=true]')).waitFor();
  });

  it("[slow] [PAGE-25] works with the browser's own command, too, also after others changed the field", async (t) => {
    const { laptop, phone } = await twoDevices(t, '');
    await textOf(laptop).focus();
    await typeQuickly(laptop, 'mine');
    await showsText(phone, 'mine');
    await putCaret(phone, 4);
    await typeQuickly(phone, ' and theirs');
    await showsText(laptop, 'mine and theirs');
    await nativeCommand(laptop, 'undo');
    for (const device of [laptop, phone]) await showsText(device, ' and theirs');
  });

  it("[slow] [PAGE-25] works with the browser's own command after Clear, without earlier typing", async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    await write(site, code, 'from elsewhere');
    const laptop = await joinRoom(site, code);
    await chooseEntry(laptop.page, 'Clear');
    await showsText(laptop, '');
    await nativeCommand(laptop, 'undo');
    await showsText(laptop, 'from elsewhere');
  });

  it('[slow] [PAGE-25] works with a gesture, and so does redo', async (t) => {
    const site = await sharedTestSite(t);
    const laptop = await site.openDevice();
    await startRoom(laptop);
    await textOf(laptop).focus();
    await typeQuickly(laptop, 'typed');
    const gesture = (inputType: string) =>
      textOf(laptop).evaluate((field, inputType) => {
        field.dispatchEvent(new InputEvent('beforeinput', { inputType, bubbles: true, cancelable: true }));
      }, inputType);
    await gesture('historyUndo');
    await showsText(laptop, '');
    await gesture('historyRedo');
    await showsText(laptop, 'typed');
  });

  it('[slow] [PAGE-25] scrolls to the change', async (t) => {
    const { laptop } = await twoDevices(t, Array.from({ length: 300 }, (_, i) => `line ${i}`).join('\n'));
    await putCaret(laptop, 0);
    await typeQuickly(laptop, 'top ');
    await textOf(laptop).evaluate((field: HTMLTextAreaElement) => field.scrollTo(0, field.scrollHeight));
    await laptop.page.keyboard.press(undoKey);
    await laptop.page.waitForFunction(() => document.querySelector('textarea')?.scrollTop === 0);
    await laptop.page.keyboard.press('ControlOrMeta+End');
    await typeQuickly(laptop, ' end');
    await textOf(laptop).evaluate((field: HTMLTextAreaElement) => field.scrollTo(0, 0));
    await laptop.page.keyboard.press(undoKey);
    await laptop.page.waitForFunction(() => (document.querySelector('textarea')?.scrollTop ?? 0) > 1_000);
  });
});

async function assertRemoteEditsStay(t: TestContext, start: typeof startRoom): Promise<void> {
  const { laptop, phone, site, code } = await twoDevices(t, '', { start });
  await textOf(laptop).focus();
  await typeQuickly(laptop, 'laptop');
  await showsText(phone, 'laptop');
  await putCaret(phone, 3);
  await typeQuickly(phone, '-PHONE-');
  await showsText(laptop, 'lap-PHONE-top');
  await write(site, code, 'first\nlap-PHONE-top\nlast');
  await showsText(laptop, 'first\nlap-PHONE-top\nlast');
  await laptop.page.keyboard.press(undoKey);
  for (const device of [laptop, phone]) await showsText(device, 'first\n-PHONE-\nlast');
  await laptop.page.keyboard.press(redoKey);
  for (const device of [laptop, phone]) await showsText(device, 'first\nlap-PHONE-top\nlast');
  await undoAll(phone);
  for (const device of [laptop, phone]) await showsText(device, 'first\nlaptop\nlast');
}
