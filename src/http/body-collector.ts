/** Collects a body in memory, within the limits of the request, of its client, and of the whole server. */
import { PoproomError } from '../core/errors.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { onCutOff } from './cut-off.ts';
import { announcedLength, type Request } from './request.ts';

export interface ReceivedBody {
  bytes: Buffer;
  /** To be called when the bytes are no longer needed. */
  release(): void;
}

/** So much of a body is read before it is known whether its room exists. */
export const unknownRoomBytes = 64 * 1024;

export class BodyCollector {
  readonly #request: Request;
  readonly #maxBytes: number;
  readonly #beforeLarge: (() => Promise<unknown>) | undefined;
  readonly #announced: number | undefined;
  readonly #bytes = new ByteBuffer();
  #size = 0;
  #held = 0;
  #isChecked = false;
  #isWhole = false;

  constructor(request: Request, maxBytes: number, beforeLarge: (() => Promise<unknown>) | undefined) {
    this.#request = request;
    this.#maxBytes = maxBytes;
    this.#beforeLarge = beforeLarge;
    this.#announced = announcedLength(request.raw);
  }

  collect(): Promise<ReceivedBody> {
    const { raw } = this.#request;
    return new Promise((resolve, reject) => {
      const refuse = (reason: unknown) => {
        // Once it is whole, the body belongs to its handler.
        if (this.#isWhole) return;
        raw.removeAllListeners('data');
        this.#release();
        reject(reason);
      };
      raw.on('data', (chunk: Buffer) => this.#add(chunk, refuse));
      raw.on('end', () => {
        this.#isWhole = true;
        resolve({ bytes: this.#bytes.whole(), release: () => this.#release() });
      });
      onCutOff(raw, refuse);
    });
  }

  #add(chunk: Buffer, refuse: (reason: unknown) => void): void {
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) {
      refuse(bodyTooLarge(this.#maxBytes));
      return;
    }
    this.#bytes.add(chunk);
    if (!this.#hold()) refuse(overloaded());
    else if (this.#size > unknownRoomBytes) this.#checkOnce(refuse);
  }

  /** A body that came in one piece is used right away, and need not be counted. */
  #hold(): boolean {
    if (this.#size === this.#announced && this.#held === 0) return true;
    const more = this.#bytes.capacity - this.#held;
    if (more > 0 && !this.#request.memory.take(this.#request.client, more)) return false;
    this.#held += more;
    return true;
  }

  #release(): void {
    this.#bytes.free();
    if (this.#held > 0) this.#request.memory.release(this.#request.client, this.#held);
    this.#held = 0;
  }

  #checkOnce(refuse: (reason: unknown) => void): void {
    if (this.#isChecked || !this.#beforeLarge) return;
    this.#isChecked = true;
    const { raw } = this.#request;
    raw.pause();
    this.#beforeLarge().then(() => raw.resume(), refuse);
  }
}

export function bodyTooLarge(maxBytes: number): PoproomError {
  return new PoproomError('CONTENT_TOO_LARGE', `The body is over the ${maxBytes} bytes that this request may have.`);
}

export function overloaded(): PoproomError {
  return new PoproomError('UNAVAILABLE', 'Too much data is being sent or received at the moment; try again.', {
    retryAfter: 2,
  });
}
