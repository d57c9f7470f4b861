/** Follows a room with the SDK: records the events, and waits for more. */
import type { TestContext } from 'node:test';
import type { Ended, LiveEvent, LiveOptions, LiveRoom, Room } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';

type EventOf<T extends LiveEvent['type']> = Extract<LiveEvent, { type: T }>;

export interface Follower {
  readonly live: LiveRoom;
  readonly events: LiveEvent[];
  /** The time when the event arrived. */
  receivedAt(event: LiveEvent): number;
  /** The next event of this type, after the last one that was returned. */
  next<T extends LiveEvent['type']>(type: T, timeoutMs?: number): Promise<EventOf<T>>;
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
  let nextIndex = 0;

  return {
    live,
    events,
    receivedAt: (event) => times.get(event) ?? Number.NaN,
    end,
    leave: () => leaving.abort(),
    next: <T extends LiveEvent['type']>(type: T, timeoutMs?: number) =>
      eventually(
        `the event "${type}" arrives`,
        () => {
          const at = events.findIndex((event, index) => index >= nextIndex && event.type === type);
          if (at < 0 && failure) throw failure;
          if (at < 0) return undefined;
          nextIndex = at + 1;
          return events[at] as EventOf<T>;
        },
        timeoutMs,
      ),
  };
}

async function collect(live: LiveRoom, onEvent: (event: LiveEvent) => void): Promise<Ended> {
  const iterator = live[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await iterator.next();
    if (done) return value;
    onEvent(value);
  }
}
