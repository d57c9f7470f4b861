/** The contract of event buses, which every driver must pass. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { EventBus, RoomChange } from '../../src/core/ports/rooms.ts';
import { drawSymbols, type RoomCode } from '../../src/core/room-code.ts';

export interface BusUnderTest {
  bus: EventBus;
  dispose(): Promise<void>;
}

export type OpenBus = () => Promise<BusUnderTest>;

export function busContract(name: string, open: OpenBus): void {
  describe(`${name}: the contract of event buses`, () => {
    it('notifies every listener of a room, in order', async (t) => {
      const bus = await fresh(t, open);
      const code = newRoom();
      const [one, other] = [listen(bus, code), listen(bus, code)];
      for (const seq of [1, 2, 3]) bus.publish(code, { seq });
      assert.deepEqual(await one.until(3), [1, 2, 3]);
      assert.deepEqual(await other.until(3), [1, 2, 3]);
    });

    it('does not notify listeners of other rooms', async (t) => {
      const bus = await fresh(t, open);
      const [code, otherCode] = [newRoom(), newRoom()];
      const [one, other] = [listen(bus, code), listen(bus, otherCode)];
      bus.publish(code, { seq: 1 });
      bus.publish(otherCode, { seq: 7 });
      bus.publish(code, { seq: 2 });
      assert.deepEqual(await one.until(2), [1, 2]);
      assert.deepEqual(await other.until(7), [7]);
    });

    it('does not notify a listener that has left, but all others', async (t) => {
      const bus = await fresh(t, open);
      const code = newRoom();
      const [leaves, stays] = [listen(bus, code), listen(bus, code)];
      bus.publish(code, { seq: 1 });
      await Promise.all([leaves.until(1), stays.until(1)]);
      leaves.leave();
      bus.publish(code, { seq: 2 });
      assert.deepEqual(await stays.until(2), [1, 2]);
      assert.deepEqual(leaves.heard, [1]);
    });

    it('lets a listener leave while it is being notified', async (t) => {
      const bus = await fresh(t, open);
      const code = newRoom();
      const heardOnce: number[] = [];
      const once = bus.subscribe(code, ({ seq }) => {
        heardOnce.push(seq);
        once.leave();
      });
      const stays = listen(bus, code);
      bus.publish(code, { seq: 1 });
      bus.publish(code, { seq: 2 });
      assert.deepEqual(await stays.until(2), [1, 2]);
      assert.deepEqual(heardOnce, [1]);
    });

    it('lets a listener leave twice without affecting others', async (t) => {
      const bus = await fresh(t, open);
      const code = newRoom();
      const left = listen(bus, code);
      left.leave();
      const stays = listen(bus, code);
      left.leave();
      bus.publish(code, { seq: 1 });
      assert.deepEqual(await stays.until(1), [1]);
    });

    it('notifies a listener that subscribes again after the last one left', async (t) => {
      const bus = await fresh(t, open);
      const code = newRoom();
      listen(bus, code).leave();
      const again = listen(bus, code);
      bus.publish(code, { seq: 5 });
      assert.deepEqual(await again.until(5), [5]);
    });

    it('drops a change that nobody listens to, and delivers the next one', async (t) => {
      const bus = await fresh(t, open);
      const code = newRoom();
      bus.publish(code, { seq: 1 });
      const late = listen(bus, code);
      await late.ready;
      bus.publish(code, { seq: 2 });
      assert.deepEqual(await late.until(2), [2]);
    });

    it('passes a change on within the process as it is, whatever its size', async (t) => {
      const bus = await fresh(t, open);
      const code = newRoom();
      const received: RoomChange[] = [];
      bus.subscribe(code, (change) => received.push(change));
      const edits = [{ from: 0, to: 0, insert: 'a'.repeat(100_000) }];
      const entry = { version: 1, edits, deviceId: 'd', ref: undefined, writtenAt: 5 };
      const changes: RoomChange[] = [
        { seq: 1, entry, origin: 'channel' },
        { seq: 0, devicesOnly: true },
      ];
      for (const change of changes) bus.publish(code, change);
      assert.deepEqual(received, changes);
      assert.ok(
        received.every((change, i) => change === changes[i]),
        'the same objects',
      );
    });

    it('[LIFE-5] delivers the sequence number that marks the end of a room', async (t) => {
      const bus = await fresh(t, open);
      const code = newRoom();
      const listener = listen(bus, code);
      bus.publish(code, { seq: Number.MAX_SAFE_INTEGER });
      assert.deepEqual(await listener.until(Number.MAX_SAFE_INTEGER), [Number.MAX_SAFE_INTEGER]);
    });
  });
}

async function fresh(t: TestContext, open: OpenBus): Promise<EventBus> {
  const under = await open();
  t.after(() => under.dispose());
  return under.bus;
}

function newRoom(): RoomCode {
  return drawSymbols() as RoomCode;
}

interface Listener {
  heard: number[];
  ready: Promise<void>;
  /** Everything heard when this number has come. */
  until(seq: number): Promise<number[]>;
  leave(): void;
}

function listen(bus: EventBus, code: RoomCode): Listener {
  const heard: number[] = [];
  const waiting = new Map<number, () => void>();
  const { leave, ready } = bus.subscribe(code, ({ seq }) => {
    heard.push(seq);
    waiting.get(seq)?.();
  });
  return {
    heard,
    ready,
    leave,
    async until(seq) {
      if (!heard.includes(seq)) await new Promise<void>((resolve) => waiting.set(seq, resolve));
      return heard;
    },
  };
}
