/** Passes the carets of devices on: at most five a second for each device, and the last one always. */
import type { RoomChange } from '../core/ports/rooms.ts';

export type Caret = NonNullable<RoomChange['caret']>;

const intervalMs = 200;

export class CaretRelay {
  readonly #publish: (caret: Caret) => void;
  /** Devices whose caret was passed on within the interval, each with the caret that it sent since. */
  readonly #pausing = new Map<string, Caret | undefined>();
  #isClosed = false;

  constructor(publish: (caret: Caret) => void) {
    this.#publish = publish;
  }

  move(caret: Caret): void {
    if (this.#pausing.has(caret.deviceId)) this.#pausing.set(caret.deviceId, caret);
    else this.#pass(caret);
  }

  close(): void {
    this.#isClosed = true;
  }

  #pass(caret: Caret): void {
    const { deviceId } = caret;
    this.#publish(caret);
    this.#pausing.set(deviceId, undefined);
    setTimeout(() => this.#onPauseEnd(deviceId), intervalMs).unref();
  }

  #onPauseEnd(deviceId: string): void {
    const waiting = this.#pausing.get(deviceId);
    this.#pausing.delete(deviceId);
    if (waiting && !this.#isClosed) this.#pass(waiting);
  }
}
