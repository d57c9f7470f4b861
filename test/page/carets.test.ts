/** Carets of others in the text, and what shows that something arrives from them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type BrowserDevice, showsText, textOf } from '../support/page.ts';
import { twoDevices } from '../support/two-devices.ts';
import { startEncryptedRoom } from './support/encrypted.ts';
import { dropFiles } from './support/files.ts';
import { holdTimers } from './support/page-time.ts';
import { inputMethod, putCaret } from './support/typing.ts';

interface Shown {
  name: string;
  /** From the left edge of the field and its first line, in pixels. */
  x: number;
  y: number;
  selected: number;
  isBehind: boolean;
  color: string;
}

/** The caret that a page shows, or undefined. */
const caretIn = ({ page }: BrowserDevice): Promise<Shown | undefined> =>
  page.evaluate(() => {
    const [caret, field] = [document.querySelector('.caret'), document.querySelector('textarea')];
    const bar = caret?.querySelector('i');
    if (!caret || !bar || !field) return undefined;
    const [at, outer] = [bar.getBoundingClientRect(), field.getBoundingClientRect()];
    const { paddingLeft, paddingTop, zIndex } = getComputedStyle(field);
    return {
      name: caret.querySelector('span')?.textContent ?? '',
      x: at.left - outer.left - Number.parseFloat(paddingLeft),
      y: at.top - outer.top - Number.parseFloat(paddingTop),
      selected: [...caret.querySelectorAll('b')].reduce((sum, part) => sum + part.getBoundingClientRect().width, 0),
      isBehind: Number(zIndex) > Number(getComputedStyle(caret.parentElement as Element).zIndex),
      color: getComputedStyle(bar).backgroundColor,
    };
  });

const shows = (device: BrowserDevice, what: string, matches: (caret: Shown) => boolean) =>
  eventually(what, async () => {
    const caret = await caretIn(device);
    return caret && matches(caret) ? caret : undefined;
  });

const ownDevice = ({ page }: BrowserDevice) => page.locator('.devices [data-own]');

type Pair = Pick<Awaited<ReturnType<typeof twoDevices>>, 'laptop' | 'phone'>;

/** How long a caret is shown after its last move. */
const visibleMs = 3_000;

describe('the page, carets of others', () => {
  // Opening two devices takes most of the time, so these tests share them.
  it('[CARET-6] [CARET-7] [CARET-8] [PEOPLE-3] are shown behind the text, disturb nothing, and can be turned off', async (t) => {
    const pair = await twoDevices(t, 'one two three');
    const fade = await holdTimers(pair.laptop.page, visibleMs);
    assert.equal(await pair.laptop.page.locator('.carets').count(), 0, 'nothing is drawn while nobody types');
    await t.test('when something lands, the dot of the logo travels, the device vibrates, the badge counts', () =>
      noticesArrivals(pair),
    );
    await t.test('they show where someone types and selects, follow edits, and fade', () => followsCaret(pair, fade));
    await t.test('they do not disturb Japanese input', () =>
      composesAmongOthers(pair, ['に', 'にほ', 'にほん', '日本'], '日本'),
    );
    await t.test('they can be turned off', () => turnsCaretsOff(pair));
  });

  it('[slow] [CARET-4] [CARET-6] are shown in an encrypted room', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'one two', { start: startEncryptedRoom });
    await holdTimers(laptop.page, visibleMs);
    await putCaret(phone, 3);
    await shows(laptop, 'the caret is in the line', ({ x }) => x > 10);
  });

  it('[slow] [CARET-8] do not disturb Korean input while others type', async (t) => {
    const pair = await twoDevices(t, 'one');
    await holdTimers(pair.laptop.page, visibleMs);
    await composesAmongOthers(pair, ['ㅎ', '하', '한'], '한');
  });
});

async function noticesArrivals({ laptop, phone }: Pair): Promise<void> {
  await laptop.page.emulateMedia({ reducedMotion: 'no-preference' });
  await laptop.page.evaluate(() => {
    const seen = { dots: 0, vibrations: 0, badge: -1 };
    Object.assign(window, { seen });
    Object.assign(navigator, {
      vibrate: () => ++seen.vibrations > 0,
      setAppBadge: async (count: number) => Object.assign(seen, { badge: count }),
    });
    const isCoarse = window.matchMedia;
    window.matchMedia = (query) =>
      query.includes('pointer: coarse') ? ({ matches: true } as MediaQueryList) : isCoarse.call(window, query);
    new MutationObserver((records) => {
      for (const node of records.flatMap(({ addedNodes }) => [...addedNodes]))
        if (node instanceof Element && node.matches('.travelling')) seen.dots++;
    }).observe(document.body, { childList: true });
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
  });
  const seen = () => laptop.page.evaluate(() => (window as unknown as { seen: Record<string, number> }).seen);
  await textOf(phone).press('End');
  // As one edit: after a pause of two seconds between two letters, the second one would count as another arrival.
  await phone.page.keyboard.insertText(' four');
  await eventually('the text is noticed', async () => {
    const { dots, vibrations, badge } = await seen();
    return dots === 1 && vibrations === 1 && badge === 1;
  });
  await eventually('the dot is gone', async () => (await laptop.page.locator('.travelling').count()) === 0);
  await laptop.page.emulateMedia({ reducedMotion: 'reduce' });
  await dropFiles(phone.page, 'body', [{ name: 'note.txt', content: 'note' }]);
  await eventually('the file is noticed, without motion', async () => {
    const { dots, vibrations, badge } = await seen();
    return dots === 1 && vibrations === 2 && badge === 2;
  });
}

async function followsCaret({ laptop, phone }: Pair, fade: () => Promise<void>): Promise<void> {
  await fade();
  await putCaret(phone, 'one two'.length);
  const moved = await shows(laptop, 'the caret is in the line', ({ x, y }) => x > 20 && y < 20);
  const name = await ownDevice(phone).locator('.device-name').textContent();
  const color = await ownDevice(phone)
    .locator('.dot')
    .evaluate((dot) => getComputedStyle(dot).backgroundColor);
  assert.deepEqual([moved.name, moved.color, moved.isBehind, moved.selected], [name, color, true, 0]);

  await phone.page.keyboard.type(' and');
  await showsText(laptop, 'one two and three four');
  await shows(laptop, 'it is after the typed word', ({ x }) => x > moved.x + 10);
  await putCaret(phone, 4, 7);
  const selected = await shows(laptop, 'the selection is marked', (caret) => caret.selected > 10);
  await putCaret(laptop, 0);
  await laptop.page.keyboard.type('first\n');
  await showsText(phone, 'first\none two and three four');
  await shows(laptop, 'it moves with the line', ({ y, selected }) => y > 20 && selected > 10);
  assert.ok(selected.y < 20);
  // The line that was inserted moves the selection of the phone, which therefore sends it once more.
  await eventually('it fades', async () => {
    await fade();
    return (await laptop.page.locator('.carets').count()) === 0;
  });
}

/** The carets of the laptop must not fade. */
async function composesAmongOthers({ laptop, phone }: Pair, steps: readonly string[], word: string): Promise<void> {
  const before = await textOf(laptop).inputValue();
  await putCaret(laptop, before.length);
  const method = await inputMethod(laptop);
  for (const step of steps) {
    await method.compose(step);
    await putCaret(phone, 0);
    await phone.page.keyboard.type('x');
  }
  await eventually('the caret of the other is shown', async () => (await caretIn(laptop)) !== undefined);
  await method.commit(word);
  for (const device of [laptop, phone]) await showsText(device, `${'x'.repeat(steps.length)}${before}${word}`);
}

async function turnsCaretsOff({ laptop, phone }: Pair): Promise<void> {
  await laptop.page.getByRole('button', { name: 'Settings', exact: true }).click();
  await laptop.page.getByRole('switch', { name: 'Show each other’s cursors' }).uncheck();
  await laptop.page.keyboard.press('Escape');
  await textOf(phone).press('End');
  await phone.page.keyboard.type('!');
  await textOf(laptop).and(laptop.page.locator(':not([data-carets])')).waitFor();
  await eventually('the edit arrives', async () => (await textOf(laptop).inputValue()).includes('!'));
  assert.equal(await caretIn(laptop), undefined);
}
