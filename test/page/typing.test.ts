/** Someone who types while others edit the same text. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { hasFocus, joinRoom, sharedTestSite, showsStatus, showsText, textOf } from '../support/page.ts';
import { twoDevices } from '../support/two-devices.ts';
import { inputMethod, putCaret, seenIn, write } from './support/typing.ts';

describe('the page, remote edits', () => {
  it('[PAGE-8] [PAGE-24] do not move the caret of someone who is typing', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'one two three');
    await putCaret(laptop, 'one two'.length);
    await textOf(phone).fill('at the start, one two three');
    await showsText(laptop, 'at the start, one two three');
    await laptop.page.keyboard.type(' and a half');
    for (const device of [laptop, phone]) await showsText(device, 'at the start, one two and a half three');

    await putCaret(laptop, 'at the start, one two'.length);
    await textOf(phone).fill('at the start, one two and a half three four');
    await showsText(laptop, 'at the start, one two and a half three four');
    await laptop.page.keyboard.type('!');
    await showsText(phone, 'at the start, one two! and a half three four');
  });

  it('[slow] [PAGE-8] [PAGE-24] before and after the caret at the same time do not move it either', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'one\ntwo\nthree');
    await putCaret(laptop, 'one\ntwo'.length);
    await textOf(phone).fill('one, before\ntwo\nthree, after');
    await showsText(laptop, 'one, before\ntwo\nthree, after');
    await laptop.page.keyboard.type(' and a half');
    for (const device of [laptop, phone]) await showsText(device, 'one, before\ntwo and a half\nthree, after');
  });

  it('[slow] [PAGE-24] exactly at the caret go after it', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'mine');
    await putCaret(laptop, 4);
    await putCaret(phone, 4);
    await phone.page.keyboard.type(' theirs');
    await showsText(laptop, 'mine theirs');
    assert.equal((await seenIn(laptop)).start, 4);
    await laptop.page.keyboard.type('!');
    for (const device of [laptop, phone]) await showsText(device, 'mine! theirs');
  });

  it('[slow] [PAGE-24] keep a selection on the same words, with its direction', async (t) => {
    const { laptop, site, code } = await twoDevices(t, 'one two three');
    await putCaret(laptop, 4, 7, 'backward');
    await write(site, code, 'zero one (two) three');
    await showsText(laptop, 'zero one (two) three');
    const { start, end, direction } = await seenIn(laptop);
    assert.deepEqual([start, end, direction], [10, 13, 'backward']);
  });

  it('[slow] [PAGE-24] above or below the visible part do not scroll it', async (t) => {
    const lines = Array.from({ length: 200 }, (_, i) => `line ${i} ${'word '.repeat(i % 40)}`);
    const { laptop, site, code } = await twoDevices(t, lines.join('\n'));
    const topLine = () =>
      textOf(laptop).evaluate((field: HTMLTextAreaElement) => {
        const { left, top } = field.getBoundingClientRect();
        const at = document.caretPositionFromPoint(left + 20, top + 20)?.offset ?? 0;
        return field.value.slice(field.value.lastIndexOf('\n', at - 1) + 1).split('\n')[0];
      });
    await textOf(laptop).evaluate((field: HTMLTextAreaElement) => field.scrollTo(0, 2_000));
    const seen = await topLine();
    assert.match(seen ?? '', /^line [1-9]/);
    await write(site, code, ['new', `wrapped ${'word '.repeat(100)}`, 'lines', ...lines].join('\n'));
    await eventually('they are there', async () => (await textOf(laptop).inputValue()).startsWith('new\n'));
    assert.equal(await topLine(), seen);
    await write(site, code, [...lines, 'at the end'].join('\n'));
    await eventually('the edits have arrived', async () => (await textOf(laptop).inputValue()).endsWith('at the end'));
    assert.equal(await topLine(), seen);
  });

  it('[slow] [PAGE-8] [PAGE-24] and the composition of an input method do not interfere', async (t) => {
    const { laptop, phone, site, code } = await twoDevices(t, 'hello ');
    await putCaret(laptop, 'hello '.length);
    const { compose, commit } = await inputMethod(laptop);
    await compose('に');
    await showsText(laptop, 'hello に');
    await textOf(phone).fill('and theirs\nhello ');
    await showsStatus(phone, 'Saved');
    // The server sends in order, so the edit is there when the file is.
    await site.server.api.upload(code, 'later.txt', 'x');
    await laptop.page.getByRole('link', { name: 'later.txt', exact: true }).waitFor();
    await compose('にほん');
    // Edits of others wait for the end of the composition.
    await showsText(laptop, 'hello にほん');
    await commit('日本');
    for (const device of [laptop, phone]) await showsText(device, 'and theirs\nhello 日本');
    await laptop.page.keyboard.type('!');
    for (const device of [laptop, phone]) await showsText(device, 'and theirs\nhello 日本!');
  });

  it('[slow] [PAGE-21] do not steal the focus in a browser that focuses a field on selection', async (t) => {
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
    await hasFocus(button);
  });
});

describe('the page, local edits', () => {
  it('[slow] [PAGE-7] may be pasted, dragged, corrected and deleted by words', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'one two three four');
    const { keyboard } = laptop.page;
    await putCaret(laptop, 'one two'.length);
    await keyboard.press('ControlOrMeta+Backspace');
    await showsText(phone, 'one  three four');
    await putCaret(laptop, 0, 'one'.length);
    await keyboard.press('ControlOrMeta+x');
    await showsText(phone, '  three four');
    await putCaret(laptop, '  three four'.length);
    await keyboard.press('ControlOrMeta+v');
    await showsText(phone, '  three fourone');
    await putCaret(laptop, 2, 'three'.length + 2);
    await keyboard.insertText('THREE');
    for (const device of [laptop, phone]) await showsText(device, '  THREE fourone');
    await textOf(laptop).evaluate((field: HTMLTextAreaElement) => {
      // As a browser does with a word that is dragged.
      for (const [words, from, to, inputType] of [
        ['', 0, 2, 'deleteByDrag'],
        ['  ', 13, 13, 'insertFromDrop'],
      ] as const) {
        field.setRangeText(words, from, to, 'select');
        field.dispatchEvent(new InputEvent('input', { inputType, bubbles: true }));
      }
    });
    for (const device of [laptop, phone]) await showsText(device, 'THREE fourone  ');
  });

  it('[slow] [PAGE-7] may have characters of several code units, typed and deleted whole', async (t) => {
    const { laptop, phone } = await twoDevices(t, '😀😁');
    const { keyboard } = laptop.page;
    await putCaret(laptop, 2);
    await keyboard.insertText('😂');
    for (const device of [laptop, phone]) await showsText(device, '😀😂😁');
    await keyboard.press('Backspace');
    for (const device of [laptop, phone]) await showsText(device, '😀😁');
    await keyboard.press('Delete');
    for (const device of [laptop, phone]) await showsText(device, '😀');
    // The first half of both is the same.
    await putCaret(laptop, 0, 2);
    await keyboard.insertText('😃');
    for (const device of [laptop, phone]) await showsText(device, '😃');
    await keyboard.press('ControlOrMeta+z');
    for (const device of [laptop, phone]) await showsText(device, '😀');
  });

  it('[slow] [PAGE-7] [PAGE-24] keep their position in a text with other line endings, despite remote edits', async (t) => {
    const site = await sharedTestSite(t);
    const code = await site.server.api.room();
    await write(site, code, 'one\r\ntwo\r\nthree\r\n');
    const laptop = await joinRoom(site, code);
    await putCaret(laptop, 'one\ntwo'.length);
    await write(site, code, 'zero\r\none\r\ntwo\r\nthree\r\nfour\r\n');
    await showsText(laptop, 'zero\none\ntwo\nthree\nfour\n');
    await laptop.page.keyboard.type('!\nmore');
    await showsText(laptop, 'zero\none\ntwo!\nmore\nthree\nfour\n');
    const stored = async () => (await site.server.api.get(`/api/rooms/${code}/content`)).json.content;
    await eventually('it is stored with its line ends', async () => {
      return (await stored()) === 'zero\r\none\r\ntwo!\r\nmore\r\nthree\r\nfour\r\n';
    });
    await laptop.page.keyboard.press('ControlOrMeta+z');
    await write(site, code, 'zero\none\r\ntwo');
    await showsText(laptop, 'zero\none\ntwo');
  });
});
