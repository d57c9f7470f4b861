/** Disconnecting from a room with the SDK, and following it again. */
import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer } from '../support/server.ts';

describe('disconnecting from a room', () => {
  it('[SDK-3] and following it again starts with a snapshot', async (t) => {
    const { url, api } = await sharedServer(t);
    const live = createClient({ url })
      .room(await api.room())
      .live();
    for (const time of ['first', 'second']) {
      for await (const { type } of live) {
        assert.notEqual(type, 'devices', `the ${time} time`);
        if (type === 'snapshot') break;
      }
    }
  });

  it('[SDK-3] takes effect immediately in every state of the connection', async (t) => {
    const silent = await startSilence(t);
    for (const moment of ['before', 'while'] as const) {
      const leaving = new AbortController();
      const events = createClient({ url: silent.url })
        .room('7KQ2MX')
        .live({ signal: leaving.signal })
        [Symbol.asyncIterator]();
      assert.deepEqual((await events.next()).value, { type: 'connecting' });
      if (moment === 'before') leaving.abort();
      const next = events.next();
      if (moment === 'while') {
        await eventually('it connects', () => silent.connections > 0);
        leaving.abort();
      }
      const leftAt = performance.now();
      assert.deepEqual(await next, { done: true, value: 'left' });
      assert.ok(performance.now() - leftAt < 5_000, moment);
    }
  });

  it('[SDK-3] removes its listeners from a signal that is still in use', async (t) => {
    const { url, api } = await sharedServer(t);
    const room = createClient({ url }).room(await api.room());
    const { signal } = new AbortController();
    room.live({ signal });
    for await (const { type } of room.live({ signal })) if (type === 'snapshot') break;
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });
});

/** Takes connections, and says nothing. */
async function startSilence(t: TestContext) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return sockets.size;
    },
  };
}
