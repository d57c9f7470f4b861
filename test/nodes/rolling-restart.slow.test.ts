/** Restarts one node after the other, behind a load balancer and under load. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertAcknowledged } from '../support/acknowledged.ts';
import { createApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { startHaproxy } from '../support/haproxy.ts';
import { freePort } from '../support/listen.ts';
import { startLoad } from '../support/load.ts';
import { installationSettings, startNode, withoutLimits } from '../support/nodes.ts';
import { startRedis } from '../support/redis.ts';
import { startS3 } from '../support/s3.ts';

describe('a rolling restart', () => {
  it('[NODE-15] fails no request', async (t) => {
    const redis = await startRedis();
    const s3 = await startS3();
    t.after(() => Promise.all([redis.stop(), s3.stop()]));
    const settings = installationSettings({ redis, s3 }, { ...withoutLimits, POPROOM_DRAIN: '10' });
    const ports = [await freePort(), await freePort()];
    const start = (port: number) => startNode(t, { ...settings, PORT: String(port) });
    const nodes = await Promise.all(ports.map(start));
    const balancer = await startHaproxy(t, ports);
    const api = createApi(() => balancer);
    const servedBy = async () => (await fetch(`${balancer}/livez`).catch(() => undefined))?.headers.get('x-node');
    const takesPart = (port: number) =>
      eventually(`${port} takes part`, async () => (await servedBy()) === String(port), 20_000);
    for (const port of ports) await takesPart(port);

    const load = await startLoad({
      apis: [api],
      rooms: 4,
      clients: 10,
      pauseMs: 100,
      checkRejection: ({ status, text }) => assert.fail(`a request failed: ${status} ${text.slice(0, 300)}`),
    });
    for (const [i, node] of nodes.entries()) {
      const before = load.succeeded();
      assert.deepEqual(await node.end('SIGTERM'), { code: 0, signal: null });
      await eventually('the other one goes on', () => load.succeeded() > before);
      const port = ports[i] as number;
      await start(port);
      await takesPart(port);
    }
    await load.stop();
    for (const room of load.rooms) await assertAcknowledged(api, room);
    assert.equal(load.rejected(), 0);
    t.diagnostic(`${load.succeeded()} requests, none failed, slowest ${Math.round(load.slowestMs())} ms`);
  });
});
