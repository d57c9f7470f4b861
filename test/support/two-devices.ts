/** Two devices in one room, one of which can be paused. */
import type { TestContext } from 'node:test';
import { openLine } from './line.ts';
import { joinRoom, openWorld, type Surroundings, showsStatus, showsText, startRoom, textOf } from './page.ts';

/** Both have the same text; the phone has it over a line that can be held. */
export async function twoDevices(t: TestContext, text: string, surroundings: Surroundings = {}) {
  const world = await openWorld(t, {}, surroundings);
  const line = await openLine(t, () => world.server.port);
  const laptop = await world.device();
  const code = await startRoom(laptop);
  await textOf(laptop).fill(text);
  const phone = await joinRoom(world, code, { baseURL: line.url });
  for (const device of [laptop, phone]) {
    await showsText(device, text);
    await showsStatus(device, 'Saved');
  }
  return { world, line, laptop, phone, code };
}
