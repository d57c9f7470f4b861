/** A walk through the page with the keyboard alone. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.ts';
import { type BrowserDevice, codeOf, sharedTestSite } from '../support/page.ts';

describe('the page, by keyboard', () => {
  it('[PAGE-21] a room is started, written in and deleted with the keyboard alone', async (t) => {
    const site = await sharedTestSite(t);
    const device = await site.openDevice();
    const { page } = device;
    await tabTo(page, 'Start a room');
    await page.keyboard.press('Enter');
    const text = page.getByRole('textbox', { name: 'Text' });
    await text.waitFor();
    await page.keyboard.type('by keyboard');
    await page.getByText('Saved').waitFor();
    const { json } = await site.server.api.get(`/api/rooms/${codeOf(page)}/content`);
    assert.equal(json.content, 'by keyboard');

    const askToDelete = async () => {
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Room settings' }).waitFor();
      await tabTo(page, 'Delete room');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: /^Delete room/ }).waitFor();
    };
    await tabTo(page, 'Room settings');
    await askToDelete();
    await tabTo(page, 'Cancel');
    await page.keyboard.press('Enter');
    await focusIsOn(page, 'Room settings');
    await askToDelete();
    await tabTo(page, 'Delete');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'This room was deleted' }).waitFor();
    await tabTo(page, 'Back to home');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Start a room' }).waitFor();
  });

  it('[slow] [PAGE-21] a dialog is open before the next key event', async (t) => {
    const { page } = await atHome(t);
    const settings = page.getByRole('button', { name: 'Settings', exact: true });
    await settings.click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const isOpen = await settings.evaluate(async (button: HTMLElement) => {
      button.click();
      // The tasks that a message sets off come before those of the next frame, as keys do.
      await new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = resolve;
        port2.postMessage('');
      });
      return document.querySelector('dialog')?.open;
    });
    assert.equal(isOpen, true);
  });

  it('[slow] [PAGE-21] the settings trap the focus until Escape, and then restore it', async (t) => {
    const device = await atHome(t);
    const { page } = device;
    await tabTo(page, 'Settings');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Settings', exact: true });
    await dialog.waitFor();
    for (let presses = 0; presses < 12; presses++) {
      await page.keyboard.press('Tab');
      const where = await page.evaluate(() => document.activeElement?.closest('dialog, body')?.localName);
      // Between its last element and its first, the browser's own frame has its turn.
      assert.ok(where === 'dialog' || (await page.evaluate(() => document.activeElement === document.body)));
    }
    await page.getByRole('radio', { name: 'System' }).focus();
    await page.keyboard.press('ArrowRight');
    assert.ok(await page.getByRole('radio', { name: 'Light' }).isChecked());
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await focusIsOn(page, 'Settings');
  });

  it('[slow] [PAGE-21] the options of a new room, and its PIN, are chosen with the keyboard', async (t) => {
    const { page } = await atHome(t);
    await page.locator('summary').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowLeft');
    assert.ok(await page.getByRole('radio', { name: '1 hour' }).isChecked());
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.type('1204');
    await page.keyboard.press('Enter');
    await page.getByText('Others need the PIN to join.').waitFor();
  });

  it('[slow] [PAGE-21] every focused element has a visible focus ring', async (t) => {
    const { page } = await atHome(t);
    await page.getByRole('button', { name: 'Start a room' }).click();
    await page.getByRole('textbox', { name: 'Text' }).fill('text');
    const unseen = new Set<string>();
    for (let presses = 0; presses < 25; presses++) {
      await page.keyboard.press('Tab');
      const bare = await page.evaluate(() => {
        const focused = document.activeElement;
        if (!focused || focused === document.body) return undefined;
        const rings = [focused, focused.nextElementSibling, focused.parentElement].map((element) => {
          const { outlineStyle, outlineWidth } = getComputedStyle(element ?? focused);
          return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
        });
        return rings.includes(true) ? undefined : focused.outerHTML.slice(0, 120);
      });
      if (bare) unseen.add(bare);
    }
    assert.deepEqual([...unseen], []);
  });

  it('[slow] [PAGE-21] the skip link moves the focus to the content', async (t) => {
    const { page } = await atHome(t);
    await page.keyboard.press('Tab');
    await focusIsOn(page, 'Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.locator('main :focus').waitFor();
    await tabTo(page, 'Start a room');
    assert.equal(new URL(page.url()).pathname, '/');
  });
});

async function atHome(t: TestContext): Promise<BrowserDevice> {
  return (await sharedTestSite(t)).openDevice();
}

/** As often as it takes; not for ever. */
async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = [];
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab');
    const at = await focusedName(page);
    if (at === name) return;
    passed.push(at);
  }
  assert.fail(`The Tab key does not lead to "${name}", only to ${passed}`);
}

async function focusIsOn(page: Page, name: string): Promise<void> {
  await eventually(`the focus is on ${name}`, async () => (await focusedName(page)) === name);
}

/** The accessible name of the focused element. */
async function focusedName(page: Page): Promise<string> {
  return page.evaluate(() => {
    const focused = document.activeElement as HTMLElement;
    const [label] = (focused as HTMLInputElement).labels ?? [];
    if (focused === document.body) return '';
    return focused.ariaLabel ?? label?.textContent ?? focused.textContent.trim();
  });
}
