/** The state of synchronization for the program: which edits are stored, and why others are not. */
import { PoproomError } from '../error.ts';
import type { Delivery } from './delivery.ts';
import type { Replica } from './replica.ts';
import type { TextState } from './shared-text.ts';

/** A failed text becomes active again when it is connected. A closed one stays closed. */
type Availability = { name: 'active'; error?: undefined } | { name: 'failed' | 'closed'; error: PoproomError };

export type TextStatus = ReturnType<typeof createTextStatus>;

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
