/** Which of the others are typing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BrowserDevice, showsText, textOf } from '../support/page.ts';
import { twoDevices } from '../support/two-devices.ts';
import { holdTimers } from './support/page-time.ts';
import { write } from './support/typing.ts';

const devicesOf = ({ page }: BrowserDevice) => page.getByRole('region', { name: /^Devices in this room/ });
const bubblesOf = (device: BrowserDevice) => devicesOf(device).locator('.typing');

/** Each device that is marked as typing. False if there is none. Runs in the page. */
function markedDevices(): ('own' | 'other')[] | false {
  const marked = [...document.querySelectorAll('.devices li')].filter((item) => item.querySelector('.typing'));
  return marked.length > 0 && marked.map((item) => (item.hasAttribute('data-own') ? 'own' : 'other'));
}

describe('the page, typing indicators', () => {
  it('[CARET-9] [PAGE-27] are shown while a device types, and end afterwards, or with the connection, as carets do', async (t) => {
    const { laptop, phone } = await twoDevices(t, 'one');
    // The phone wrote nothing yet, and the laptop sees no mark on itself.
    assert.equal(await bubblesOf(laptop).count(), 0);
    const marked = laptop.page.waitForFunction(markedDevices, undefined, { polling: 20 });
    await textOf(phone).press('End');
    await textOf(phone).pressSequentially(' two');
    assert.deepEqual(await (await marked).jsonValue(), ['other']);
    await showsText(laptop, 'one two');
    assert.equal(await bubblesOf(phone).count(), 0, 'one does not see that oneself types');
    await bubblesOf(laptop).waitFor({ state: 'detached' });

    // Otherwise both could end because time has passed.
    await holdTimers(laptop.page);
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
    await holdTimers(laptop.page);
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
    await holdTimers(laptop.page);
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
