/** Collects a body in memory, within the limits of the request, the client and the server. */
import { PoproomError } from '../../core/errors.ts';
import { freeBuffer } from '../../core/garbage.ts';
import { isLarge } from '../../core/turns.ts';
import { onAborted } from './aborted.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { announcedLength, type Request } from './request.ts';

export interface ReceivedBody {
  bytes: Buffer;
  /** Call this when the bytes are no longer needed. */
  release(): void;
}

/** The server reads this much of a body before it checks that the room exists. */
export const unknownRoomBytes = 64 * 1024;

type BeforeLarge = (request: Request) => Promise<unknown>;

/** Reads the whole body. Most arrive in one chunk, which needs neither copying nor counting. */
export function collectBody(
  request: Request,
  maxBytes: number,
  beforeLarge: BeforeLarge | undefined,
): Promise<ReceivedBody> {
  const { raw } = request;
  const announced = announcedLength(raw);
  return new Promise((resolve, reject) => {
    let onePiece: Buffer | undefined;
    let pieces: BodyPieces | undefined;
    let isWhole = false;
    const refuse = (reason: unknown) => {
      // A complete body belongs to its handler.
      if (isWhole) return;
      raw.removeAllListeners('data');
      pieces?.release();
      reject(reason);
    };
    raw.on('data', (chunk: Buffer) => {
      if (!pieces && chunk.length === announced) {
        onePiece = chunk;
        return;
      }
      pieces ??= new BodyPieces(request, maxBytes, beforeLarge);
      pieces.add(chunk, refuse);
    });
    raw.on('end', () => {
      isWhole = true;
      resolve(onePiece ? new OnePiece(onePiece) : (pieces ?? new OnePiece(nothing)));
    });
    onAborted(raw, refuse);
  });
}

const nothing = Buffer.alloc(0);

class OnePiece implements ReceivedBody {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  release(): void {
    if (isLarge(this.bytes.length)) freeBuffer(this.bytes);
  }
}

class BodyPieces implements ReceivedBody {
  readonly #request: Request;
  readonly #maxBytes: number;
  readonly #beforeLarge: BeforeLarge | undefined;
  readonly #pieces = new ByteBuffer();
  #size = 0;
  #held = 0;
  #isChecked = false;

  constructor(request: Request, maxBytes: number, beforeLarge: BeforeLarge | undefined) {
    this.#request = request;
    this.#maxBytes = maxBytes;
    this.#beforeLarge = beforeLarge;
  }

  get bytes(): Buffer {
    return this.#pieces.whole();
  }

  add(chunk: Buffer, refuse: (reason: unknown) => void): void {
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) {
      refuse(bodyTooLarge(this.#maxBytes));
      return;
    }
    this.#pieces.add(chunk);
    if (!this.#hold()) refuse(overloaded());
    else if (this.#size > unknownRoomBytes) this.#checkOnce(refuse);
  }

  #hold(): boolean {
    const more = this.#pieces.capacity - this.#held;
    if (more > 0 && !this.#request.memory.take(this.#request.client, more)) return false;
    this.#held += more;
    return true;
  }

  release(): void {
    this.#pieces.free();
    if (this.#held > 0) this.#request.memory.release(this.#request.client, this.#held);
    this.#held = 0;
  }

  #checkOnce(refuse: (reason: unknown) => void): void {
    if (this.#isChecked || !this.#beforeLarge) return;
    this.#isChecked = true;
    const { raw } = this.#request;
    raw.pause();
    this.#beforeLarge(this.#request).then(() => raw.resume(), refuse);
  }
}

export function bodyTooLarge(maxBytes: number): PoproomError {
  return new PoproomError('CONTENT_TOO_LARGE', `The body exceeds the limit of ${maxBytes} bytes.`);
}

export function overloaded(): PoproomError {
  return new PoproomError(
    'UNAVAILABLE',
    'The server is handling too much data at the moment. Try again in 2 seconds.',
    {
      retryAfter: 2,
    },
  );
}
