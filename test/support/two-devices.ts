/** Two devices in one room. */
import type { TestContext } from 'node:test';
import {
  type BrowserDevice,
  joinRoom,
  type SiteOptions,
  sharedTestSite,
  showsStatus,
  showsText,
  startTestSite,
  type TestSite,
  textOf,
} from './page.ts';

interface PairOptions {
  /** Starts the room on the laptop. Returns its code, as in its link. By default, a program has started it. */
  start?: (laptop: BrowserDevice) => Promise<string>;
  /** The address of the server for the phone, for example that of a proxy. */
  phoneUrl?: string;
  /** Starts a server that no other test uses, with these options. */
  ownSite?: SiteOptions;
}

/** Both devices have the same text. */
export async function twoDevices(t: TestContext, text: string, { start, phoneUrl, ownSite }: PairOptions = {}) {
  const site = await (ownSite ? startTestSite(t, {}, ownSite) : sharedTestSite(t));
  const { laptop, code } = await (start ? startOn(site, start) : joinNew(site));
  await textOf(laptop).fill(text);
  const phone = await joinRoom(site, code, phoneUrl ? { baseURL: phoneUrl } : {});
  for (const device of [laptop, phone]) {
    await showsText(device, text);
    await showsStatus(device, 'Saved');
  }
  for (const device of [laptop, phone]) await watchesOthers(device);
  return { site, laptop, phone, code };
}

/** Waits for the code that shows what others do, which is loaded when another device is in the room. */
async function watchesOthers({ page }: BrowserDevice): Promise<void> {
  await page.locator('.devices [role="status"]').waitFor({ state: 'attached' });
  // Its effects run after the next frame.
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
}

async function startOn(site: TestSite, start: NonNullable<PairOptions['start']>) {
  const laptop = await site.openDevice();
  return { laptop, code: await start(laptop) };
}

async function joinNew(site: TestSite) {
  const code = await site.server.api.room();
  return { laptop: await joinRoom(site, code), code };
}
