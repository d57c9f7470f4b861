/** Two devices in one room, one of which can be paused. */
import type { TestContext } from 'node:test';
import {
  type BrowserDevice,
  joinRoom,
  type SiteOptions,
  showsStatus,
  showsText,
  startRoom,
  startTestSite,
  textOf,
} from './page.ts';
import { startTcpProxy } from './tcp-proxy.ts';

interface PairOptions extends SiteOptions {
  /** Starts the room on the laptop. Returns its code, as in its link. */
  start?: (laptop: BrowserDevice) => Promise<string>;
}

/** Both devices have the same text. The phone connects through a proxy that can be paused. */
export async function twoDevices(t: TestContext, text: string, { start = startRoom, ...options }: PairOptions = {}) {
  const site = await startTestSite(t, {}, options);
  const proxy = await startTcpProxy(t, () => site.server.port);
  const laptop = await site.openDevice();
  const code = await start(laptop);
  await textOf(laptop).fill(text);
  const phone = await joinRoom(site, code, { baseURL: proxy.url });
  for (const device of [laptop, phone]) {
    await showsText(device, text);
    await showsStatus(device, 'Saved');
  }
  return { site, proxy, laptop, phone, code };
}
