/** Which of the others are typing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BrowserDevice, showsText, textOf } from '../support/page.ts';
import { twoDevices } from '../support/two-devices.ts';
import { write } from './support/typing.ts';

const devicesOf = ({ page }: BrowserDevice) => page.getByRole('region', { name: /^Devices in this room/ });
const bubblesOf = (device: BrowserDevice) => devicesOf(device).locator('.typing');

describe('the page, typing indicators', () => {
  it('[PAGE-27] are shown while a device types, and not afterwards', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'one');
    // The phone wrote nothing yet, and the laptop sees no mark on itself.
    assert.equal(await bubblesOf(laptop).count(), 0);
    await textOf(phone).press('End');
    await textOf(phone).pressSequentially(' two');
    const marked = devicesOf(laptop)
      .getByRole('listitem')
      .filter({ has: laptop.page.locator('.typing') });
    await marked.waitFor();
    assert.equal(await marked.count(), 1);
    assert.doesNotMatch((await marked.textContent()) ?? '', /this one/);
    await showsText(laptop, 'one two');
    assert.equal(await bubblesOf(phone).count(), 0, 'one does not see that oneself types');
    await bubblesOf(laptop).waitFor({ state: 'detached' });
  });

  it('[CARET-9] [PAGE-27] end with the connection, and so do carets', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'one');
    // Otherwise both could end because time has passed.
    await laptop.page.evaluate(() => {
      const later = window.setTimeout.bind(window);
      Object.assign(window, { setTimeout: (act: () => void, ms = 0) => later(act, ms >= 2_000 ? 600_000 : ms) });
    });
    await textOf(phone).pressSequentially('x');
    await bubblesOf(laptop).waitFor();
    await laptop.page.locator('.caret').waitFor({ state: 'attached' });
    await laptop.context.setOffline(true);
    await laptop.page.locator('.carets').waitFor({ state: 'detached' });
    await bubblesOf(laptop).waitFor({ state: 'detached' });
    await devicesOf(laptop).getByText('is typing.').waitFor({ state: 'detached' });
    await laptop.context.setOffline(false);
  });

  it('[slow] [PAGE-27] do not move the content below', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'one');
    const top = () => textOf(laptop).evaluate((field) => field.getBoundingClientRect().top);
    await bubblesOf(laptop).waitFor({ state: 'detached' });
    const before = await top();
    await textOf(phone).pressSequentially('x');
    await bubblesOf(laptop).waitFor();
    assert.equal(await top(), before);
  });

  it('[slow] [PAGE-27] are announced once to screen readers', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'one');
    const announced = devicesOf(laptop).getByRole('status');
    await laptop.page.evaluate(() => {
      const region = document.querySelector('.devices [role=status]') as HTMLElement;
      const said: string[] = [];
      Object.assign(window, { said });
      new MutationObserver(() => said.push(region.textContent ?? '')).observe(region, {
        childList: true,
        characterData: true,
        subtree: true,
      });
    });
    await textOf(phone).pressSequentially('several keys');
    await announced.getByText('is typing.').waitFor({ state: 'attached' });
    await bubblesOf(laptop).waitFor({ state: 'detached' });
    await textOf(phone).pressSequentially('x');
    await bubblesOf(laptop).waitFor();
    const said = await laptop.page.evaluate(() => (window as unknown as { said: string[] }).said);
    assert.equal(said.length, 1, String(said));
  });

  it('[slow] [PAGE-27] are not shown for writes of a program', async (t) => {
    const { laptop, site, code } = await twoDevices(t, 'one');
    await bubblesOf(laptop).waitFor({ state: 'detached' });
    await write(site, code, 'one two');
    await showsText(laptop, 'one two');
    assert.equal(await bubblesOf(laptop).count(), 0);
  });
});
