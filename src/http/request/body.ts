/** Collects a body in memory, within the limits of the request, the client and the server. */
import type { IncomingMessage } from 'node:http';
import { PoproomError } from '../../core/errors.ts';
import { freeBuffer } from '../../core/garbage.ts';
import { isLarge } from '../../core/turns.ts';
import { onAborted } from './aborted.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { announcedLength, hasBody, type Request, refuseCompressed } from './request.ts';

export interface ReceivedBody {
  bytes: Buffer;
  /** Call this when the bytes are no longer needed. */
  release(): void;
}

/** The server reads this much of a body before it checks that the room exists. */
const unknownRoomBytes = 64 * 1024;

type BeforeLarge = (request: Request) => Promise<unknown>;

export interface BodyRules {
  maxBytes: number;
  /** Called before more than 64 KiB of a body are read. Rejects if the rest is not needed. */
  beforeLarge?: BeforeLarge;
}

/** Reads the body of a request, if it has one. `checkType` throws if the content type is not supported. */
export async function readBody(
  request: Request,
  { maxBytes, beforeLarge }: BodyRules,
  checkType: (raw: IncomingMessage) => void,
): Promise<ReceivedBody> {
  const { raw } = request;
  if (!hasBody(raw)) return noBody;
  refuseCompressed(raw);
  const announced = announcedLength(raw);
  if (announced !== undefined) checkType(raw);
  if ((announced ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  const isChecked = (announced ?? 0) > unknownRoomBytes;
  if (isChecked) await beforeLarge?.(request);
  request.sendContinue();
  const body = await collectBody(request, maxBytes, isChecked ? undefined : beforeLarge);
  // Some proxies forward a request without a body as an empty chunked one, without a type.
  if (body.bytes.length > 0) checkType(raw);
  return body;
}

/** Reads the whole body. Most arrive in one chunk, which needs neither copying nor counting. */
function collectBody(request: Request, maxBytes: number, beforeLarge: BeforeLarge | undefined): Promise<ReceivedBody> {
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
const noBody: ReceivedBody = { bytes: nothing, release: () => undefined };

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

function bodyTooLarge(maxBytes: number): PoproomError {
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
