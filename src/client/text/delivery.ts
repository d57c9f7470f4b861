/** Sends pending edits: one at a time, at a limited rate, and again if no response arrived. Reports which are stored. */
import { toEdits } from '../../text/changes.ts';
import { PoproomError } from '../error.ts';
import type { Replica } from './replica.ts';
import type { TextLink, TextState } from './shared-text.ts';

/** The server accepts 20 messages per second. */
const minIntervalMs = 100;

/** Fixed times hide the rhythm of typing from the server of an encrypted room. Alone, nobody waits for the edits. */
export const batchIntervalMs = { alone: 250, withOthers: 100 } as const;

/**
 * - `offline`: there is no connection;
 * - `ready`: the next edit is sent immediately;
 * - `in-flight`: an edit was sent on this connection and is not answered yet;
 * - `pausing`: until a timer fires, because the last edit was just sent;
 * - `retrying`: until a timer fires, because the last edit was refused temporarily;
 * - `refused`: until the next edit, because the last one was refused permanently.
 */
type DeliveryState =
  | { name: 'offline' }
  | { name: 'ready'; link: TextLink }
  | { name: 'in-flight'; link: TextLink; ref: string }
  | { name: 'pausing' | 'retrying'; link: TextLink; cancel: () => void }
  | { name: 'refused'; link: TextLink };

interface Clock {
  now: () => number;
  /** Runs a callback after a delay, and returns a function that cancels it. */
  schedule: (callback: () => void, ms: number) => () => void;
}

export type Delivery = ReturnType<typeof createDelivery>;

/** `batchMs` returns the time between two batches; undefined if edits are sent immediately. */
export function createDelivery(
  replica: Replica,
  nextRef: () => string,
  { now, schedule }: Clock,
  batchMs: () => number | undefined,
) {
  let state: DeliveryState = { name: 'offline' };
  let lastSentAt = Number.NEGATIVE_INFINITY;
  /** Devices that type together send at different times, because a room accepts one edit of a version. */
  const phaseMs = Math.random() * batchIntervalMs.alone;

  const hasPending = () => replica.isLoaded && replica.pending.state !== 'synchronized';

  function enter(next: DeliveryState): void {
    if ('cancel' in state) state.cancel();
    state = next;
  }

  function wait(name: 'pausing' | 'retrying', link: TextLink, ms: number): void {
    const cancel = schedule(() => {
      enter({ name: 'ready', link });
      if (name === 'retrying') sendNext();
      else if (hasPending()) send(link);
    }, ms);
    enter({ name, link, cancel });
  }

  function sendNext(): void {
    if (state.name !== 'ready' || !hasPending()) return;
    const ms = pauseMs();
    if (ms > 0) wait('pausing', state.link, ms);
    else send(state.link);
  }

  /** An edit that is sent again says nothing about typing. */
  function pauseMs(): number {
    const batch = replica.pending.sent ? undefined : batchMs();
    return batch === undefined ? lastSentAt + minIntervalMs - now() : batch - ((now() + phaseMs) % batch);
  }

  function send(link: TextLink): void {
    const sent = replica.takeUnconfirmed(nextRef);
    if (!sent) return;
    lastSentAt = now();
    enter({ name: 'in-flight', link, ref: sent.ref });
    link.send({ type: 'edit', baseVersion: replica.version, edits: toEdits(sent.changes), ref: sent.ref });
  }

  function resume(): void {
    if (state.name !== 'offline') enter({ name: 'ready', link: state.link });
    sendNext();
  }

  return {
    isOnline: () => state.name !== 'offline',
    /** Whether the last edit was refused and has not been sent again yet. */
    isRefused: () => state.name === 'refused' || state.name === 'retrying',

    onConnected(link: TextLink): void {
      enter({ name: 'ready', link });
      sendNext();
    },

    onDisconnected: () => enter({ name: 'offline' }),

    onPendingChanged(): void {
      if (state.name === 'in-flight' && state.ref !== replica.pending.sent?.ref) resume();
      else sendNext();
    },

    onEdited(): void {
      if (state.name === 'refused') resume();
      else sendNext();
    },

    /** The edit in flight was refused; without a delay, it waits for the next edit. */
    onRefused(retryAfterMs: number | undefined): void {
      if (state.name !== 'in-flight') return;
      if (retryAfterMs === undefined) enter({ name: 'refused', link: state.link });
      else wait('retrying', state.link, retryAfterMs);
    },

    /** Sends the edit in flight again, based on the text that is confirmed now. */
    sendAgain: resume,

    flush(): void {
      if (state.name !== 'offline' && state.name !== 'in-flight' && hasPending()) send(state.link);
    },

    reconnect(): void {
      if (state.name !== 'offline') state.link.reconnect();
    },
  };
}

/** A failed text becomes active again when it is connected. A closed one stays closed. */
type Availability = { name: 'active'; error?: undefined } | { name: 'failed' | 'closed'; error: PoproomError };

export type TextStatus = ReturnType<typeof createTextStatus>;

/** The state of synchronization for the program: which edits are stored, and why others are not. */
export function createTextStatus(replica: Replica, delivery: Delivery, onChange: () => void) {
  /** For those who wait until everything is stored. */
  let stored: PromiseWithResolvers<void> | undefined;
  let availability: Availability = { name: 'active' };
  let refusal: PoproomError | undefined;
  let announced = describe();

  function state(): TextState {
    if (!replica.isLoaded) return 'loading';
    return replica.pending.state === 'unsent' ? 'awaiting-answer' : replica.pending.state;
  }

  function describe(): string {
    return [state(), delivery.isOnline(), refusal?.code].join();
  }

  /** The replica or the delivery may have changed. */
  function update(): void {
    if (state() === 'synchronized') {
      stored?.resolve();
      stored = undefined;
    }
    const current = describe();
    if (current === announced) return;
    announced = current;
    onChange();
  }

  function rejectWaiting(error: PoproomError): void {
    stored?.reject(error);
    stored = undefined;
    update();
  }

  function stop(name: 'failed' | 'closed', error: PoproomError): void {
    availability = { name, error };
    delivery.onDisconnected();
    rejectWaiting(error);
  }

  return {
    state,
    refusal: () => refusal,
    isClosed: () => availability.name === 'closed',

    async synchronized(): Promise<void> {
      if (state() === 'synchronized') return;
      const error = availability.error ?? (delivery.isRefused() ? refusal : undefined);
      if (error) throw error;
      stored ??= Promise.withResolvers<void>();
      return stored.promise;
    },

    update,
    onConnected(): void {
      availability = { name: 'active' };
    },
    onConfirmed(): void {
      refusal = undefined;
    },
    onRefused(error: PoproomError): void {
      refusal = error;
      rejectWaiting(error);
    },
    /** The server cannot confirm edits until the text is connected again. */
    onFailed: (error: PoproomError) => stop('failed', error),
    close: () => stop('closed', availability.error ?? new PoproomError('OFFLINE', 'The text was closed.')),
  };
}
