/** A program that follows a room with the SDK: what it was told, and ways to wait for more. */
import type { TestContext } from 'node:test';
import type { Ended, LiveEvent, LiveOptions, LiveRoom, Room } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';

type Told<T extends LiveEvent['type']> = Extract<LiveEvent, { type: T }>;

export interface Follower {
  readonly live: LiveRoom;
  readonly events: LiveEvent[];
  /** When it did, by the clock. */
  cameAt(event: LiveEvent): number;
  /** The next event of this type that was not waited for, and came after the last that was. */
  next<T extends LiveEvent['type']>(type: T, withinMs?: number): Promise<Told<T>>;
  leave(): void;
  readonly end: Promise<Ended>;
}

export function follow(t: TestContext, room: Room, options: LiveOptions = {}): Follower {
  const leaving = new AbortController();
  t.after(() => leaving.abort());
  const live = room.live({ signal: leaving.signal, ...options });
  const events: LiveEvent[] = [];
  const times = new Map<LiveEvent, number>();
  const end = collect(live, (event) => {
    events.push(event);
    times.set(event, Date.now());
  });
  let failure: unknown;
  end.catch((error) => {
    failure = error;
  });
  let seen = 0;

  return {
    live,
    events,
    cameAt: (event) => times.get(event) ?? Number.NaN,
    end,
    leave: () => leaving.abort(),
    next: <T extends LiveEvent['type']>(type: T, withinMs?: number) =>
      eventually(
        `the room tells "${type}"`,
        () => {
          const at = events.findIndex((event, index) => index >= seen && event.type === type);
          if (at < 0 && failure) throw failure;
          if (at < 0) return undefined;
          seen = at + 1;
          return events[at] as Told<T>;
        },
        withinMs,
      ),
  };
}

async function collect(live: LiveRoom, take: (event: LiveEvent) => void): Promise<Ended> {
  const iterator = live[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await iterator.next();
    if (done) return value;
    take(value);
  }
}
