/** A WebSocket connection: passes its messages to a session in sequence, and sends the session's messages. */
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { ClientLog } from '../core/clients.ts';
import { freeBuffer } from '../core/defence/garbage.ts';
import { TokenBucket, type Turns } from '../core/defence/work.ts';
import { PoproomError } from '../core/errors.ts';
import type { LiveMeter, Upgrade } from '../core/live-gateway.ts';
import type { ClientId, MaybePromise } from '../core/ports/basics.ts';
import type { ClientMessage } from '../protocol/types.ts';
import type { Hub } from './hub.ts';
import type { Session } from './session.ts';
import {
  closeCodeOf,
  errorMessageOf,
  frameOf,
  type Outgoing,
  outgoing,
  type ParseMessage,
  policyViolation,
  tooFast,
  type Wire,
} from './wire.ts';

/** Messages of a channel. */
const messageRate = { burst: 40, perSecond: 20 };

const joinWithinMs = 5_000;
const transport = 'websocket';
/** Bytes of messages that are read while another is being handled. The rest stays with the sender. */
const maxWaitingBytes = 64 * 1024;
/** The maximum size of the first message. */
const maxJoinBytes = 4 * 1024;
/** A message that pauses or takes longer than this ends the connection. */
const maxPauseMs = 10_000;
const maxReceiveMs = 5 * 60_000;
/** The rest of a longer message needs a slot. A socket is read in chunks of this size. */
const slotFromBytes = 64 * 1024;
/** The header of a client's ping or pong, including the mask. */
const controlHeadBytes = 6;
const maxInvalid = 5;
/** Shorter messages are copied into one buffer, because the kernel takes it faster than many small ones. */
const maxCopiedBytes = 16 * 1024;

/** Shared by all connections. */
export interface SocketDeps {
  hub: Hub;
  parse: ParseMessage;
  slots: ReceiveSlots;
  turns: Turns;
  clientLog: ClientLog;
  meter: LiveMeter;
  /** Connections with an incomplete message. */
  receiving: Set<SocketConnection>;
  /** Connections that have not joined yet. */
  guests: Set<SocketConnection>;
}

/** A client, and the room that it wants to join. */
export type JoiningClient = Pick<Upgrade, 'client' | 'roomId' | 'linkBase' | 'linkTo' | 'resumeToken'>;

/** A message that has not been received completely, in chunks as read from the socket. */
type PartialMessage = { bytes: number; chunks: Buffer[]; since: number; lastByteAt: number };

/** A class without per-socket closures: ten of them were a sixth of the memory of an idle channel. */
export class SocketConnection implements Wire, Receiver {
  readonly client: JoiningClient['client'];
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #deps: SocketDeps;
  readonly #budget = new TokenBucket(messageRate);
  /** Set until it joins. */
  #guest: JoiningClient | undefined;
  #joinTimer: NodeJS.Timeout | undefined;
  #session: Session | undefined;
  /** In whole seconds, which use less memory. */
  #joinedAt = 0;
  /** Messages are handled in order. The budget limits how many can wait, and this class their size. */
  #lastHandled = Promise.resolve();
  #waitingBytes = 0;
  #partial: PartialMessage | undefined;
  #isWaitingForSlot = false;
  /** Consecutive invalid messages. */
  #invalid = 0;

  constructor(socket: WebSocket, stream: Duplex, guest: JoiningClient, deps: SocketDeps) {
    this.client = guest.client;
    this.#socket = socket;
    this.#stream = stream;
    this.#guest = guest;
    this.#deps = deps;
    this.#joinTimer = setTimeout(
      () => socket.close(policyViolation, 'No join received within 5 seconds.'),
      joinWithinMs,
    );
    deps.guests.add(this);
  }

  /** Called before `ws` parses the bytes, which may be part of a message. */
  onBytes(chunk: Buffer): void {
    const now = performance.now();
    if (!this.#partial) this.#deps.receiving.add(this);
    this.#partial ??= { bytes: 0, chunks: [], since: now, lastByteAt: now };
    this.#partial.bytes += chunk.length;
    this.#partial.chunks.push(chunk);
    this.#partial.lastByteAt = now;
    if (!this.#isLongPartial) return;
    if (this.#isFirst) this.#refuseFirst();
    else if (this.#deps.slots.take(this)) return;
    else this.#isWaitingForSlot = true;
    // `ws` would continue to collect the message. Pauses the WebSocket, not the stream, which `ws` would resume.
    this.#socket.pause();
  }

  onSlot(): void {
    this.#isWaitingForSlot = false;
    if (this.#partial) this.#partial.lastByteAt = performance.now();
    if (this.#socket.isPaused) this.#socket.resume();
  }

  onMessage(data: Buffer, isBinary: boolean): void {
    this.#session?.onAlive();
    // `ws` copies a message of several chunks. The last chunk may contain the start of the next message.
    if (data.length > slotFromBytes) for (const chunk of this.#partial?.chunks.slice(0, -1) ?? []) freeBuffer(chunk);
    this.#endPartial();
    if (!this.#budget.take(performance.now())) this.#refuseMore('Too many messages. The limit is 20 per second.');
    else if (data.length > maxJoinBytes && this.#isFirst) this.#refuseFirst();
    else this.#enqueue(data, isBinary);
  }

  /** Pings and pongs may arrive between the fragments of a message, which then continues. */
  onControl(kind: 'pings' | 'pongs', { length }: Buffer): void {
    if (kind === 'pongs') this.#session?.onAlive();
    if (this.#partial) {
      this.#partial.bytes -= controlHeadBytes + length;
      if (this.#partial.bytes <= 0) this.#endPartial();
    }
    if (!this.#budget.take(performance.now())) this.#refuseMore(`Too many ${kind}.`);
  }

  onClose(): void {
    this.#endJoining();
    for (const chunk of this.#partial?.chunks ?? []) freeBuffer(chunk);
    this.#endPartial();
    this.#deps.slots.release(this);
    if (this.#session) this.#onSessionClosed(this.#session);
  }

  /** Ends connections whose message does not arrive in time. */
  checkDeadline(now: number): void {
    if (!this.#partial) return;
    const { since, lastByteAt } = this.#partial;
    // While it waits, its pongs are not read either.
    if (this.#isWaitingForSlot) this.#session?.onAlive();
    const isStalled = (now - lastByteAt > maxPauseMs && !this.#isWaitingForSlot) || now - since > maxReceiveMs;
    // No close handshake: the peer's close frame would be part of its message.
    if (isStalled) this.#socket.terminate();
  }

  get answersPings(): boolean {
    return true;
  }

  backlog(): number {
    return this.#socket.bufferedAmount;
  }

  send(messages: readonly Outgoing[]): void {
    if (!this.#isOpen || messages.length === 0) return;
    const parts = messages.length === 1 ? frameOf(messages[0] as Outgoing) : joined(messages);
    if (parts.length === 1) return void this.#stream.write(parts[0]);
    this.#stream.cork();
    for (const part of parts) this.#stream.write(part);
    this.#stream.uncork();
  }

  ping(message: Outgoing | undefined): void {
    // One write instead of two: these are most of the cost of ten thousand idle channels.
    this.#stream.cork();
    this.#socket.ping();
    if (message) this.send([message]);
    this.#stream.uncork();
  }

  close(code: number, reason: string): void {
    if (code === tooFast && this.#isOpen) this.#logRefusal('TOO_FAST');
    this.#socket.close(code, cut(reason));
  }

  get #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  get #isFirst(): boolean {
    return this.#guest !== undefined && this.#waitingBytes === 0;
  }

  get #isLongPartial(): boolean {
    return this.#partial !== undefined && this.#partial.bytes > slotFromBytes;
  }

  #endPartial(): void {
    this.#partial = undefined;
    this.#deps.receiving.delete(this);
  }

  #enqueue(data: Buffer, isBinary: boolean): void {
    const isNext = this.#waitingBytes === 0;
    this.#waitingBytes += sizeOf(data);
    if (this.#waitingBytes > maxWaitingBytes) this.#socket.pause();
    const arrivedAt = performance.now();
    const handle = () => this.#handle(data, isBinary, arrivedAt);
    this.#lastHandled = isNext ? handle() : this.#lastHandled.then(handle);
  }

  async #handle(data: Buffer, isBinary: boolean, arrivedAt: number): Promise<void> {
    const bytes = sizeOf(data);
    try {
      if (this.#isOpen) await this.#inTurn(data, isBinary, arrivedAt);
    } catch (error) {
      this.#refuse(error);
    }
    this.#waitingBytes -= bytes;
    // A burst must not keep the event loop from the connections of others.
    if (this.#waitingBytes > 0) await nextTurn();
    if (this.#waitingBytes > maxWaitingBytes || this.#isWaitingForSlot) return;
    if (!this.#isLongPartial) this.#deps.slots.release(this);
    if (this.#socket.isPaused) this.#socket.resume();
  }

  async #inTurn(data: Buffer, isBinary: boolean, arrivedAt: number): Promise<void> {
    const { turns } = this.#deps;
    const admitted = turns.budget.admit(this.client);
    // The message is parsed in any case: a client recognizes the refusal of its edit by the `ref`.
    const refusal = admitted instanceof Promise ? await admitted.catch((error: PoproomError) => error) : undefined;
    return turns.run(this.client, data.length, () => this.#dispatch(data, isBinary, arrivedAt, refusal));
  }

  async #dispatch(data: Buffer, isBinary: boolean, arrivedAt: number, refusal?: PoproomError): Promise<void> {
    if (!this.#isOpen) return;
    const { parse, turns } = this.#deps;
    const parsing = parse(data, isBinary, (work) => turns.budget.measure(this.client, work));
    // Awaiting is slower, and parsing a small message is synchronous.
    const parsed = parsing instanceof Promise ? await parsing : parsing;
    freeBuffer(data);
    try {
      if (parsed.problem) this.#onInvalid(parsed.problem, parsed.ref);
      else if (refusal) this.#refuse(refusal, 'ref' in parsed.message ? parsed.message.ref : undefined);
      else await this.#onValid(parsed.message);
    } finally {
      const type = parsed.problem ? 'invalid' : parsed.message.type;
      this.#deps.meter.handled(type, (performance.now() - arrivedAt) / 1000);
    }
  }

  #onValid(message: ClientMessage): MaybePromise<void> {
    this.#invalid = 0;
    return this.#session ? this.#session.receive(message) : this.#join(message);
  }

  #onInvalid(problem: PoproomError, ref: string | undefined): void {
    this.#invalid += 1;
    this.#refuse(problem, ref);
    if (this.#invalid >= maxInvalid) this.close(policyViolation, 'Too many invalid messages.');
  }

  async #join(message: ClientMessage): Promise<void> {
    const guest = this.#guest;
    if (message.type !== 'join' || !guest)
      throw new PoproomError('VALIDATION_FAILED', 'The first message must be a join.');
    clearTimeout(this.#joinTimer);
    const { pin, auth, deviceId, deviceName, deviceColor, seq, edits = false, version, timestamp } = message;
    const { client, roomId, ...ofGuest } = guest;
    const caller = { client, roomId, pin, auth, deviceId };
    const wishes = { deviceColor, edits, deviceChanges: message.deviceChanges, carets: message.carets };
    const request = { caller, deviceName, seq, version, timestamp, ...wishes, ...ofGuest };
    if (message.diverged) this.#deps.meter.diverged();
    this.#session = await this.#deps.hub.join(this, request);
    this.#endJoining();
    this.#joinedAt = wholeSeconds();
    this.#deps.meter.opened(transport);
    this.#deps.clientLog.debug(client, { transport }, 'live channel joined');
    // The socket may have been closed while it joined.
    if (this.#socket.readyState === this.#socket.CLOSED) this.#onSessionClosed(this.#session);
    else if (!this.#isOpen) this.#session.leave();
  }

  #onSessionClosed(session: Session): void {
    session.leave();
    this.#deps.meter.closed(transport, session.leaveReason, wholeSeconds() - this.#joinedAt);
    this.#deps.clientLog.debug(this.client, { transport }, 'live channel closed');
  }

  #endJoining(): void {
    clearTimeout(this.#joinTimer);
    this.#joinTimer = undefined;
    this.#guest = undefined;
    this.#deps.guests.delete(this);
  }

  #refuse(error: unknown, ref?: string): void {
    if (this.#session) this.#session.refuse(error, ref === undefined ? {} : { ref });
    else this.#reject(error);
  }

  /** Sends the reason and closes with the matching code. */
  #reject(error: unknown): void {
    const refusal = errorMessageOf(error);
    const { code, message } = refusal.error;
    this.send([outgoing(refusal)]);
    this.#deps.meter.refused(error);
    this.#logRefusal(code);
    this.#socket.close(closeCodeOf(code), cut(message));
  }

  #refuseFirst(): void {
    this.close(closeCodeOf('CONTENT_TOO_LARGE'), 'The first message exceeds the limit of 4 KiB.');
  }

  #refuseMore(message: string): void {
    if (this.#isOpen)
      this.#deps.meter.refused(new PoproomError('RATE_LIMITED', message, { details: { reason: 'messages' } }));
    this.close(tooFast, message);
  }

  #logRefusal(code: string): void {
    const { client } = this;
    this.#deps.clientLog.refused({ client, code, fields: { transport }, message: 'live channel refused' });
  }
}

function joined(messages: readonly Outgoing[]): readonly Uint8Array[] {
  const parts = messages.flatMap(frameOf);
  const bytes = messages.reduce((sum, message) => sum + message.bytes, 0);
  return bytes > maxCopiedBytes ? parts : [Buffer.concat(parts)];
}

/** An empty message waits too. */
const sizeOf = ({ length }: Buffer) => length || 1;

const wholeSeconds = () => Math.trunc(performance.now() / 1000);

/** A close frame has space for 123 bytes. */
const cut = (reason: string): string =>
  Buffer.from(reason)
    .subarray(0, 123)
    .toString()
    .replace(/\uFFFD+$/, '');

/** Of connections that receive a large message. */
const maxPerClient = 2;
const maxTotal = 6;

interface Receiver {
  client: ClientId;
  /** Called when a waiting receiver gets its slot. */
  onSlot(): void;
}

/**
 * Limits how many large messages are received at the same time. The server does not read from a connection without a
 * slot, so that the rest of its message stays with the sender and takes no memory here.
 */
export class ReceiveSlots {
  readonly #holders = new Set<Receiver>();
  /** In order of arrival. */
  readonly #waiting = new Set<Receiver>();

  /** Whether the receiver has a slot. If not, it is queued. */
  take(receiver: Receiver): boolean {
    if (this.#holders.has(receiver)) return true;
    const isFree = this.#isFreeFor(receiver);
    (isFree ? this.#holders : this.#waiting).add(receiver);
    return isFree;
  }

  /** Works for a receiver that has a slot, waits for one, or neither. */
  release(receiver: Receiver): void {
    this.#waiting.delete(receiver);
    if (!this.#holders.delete(receiver)) return;
    const next = this.#waiting.values().find((other) => this.#isFreeFor(other));
    if (!next) return;
    this.#waiting.delete(next);
    this.#holders.add(next);
    next.onSlot();
  }

  #isFreeFor({ client }: Receiver): boolean {
    const ofClient = this.#holders.values().filter((holder) => holder.client === client);
    return this.#holders.size < maxTotal && ofClient.toArray().length < maxPerClient;
  }
}
