/** The state of synchronization for the program: which edits are stored, and why others are not. */
import { PoproomError } from '../error.ts';
import type { Delivery } from './delivery.ts';
import type { Replica } from './replica.ts';
import type { TextState } from './shared-text.ts';

export interface TextStatus {
  readonly state: TextState;
  /** Why the server refused the last edit. */
  readonly refusal: PoproomError | undefined;
  readonly isClosed: boolean;
  /** Resolves when the server has stored everything. */
  synchronized(): Promise<void>;
  /** The replica or the delivery may have changed. */
  update(): void;
  onConnected(): void;
  onConfirmed(): void;
  onRefused(error: PoproomError): void;
  /** The server cannot confirm edits until the text is connected again. */
  onFailed(error: PoproomError): void;
  close(): void;
}

/** A failed text becomes active again when it is connected. A closed one stays closed. */
type Availability =
  | { name: 'active'; error?: undefined }
  | { name: 'failed'; error: PoproomError }
  | { name: 'closed'; error: PoproomError };

export function createTextStatus(replica: Replica, delivery: Delivery, onChange: () => void): TextStatus {
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
    return [state(), delivery.isOnline, refusal?.code].join();
  }

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

  function stop(next: Availability & { error: PoproomError }): void {
    availability = next;
    delivery.onDisconnected();
    rejectWaiting(next.error);
  }

  return {
    get state() {
      return state();
    },
    get refusal() {
      return refusal;
    },
    get isClosed() {
      return availability.name === 'closed';
    },

    async synchronized() {
      if (state() === 'synchronized') return;
      const error = availability.error ?? (delivery.isRefused ? refusal : undefined);
      if (error) throw error;
      stored ??= Promise.withResolvers<void>();
      return stored.promise;
    },

    update,
    onConnected() {
      availability = { name: 'active' };
    },
    onConfirmed() {
      refusal = undefined;
    },
    onRefused(error) {
      refusal = error;
      rejectWaiting(error);
    },
    onFailed: (error) => stop({ name: 'failed', error }),
    close: () => stop({ name: 'closed', error: availability.error ?? closedError() }),
  };
}

const closedError = () => new PoproomError('OFFLINE', 'The text was closed.');
