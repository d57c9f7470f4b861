/** Collects a body in memory, within the limits of the request, the client and the server. */
import type { IncomingMessage } from 'node:http';
import { freeBuffer } from '../../core/defence/garbage.ts';
import type { Transfer } from '../../core/defence/transfer-budget.ts';
import { isLarge } from '../../core/defence/turns.ts';
import { byteCount, PoproomError } from '../../core/errors.ts';
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
  beforeLarge?: BeforeLarge | undefined;
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
      pieces ??= new BodyPieces(request, { maxBytes, beforeLarge }, refuse);
      pieces.add(chunk);
    });
    raw.on('end', () => {
      isWhole = true;
      pieces?.complete();
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
  readonly #rules: BodyRules;
  readonly #refuse: (reason: unknown) => void;
  readonly #pieces = new ByteBuffer();
  readonly #transfer: Transfer;
  #size = 0;
  #isChecked = false;

  constructor(request: Request, rules: BodyRules, refuse: (reason: unknown) => void) {
    this.#request = request;
    this.#rules = rules;
    this.#refuse = refuse;
    this.#transfer = request.budgets.bodies.start({
      client: request.client,
      progress: () => this.#size,
      end: () => refuse(tooSlow()),
    });
  }

  get bytes(): Buffer {
    return this.#pieces.whole();
  }

  add(chunk: Buffer): void {
    const { maxBytes } = this.#rules;
    this.#size += chunk.length;
    if (this.#size > maxBytes) {
      this.#refuse(bodyTooLarge(maxBytes));
      return;
    }
    this.#pieces.add(chunk);
    const more = this.#pieces.capacity - this.#transfer.held;
    if (more > 0 && !this.#transfer.take(more)) this.#refuse(overloaded());
    else if (this.#size > unknownRoomBytes) this.#checkOnce();
  }

  /** It may wait for its turn now, which is not the fault of its client. */
  complete(): void {
    this.#transfer.keep();
  }

  release(): void {
    this.#pieces.free();
    this.#transfer.close();
  }

  #checkOnce(): void {
    const { beforeLarge } = this.#rules;
    if (this.#isChecked || !beforeLarge) return;
    this.#isChecked = true;
    const { raw } = this.#request;
    raw.pause();
    beforeLarge(this.#request).then(() => raw.resume(), this.#refuse);
  }
}

function bodyTooLarge(maxBytes: number): PoproomError {
  return new PoproomError('CONTENT_TOO_LARGE', `The body exceeds the limit of ${byteCount(maxBytes)}.`);
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

function tooSlow(): PoproomError {
  const message = 'The body arrived too slowly for a busy server. Try again in 2 seconds.';
  return new PoproomError('UNAVAILABLE', message, { retryAfter: 2 });
}
