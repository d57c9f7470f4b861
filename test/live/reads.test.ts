/** How often a room is read for its live sessions. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createLocalBus } from '../../src/bus/local.ts';
import type { EventBus } from '../../src/core/ports/rooms.ts';
import { createRooms } from '../../src/core/rooms.ts';
import { createHub } from '../../src/live/hub.ts';
import type { Outgoing } from '../../src/live/wire.ts';
import { file, quota } from '../contract/store-under-test.ts';
import { openStore, temporaryFolder } from '../store/open-sqlite.ts';
import { defaultLimits, noQuota } from '../support/no-quota.ts';

describe('the reads of a room', () => {
  it('[LIVE-20] are not needed for 10 live edits and 10 live texts, with both kinds of sessions in the room', async (t) => {
    const { join, counts } = await open(t);
    const [editor, reader] = [await join('editor', true), await join('reader', false)];
    counts.clear();
    for (let n = 0; n < 10; n++) {
      await editor.session.receive({ type: 'edit', edits: [{ from: 0, to: 0, insert: 'x' }], baseVersion: 2 * n });
      await reader.session.receive({ type: 'content', content: 'y'.repeat(n), baseVersion: 2 * n + 1 });
    }
    assert.equal(editor.sent.filter(({ type }) => type === 'written').length, 10);
    assert.equal(reader.sent.filter(({ type }) => type === 'written').length, 10);
    assert.equal(editor.sent.filter(({ type }) => type === 'edit').length, 10);
    assert.equal(reader.sent.filter(({ type }) => type === 'content').length, 10);
    // The devices are read once or twice a moment after the two have joined.
    assert.ok((counts.get('listDevices') ?? 0) <= 2);
    counts.delete('listDevices');
    assert.deepEqual(Object.fromEntries(counts), { readText: 1, appendText: 20 });
  });

  it('[LIVE-20] are not needed for 100 edits of one commit, which reach a device in two writes and in order', async (t) => {
    const { join, counts, service, caller } = await open(t);
    const { sent, writes } = await join('reader', true);
    const [told, written] = [sent.length, writes.length];
    await service.editContent(caller, { append: 'first' });
    counts.clear();
    await Promise.all(Array.from({ length: 100 }, () => service.editContent(caller, { append: 'x' })));
    await new Promise(setImmediate);
    assert.deepEqual(
      sent.slice(told).map(({ text }) => JSON.parse(text).version),
      Array.from({ length: 101 }, (_, n) => n + 1),
    );
    assert.deepEqual(writes.slice(written), [1, 64, 36]);
    assert.equal(counts.get('readState'), undefined);
  });

  it('[LIVE-20] happen once for a change that the notification does not include, however often it is sent', async (t) => {
    const store = await open(t);
    const { join, counts, bus, code } = store;
    const { sent } = await join('reader', true);
    const added = await store.files.addFile(code, file(), quota);
    assert.ok(typeof added === 'object' && 'seq' in added);
    counts.clear();
    const told = sent.length;
    bus.publish(code, { seq: added.seq });
    await new Promise(setImmediate);
    for (let n = 0; n < 5; n++) bus.publish(code, { seq: added.seq });
    await new Promise(setImmediate);
    assert.deepEqual(Object.fromEntries(counts), { readState: 1, listDevices: 1 });
    assert.deepEqual(
      sent.slice(told).map(({ type }) => type),
      ['file-added'],
    );
  });

  it('[LIVE-8] happen if a change is missing in between', async (t) => {
    const { join, counts, service, bus, code, caller } = await open(t);
    const { sent } = await join('reader', true);
    bus.isDeaf = true;
    await service.editContent(caller, { append: 'unheard' });
    bus.isDeaf = false;
    counts.clear();
    await service.editContent(caller, { append: ' of' });
    await new Promise(setImmediate);
    assert.equal(counts.get('readState'), 1);
    const edits = sent.filter(({ type }) => type === 'edit').map(({ text }) => JSON.parse(text).version);
    assert.deepEqual(edits, [1, 2]);
    assert.equal(code.length > 0, true);
  });
});

/** A hub on a real store whose calls are counted. */
async function open(t: TestContext) {
  const store = await openStore(t, await temporaryFolder(t));
  const counts = new Map<string, number>();
  const [rooms, texts] = [counting(store.rooms, counts), counting(store.texts, counts)];
  const local = createLocalBus();
  const bus: EventBus & { isDeaf: boolean } = {
    ...local,
    isDeaf: false,
    publish(code, change) {
      if (!bus.isDeaf) local.publish(code, change);
    },
  };
  const parts = {
    ...{
      ...store,
      rooms,
      texts,
      storage: undefined as never,
      quota: noQuota,
      limits: defaultLimits,
      blobs: undefined as never,
    },
    ...{ bus, clock: Date.now, secret: 'a secret' },
  };
  const service = createRooms(parts, { lifetime: 3600, longestLifetime: 3600, largestContent: 1000 });
  const hub = createHub({
    core: parts,
    rooms: service,
    maxMessageBytes: 1024 * 1024,
    channelsPerClient: 20,
    heartbeatMs: 3600_000,
    reconnectsPerSecond: 1000,
    onFailure: () => undefined,
  });
  t.after(() => hub.stop());
  const { code } = await service.create({ client: 'me', pin: undefined, expiresIn: undefined, history: true });
  const caller = { client: 'me', roomId: code, pin: undefined, deviceId: undefined };

  async function join(deviceId: string, edits: boolean) {
    const sent: Outgoing[] = [];
    /** The number of messages in each. */
    const writes: number[] = [];
    const wire = {
      answersPings: false,
      send(messages: readonly Outgoing[]) {
        sent.push(...messages);
        writes.push(messages.length);
      },
      backlog: () => 0,
      ping() {},
      close() {},
    };
    const session = await hub.join(wire, {
      caller: { ...caller, deviceId },
      deviceName: undefined,
      seq: undefined,
      edits,
      version: undefined,
      timestamp: undefined,
      linkBase: '',
      linkTo: () => '',
    });
    await new Promise(setImmediate);
    return { session, sent, writes };
  }

  return { join, counts, files: store.files, service, bus, code, caller };
}

function counting<Port extends object>(port: Port, counts: Map<string, number>): Port {
  const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Proxy(port, {
    get(target, name: keyof Port & string) {
      return (...args: never[]) => {
        count(name);
        return (target[name] as (...args: never[]) => unknown)(...args);
      };
    },
  });
}
