/** People at the keyboard of a page. */
import assert from 'node:assert/strict';
import { setTimeout as rhythm } from 'node:timers/promises';
import type { CDPSession } from 'playwright-core';
import { eventually } from '../../support/eventually.ts';
import { type BrowserDevice, type TestSite, textOf } from '../../support/page.ts';
import type { Random } from '../../support/seeded-random.ts';
import { roomOf } from './encrypted.ts';

/** Puts the caret somewhere, or selects up to `end`. */
export async function putCaret(
  device: BrowserDevice,
  start: number,
  end = start,
  direction: 'forward' | 'backward' = 'forward',
): Promise<void> {
  await textOf(device).evaluate(
    (field: HTMLTextAreaElement, [start, end, direction]) => {
      field.focus();
      // A caret that nobody has placed stays at the end of the text.
      field.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
      field.setSelectionRange(start, end, direction);
    },
    [start, end, direction] as const,
  );
}

export interface Seen {
  start: number;
  end: number;
  direction: string;
  scrollTop: number;
}

export const seenIn = (device: BrowserDevice): Promise<Seen> =>
  textOf(device).evaluate((field: HTMLTextAreaElement) => ({
    start: field.selectionStart,
    end: field.selectionEnd,
    direction: field.selectionDirection,
    scrollTop: field.scrollTop,
  }));

/** Letter by letter without a pause, which would end a group of undo on a busy machine. */
export async function typeQuickly(device: BrowserDevice, words: string): Promise<void> {
  await textOf(device).evaluate((field: HTMLTextAreaElement, words) => {
    field.focus();
    for (const letter of words) document.execCommand('insertText', false, letter);
  }, words);
}

/** Letter by letter, 70 to 110 ms each. */
export async function typeAsPerson({ page }: BrowserDevice, words: string, random: Random): Promise<void> {
  for (const letter of words) {
    await page.keyboard.type(letter);
    await rhythm(70 + random.number(40));
  }
}

/** An input method, such as that of a Japanese keyboard. */
export async function inputMethod({ page, context }: BrowserDevice) {
  const session: CDPSession = await context.newCDPSession(page);
  return {
    compose: (text: string) =>
      session.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length }),
    commit: (text: string) => session.send('Input.insertText', { text }),
  };
}

/** The browser's own command, as its context menu sends it. */
export async function nativeCommand({ page, context }: BrowserDevice, command: 'undo' | 'redo'): Promise<void> {
  const session = await context.newCDPSession(page);
  await session.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', key: 'Unidentified', commands: [command] });
  await session.send('Input.dispatchKeyEvent', { type: 'keyUp', key: 'Unidentified' });
  await session.detach();
}

/** Waits until every page shows the text that the server has, and returns it. `code` may be that of an encrypted room. */
export async function agreedText(site: TestSite, code: string, devices: readonly BrowserDevice[]): Promise<string> {
  let seen: string[] = [];
  const isAgreed = async () => {
    const stored = roomOf(site, code)
      .read()
      .then(({ content }) => content);
    seen = await Promise.all([stored, ...devices.map((device) => textOf(device).inputValue())]);
    const saved = await Promise.all(devices.map(({ page }) => page.locator('.status[data-status="saved"]').count()));
    return new Set(seen).size === 1 && saved.every((count) => count === 1);
  };
  await eventually('all agree', isAgreed).catch(() => assert.fail(`no agreement: ${JSON.stringify(seen)}`));
  return seen[0] ?? '';
}

export function assertWhole(text: string, words: readonly string[]): void {
  for (const word of words) assert.ok(text.includes(word), `“${word}” is not whole in ${JSON.stringify(text)}`);
}

/** The whole of it, as a server's own text. */
export async function write(site: TestSite, code: string, content: string): Promise<void> {
  await roomOf(site, code).write(content);
}

/** By keys, until there is nothing left to undo. */
export async function undoAll({ page }: BrowserDevice): Promise<void> {
  const button = page.locator('.below-text').getByRole('button', { name: 'Undo' });
  while ((await button.getAttribute('aria-disabled')) === 'false') await page.keyboard.press('ControlOrMeta+z');
}
