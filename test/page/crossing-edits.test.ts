/** Edits that cross on the way: by a line that holds one device back. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type Device, joinRoom, showsStatus, showsText, textOf } from '../support/page.ts';
import { twoDevices } from '../support/two-devices.ts';

const card = ({ page }: Device) => page.getByRole('region', { name: 'Your changes that collided with others' });

describe('the page, edits that cross', () => {
  it('[PAGE-8] are merged on all devices', async (t) => {
    const { laptop, phone, line, world, code } = await twoDevices(t, 'milk\nbread\ntea\n');
    const tablet = await joinRoom(world, code);
    line.hold();
    await textOf(phone).fill('milk\nbread\ngreen tea\n');
    await showsStatus(phone, 'Sending …');
    await textOf(laptop).fill('oat milk\nbread\ntea\n');
    await showsStatus(laptop, 'Saved');
    line.release();
    for (const device of [laptop, phone, tablet]) await showsText(device, 'oat milk\nbread\ngreen tea\n');
    for (const device of [laptop, phone, tablet]) assert.equal(await card(device).count(), 0);
  });

  it('[PAGE-8] in the same line are merged by words', async (t) => {
    const { laptop, phone, line } = await twoDevices(t, 'meet at noon by the old bridge');
    line.hold();
    await textOf(phone).fill('meet at noon by the new bridge');
    await showsStatus(phone, 'Sending …');
    await textOf(laptop).fill('meet at nine by the old bridge');
    await showsStatus(laptop, 'Saved');
    line.release();
    for (const device of [laptop, phone]) await showsText(device, 'meet at nine by the new bridge');
  });

  it('[PAGE-8] of the same words leave one in the text, and the other on the device that wrote it', async (t) => {
    const { laptop, phone } = await collided(t);
    await showsText(phone, 'the red fox');
    await card(phone).getByText('the slow fox', { exact: true }).waitFor();
    assert.equal(await card(laptop).count(), 0);
    await card(phone).getByRole('button', { name: 'Add to the text' }).click();
    for (const device of [laptop, phone]) await showsText(device, 'the red fox\nthe slow fox');
    await card(phone).waitFor({ state: 'detached' });
  });

  it('[PAGE-8] of the same words can be copied or discarded', async (t) => {
    const { laptop, phone } = await collided(t);
    await phone.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await card(phone).getByRole('button', { name: 'Copy', exact: true }).click();
    await phone.page.getByText('Copied.').waitFor();
    assert.equal(await phone.page.evaluate(() => navigator.clipboard.readText()), 'the slow fox');
    await card(phone).getByRole('button', { name: 'Discard' }).click();
    await card(phone).waitFor({ state: 'detached' });
    for (const device of [laptop, phone]) await showsText(device, 'the red fox');
  });

  it('[PAGE-8] of the same words are still shown after a reload', async (t) => {
    const { phone } = await collided(t);
    await card(phone).getByText('the slow fox', { exact: true }).waitFor();
    await phone.page.reload();
    await textOf(phone).waitFor();
    await card(phone).getByText('the slow fox', { exact: true }).waitFor();
  });
});

/** The phone wrote "the slow fox" while the laptop wrote "the red fox". */
async function collided(t: TestContext) {
  const { laptop, phone, line } = await twoDevices(t, 'the quick fox');
  line.hold();
  await textOf(phone).fill('the slow fox');
  await showsStatus(phone, 'Sending …');
  await textOf(laptop).fill('the red fox');
  await showsStatus(laptop, 'Saved');
  line.release();
  return { laptop, phone };
}
