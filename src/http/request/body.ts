/** Receives bodies: in memory, within the limits of the request, the client and the server, or as a stream with a signal. */
import type { IncomingMessage } from 'node:http';
import { freeBuffer } from '../../core/defence/garbage.ts';
import type { Transfer } from '../../core/defence/transfer-budget.ts';
import { isLarge } from '../../core/defence/work.ts';
import { byteCount, PoproomError, unavailable } from '../../core/errors.ts';
import type { MaybePromise } from '../../core/ports/basics.ts';
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
export function readBody(
  request: Request,
  { maxBytes, beforeLarge }: BodyRules,
  checkType: (raw: IncomingMessage) => void,
): MaybePromise<ReceivedBody> {
  const { raw } = request;
  if (!hasBody(raw)) return noBody;
  refuseCompressed(raw);
  const receive = (checkRoom?: BeforeLarge) => {
    request.sendContinue();
    return collectBody(request, maxBytes, checkRoom);
  };
  const announced = announcedLength(raw);
  if (announced === undefined)
    return receive(beforeLarge).then((body) => {
      // Some proxies forward a request without a body as an empty chunked one, without a type.
      if (body.bytes.length > 0) checkType(raw);
      return body;
    });
  checkType(raw);
  if (announced > maxBytes) throw bodyTooLarge(maxBytes);
  if (announced > unknownRoomBytes && beforeLarge) return beforeLarge(request).then(() => receive());
  return isLarge(announced) ? receive() : Promise.resolve().then(() => takeWhole(request, announced) ?? receive());
}

/** A small body usually arrives with its head, so that it can be read without listeners. */
function takeWhole({ raw, sendContinue }: Request, announced: number): ReceivedBody | undefined {
  // Without the length, only the first chunk would be read.
  const bytes: Buffer | null = raw.readableLength === announced ? raw.read(announced) : null;
  if (!bytes) return undefined;
  sendContinue();
  // Node sets it only after this step, and a response until then would close the connection.
  raw.complete = true;
  return inOnePiece(bytes);
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
      resolve(onePiece ? inOnePiece(onePiece) : (pieces ?? noBody));
    });
    onAborted(raw, refuse);
  });
}

const nothing: Buffer = Buffer.alloc(0);
const noBody: ReceivedBody = { bytes: nothing, release: () => undefined };

const inOnePiece = (bytes: Buffer): ReceivedBody => ({
  bytes,
  release() {
    if (isLarge(bytes.length)) freeBuffer(bytes);
  },
});

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
      end: () => refuse(tooSlowForOthers()),
    });
  }

  get bytes(): Buffer {
    return this.#pieces.whole();
  }

  add(chunk: Buffer): void {
    const { maxBytes } = this.#rules;
    this.#size += chunk.length;
    if (this.#size > maxBytes) return void this.#refuse(bodyTooLarge(maxBytes));
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

const bodyTooLarge = (maxBytes: number): PoproomError =>
  new PoproomError('CONTENT_TOO_LARGE', `The body exceeds the limit of ${byteCount(maxBytes)}.`);

export const overloaded = () => unavailable('The server is handling too much data at the moment.');
const tooSlowForOthers = () => unavailable('The body arrived too slowly for a busy server.');

/** Shorter chunks are copied into blocks: a Buffer of one byte takes two hundred times its size. */
const shortChunk = 16 * 1024;
/** Each block is as large as all earlier ones together, within these limits. */
const [smallestBlock, largestBlock] = [1024, 64 * 1024];

/** Collects chunks in little more memory than they have bytes. */
class ByteBuffer {
  readonly #pieces: Buffer[] = [];
  /** The current block, if it has free space. */
  #block: Buffer | undefined;
  #used = 0;
  /** The allocated bytes. */
  capacity = 0;

  add(chunk: Buffer): void {
    if (this.capacity === 0 || chunk.length >= shortChunk) this.#keep(chunk);
    else this.#copy(chunk);
  }

  /** All bytes in one buffer. */
  whole(): Buffer {
    this.#endBlock();
    if (this.#pieces.length > 1) {
      const parts = this.#pieces.splice(0);
      this.#pieces.push(Buffer.concat(parts));
      for (const part of parts) freeBuffer(part);
    }
    return this.#pieces[0] ?? nothing;
  }

  /** Call this when nothing uses the bytes any more. */
  free(): void {
    for (const piece of this.#pieces.splice(0)) if (piece.length >= shortChunk) freeBuffer(piece);
  }

  #keep(chunk: Buffer): void {
    this.#endBlock();
    this.#pieces.push(chunk);
    this.capacity += chunk.length;
  }

  #copy(chunk: Buffer): void {
    if (!this.#block || this.#used + chunk.length > this.#block.length) this.#startBlock(chunk.length);
    const block = this.#block as Buffer;
    chunk.copy(block, this.#used);
    this.#used += chunk.length;
  }

  #startBlock(needed: number): void {
    this.#endBlock();
    const size = Math.max(needed, smallestBlock, Math.min(this.capacity, largestBlock));
    this.#block = Buffer.allocUnsafeSlow(size);
    this.#used = 0;
    this.capacity += size;
  }

  #endBlock(): void {
    if (this.#block) this.#pieces.push(this.#block.subarray(0, this.#used));
    this.#block = undefined;
  }
}

export const tookTooLong = 'The request took too long to arrive.';

/** The argument of a request's `timeout` event if it is not idle but took too long as a whole. */
export const deadlinePassed = Symbol('deadline passed');

/**
 * Calls `refuse` when a body fails: the client disconnected, sent a malformed body, or took too long. A client that
 * is only slow is still connected and receives the reason.
 */
function onAborted(
  raw: IncomingMessage,
  refuse: (reason: PoproomError) => void,
  onDeadline = () => refuse(tooSlow()),
): void {
  const fail = () => refuse(new PoproomError('VALIDATION_FAILED', 'The request ended before its body did.'));
  // Caused by the client in both cases, so it is not a server error. Uses `on`, because `once` is slower.
  raw.on('error', fail).on('close', () => raw.complete || fail());
  if (raw.errored && !raw.complete) fail();
  raw.on('timeout', (cause: unknown) => (cause === deadlinePassed ? onDeadline() : refuse(tooSlow())));
}

const tooSlow = () => new PoproomError('VALIDATION_FAILED', tookTooLong);

/** A large upload takes longer than other requests. After their deadline it may go on while it is this fast. */
const slowestUpload = 8 * 1024;
const rateCheckMs = 60_000;

/** For uploads. Aborts with the same reasons. */
export function abortSignalOf(raw: IncomingMessage): AbortSignal {
  const aborter = new AbortController();
  const { socket } = raw;
  const abort = (reason: PoproomError) => aborter.abort(reason);
  onAborted(raw, abort, () => {
    let before = 0;
    const checkRate = () => {
      if (socket.bytesRead - before < (slowestUpload * rateCheckMs) / 1000) abort(tooSlow());
      before = socket.bytesRead;
    };
    const timer = setInterval(checkRate, rateCheckMs);
    const stop = () => clearInterval(timer);
    raw.once('close', stop);
    aborter.signal.addEventListener('abort', stop);
    checkRate();
  });
  return aborter.signal;
}
