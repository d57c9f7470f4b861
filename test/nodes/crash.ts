/** A killed node: nothing acknowledged is lost, and its devices are removed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertAcknowledged, type TrackedRoom, trackRoom } from '../support/acknowledged.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { versionOf } from '../support/load.ts';
import type { SharedNodes } from '../support/nodes.ts';
import type { ServerProcess } from '../support/process.ts';

const goneWithinMs = 60_000;

/** Kills the second node. */
export function crashTests(shared: () => SharedNodes): void {
  describe('a node that is killed', () => killedNodeTests(shared));
}

function killedNodeTests(shared: () => SharedNodes): void {
  it('[NODE-8] loses nothing that it acknowledged, and its devices are removed within a minute', async (t) => {
    const [other, killed] = shared().nodes;
    const room = await other.api.room();
    const stays = await joinRoom(t, other.url, room, { deviceId: 'stays' });
    await stays.next('snapshot');
    const goes = await joinRoom(t, killed.url, room, { deviceId: 'goes' });
    await goes.next('snapshot');
    await stays.next('devices', ({ devices }) => devices.length === 2);

    const written = await Promise.all(Array.from({ length: 4 }, async () => trackRoom(await killed.api.room())));
    const clients = written.map((memory, i) => writeUntilGone(killed, memory, i));
    await eventually('writes are answered', () => written.every(({ acknowledged }) => acknowledged.size > 10));
    await killed.end('SIGKILL');
    const killedAt = performance.now();
    await Promise.all(clients);
    for (const memory of written) await assertAcknowledged(other.api, memory);

    await stays.next('devices', ({ devices }) => devices.every(({ deviceId }) => deviceId === 'stays'));
    const goneAfter = performance.now() - killedAt;
    assert.ok(goneAfter < goneWithinMs, `its device was gone after ${goneAfter} ms`);
    assert.equal((await other.api.get(`/api/rooms/${room}`)).json.deviceCount, 1);
    t.diagnostic(`its device was gone after ${Math.round(goneAfter)} ms`);
  });
}

async function writeUntilGone(
  { api }: ServerProcess,
  { code, sent, acknowledged }: TrackedRoom,
  client: number,
): Promise<void> {
  for (let n = 0; ; n++) {
    const content = `client ${client} text ${n}`;
    sent.add(content);
    try {
      // From many addresses, because the nodes have a limit.
      const from = `198.18.${client}.${n % 250}`;
      const response = await api.post(`/api/rooms/${code}/content`, { json: { content }, from });
      assert.equal(response.status, 200, response.text);
      acknowledged.set(versionOf(response), content);
    } catch (error) {
      if (/^(fetch failed|terminated)$/.test((error as Error).message)) return;
      throw error;
    }
  }
}
