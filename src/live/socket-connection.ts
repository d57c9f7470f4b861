/** One WebSocket: hands its messages to a session, one after the other, and carries what the session sends. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { ClientLog } from '../core/client-log.ts';
import { PoproomError } from '../core/errors.ts';
import { freeBuffer } from '../core/garbage.ts';
import type { Upgrade } from '../core/live-gateway.ts';
import type { Turns } from '../core/turns.ts';
import type { ClientMessage } from '../protocol/types.ts';
import { closeCodeFor, closeCodeOf, policy, tooFast } from './close-codes.ts';
import { frameOf } from './frame.ts';
import type { Hub } from './hub.ts';
import { MessageBudget } from './message-budget.ts';
import type { ParseMessage } from './parse-message.ts';
import type { Receiver, ReceiveSlots } from './receive-slots.ts';
import type { Session } from './session.ts';
import { type Outgoing, outgoing, type Wire } from './wire.ts';

const joinWithinMs = 5_000;
const transport = 'websocket';
/** Bytes of messages that are read while another is being handled; the rest waits at the sender. */
const maxWaitingBytes = 64 * 1024;
/** Of the first message. */
const maxJoinBytes = 4 * 1024;
/** A message whose bytes stop for so long, or that takes so long in all, is not waited for. */
const maxPauseMs = 10_000;
const maxReceiveMs = 5 * 60_000;
/** The rest of a longer message is received in a slot. This much is read from a socket in one go. */
const slotFromBytes = 64 * 1024;
/** Of a client's ping or pong, mask included. */
const controlHeadBytes = 6;
const maxInvalid = 5;
const longFirst = 'The first message has at most 4 KiB.';

/** The same for all connections. */
export interface SocketDeps {
  hub: Hub;
  parse: ParseMessage;
  slots: ReceiveSlots;
  turns: Turns;
  clientLog: ClientLog;
  /** Connections in the middle of a message. */
  receiving: Set<SocketConnection>;
  /** Connections that have not joined yet. */
  guests: Set<SocketConnection>;
}

/** Who is at the other end, and which room it came for. */
export type JoiningClient = Pick<Upgrade, 'client' | 'roomId' | 'linkBase' | 'linkTo' | 'resumeToken'>;

/** A message of which only some bytes have come. */
interface PartialMessage {
  bytes: number;
  /** As they were read. */
  chunks: Buffer[];
  since: number;
  lastByteAt: number;
}

/** A class, with no function of its own for each socket: ten closures were a sixth of the memory of an idle channel. */
export class SocketConnection implements Wire, Receiver {
  readonly client: JoiningClient['client'];
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #deps: SocketDeps;
  readonly #budget = new MessageBudget(performance.now());
  /** Until it joins. */
  #guest: JoiningClient | undefined;
  #joinTimer: NodeJS.Timeout | undefined;
  #session: Session | undefined;
  /** Messages are handled in the order they came. The budget bounds how many can wait, and this class how large they are. */
  #lastHandled = Promise.resolve();
  #waitingBytes = 0;
  #partial: PartialMessage | undefined;
  #isWaitingForSlot = false;
  /** Messages in a row. */
  #invalid = 0;

  constructor(socket: WebSocket, stream: Duplex, guest: JoiningClient, deps: SocketDeps) {
    this.client = guest.client;
    this.#socket = socket;
    this.#stream = stream;
    this.#guest = guest;
    this.#deps = deps;
    this.#joinTimer = setTimeout(() => socket.close(policy, 'No join within 5 seconds.'), joinWithinMs);
    deps.guests.add(this);
  }

  /** Bytes came in; what they are a part of may follow. */
  onBytes(chunk: Buffer): void {
    const now = performance.now();
    if (!this.#partial) this.#deps.receiving.add(this);
    this.#partial ??= { bytes: 0, chunks: [], since: now, lastByteAt: now };
    this.#partial.bytes += chunk.length;
    this.#partial.chunks.push(chunk);
    this.#partial.lastByteAt = now;
    if (!this.#isLongPartial) return;
    if (this.#isFirst) this.#closeUnread(closeCodeOf('CONTENT_TOO_LARGE'), longFirst);
    else if (!this.#deps.slots.take(this)) this.#waitForSlot();
  }

  onSlot(): void {
    this.#isWaitingForSlot = false;
    if (this.#partial) this.#partial.lastByteAt = performance.now();
    if (this.#socket.isPaused) this.#socket.resume();
  }

  onMessage(data: Buffer, isBinary: boolean): void {
    this.#session?.onAlive();
    this.#freeCopied(data.length);
    this.#endPartial();
    if (!this.#budget.spend(performance.now())) {
      this.close(tooFast, 'Too many messages: at most 20 a second.');
    } else if (data.length > maxJoinBytes && this.#isFirst) {
      this.close(closeCodeOf('CONTENT_TOO_LARGE'), longFirst);
    } else this.#enqueue(data, isBinary);
  }

  onPing(data: Buffer): void {
    this.#endControl(data.length);
    if (!this.#budget.spend(performance.now())) this.close(tooFast, 'Too many pings.');
  }

  onPong(data: Buffer): void {
    this.#session?.onAlive();
    this.#endControl(data.length);
    if (!this.#budget.spend(performance.now())) this.close(tooFast, 'Too many pongs.');
  }

  onClose(): void {
    this.#endJoining();
    for (const chunk of this.#partial?.chunks ?? []) freeBuffer(chunk);
    this.#endPartial();
    this.#deps.slots.release(this);
    if (!this.#session) return;
    this.#session.leave();
    this.#deps.clientLog.debug(this.client, { transport }, 'live channel closed');
  }

  /** A message that never ends would be held forever. */
  checkDeadline(now: number): void {
    if (!this.#partial) return;
    const { since, lastByteAt } = this.#partial;
    // Its pongs are not read either.
    if (this.#isWaitingForSlot) this.#session?.onAlive();
    const isStalled = (now - lastByteAt > maxPauseMs && !this.#isWaitingForSlot) || now - since > maxReceiveMs;
    // Not closed in the usual way: the peer's answer would be a part of its message.
    if (isStalled) this.#socket.terminate();
  }

  get answersPings(): boolean {
    return true;
  }

  backlog(): number {
    return this.#socket.bufferedAmount;
  }

  send(message: Outgoing): void {
    if (!this.#isOpen) return;
    const parts = frameOf(message);
    if (parts.length === 1) {
      this.#stream.write(parts[0]);
      return;
    }
    this.#stream.cork();
    for (const part of parts) this.#stream.write(part);
    this.#stream.uncork();
  }

  ping(message: Outgoing | undefined): void {
    // Ten thousand idle channels cost little else than these writes.
    this.#stream.cork();
    this.#socket.ping();
    if (message) this.send(message);
    this.#stream.uncork();
  }

  close(code: number, reason: string): void {
    if (code === tooFast && this.#isOpen) this.#logRefusal('TOO_FAST');
    this.#socket.close(code, cut(reason));
  }

  /** For one that has not joined; the others are closed by their session. */
  shutDown(): void {
    this.close(closeCodeFor.shutdown, 'shutdown');
  }

  get #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** In the middle of a message: `ws` would go on collecting it until the other side has answered. */
  #closeUnread(code: number, reason: string): void {
    this.close(code, reason);
    // Of the WebSocket and not of the stream, which `ws` would resume.
    this.#socket.pause();
  }

  get #isFirst(): boolean {
    return this.#guest !== undefined && this.#waitingBytes === 0;
  }

  get #isLongPartial(): boolean {
    return this.#partial !== undefined && this.#partial.bytes > slotFromBytes;
  }

  #waitForSlot(): void {
    this.#isWaitingForSlot = true;
    this.#socket.pause();
  }

  /** A message of several chunks was copied from them. The last one may hold the beginning of the next message. */
  #freeCopied(messageBytes: number): void {
    if (messageBytes <= slotFromBytes) return;
    for (const chunk of this.#partial?.chunks.slice(0, -1) ?? []) freeBuffer(chunk);
  }

  /** Pings and pongs may come between the fragments of a message, which goes on then. */
  #endControl(payloadBytes: number): void {
    if (!this.#partial) return;
    this.#partial.bytes -= controlHeadBytes + payloadBytes;
    if (this.#partial.bytes <= 0) this.#endPartial();
  }

  #endPartial(): void {
    this.#partial = undefined;
    this.#deps.receiving.delete(this);
  }

  #enqueue(data: Buffer, isBinary: boolean): void {
    this.#waitingBytes += data.length;
    if (this.#waitingBytes > maxWaitingBytes) this.#socket.pause();
    this.#lastHandled = this.#lastHandled.then(() => this.#handle(data, isBinary));
  }

  async #handle(data: Buffer, isBinary: boolean): Promise<void> {
    const bytes = data.length;
    if (this.#isOpen) await this.#inTurn(data, isBinary).catch((error) => this.#refuse(error));
    this.#waitingBytes -= bytes;
    if (this.#waitingBytes > maxWaitingBytes || this.#isWaitingForSlot) return;
    if (!this.#isLongPartial) this.#deps.slots.release(this);
    if (this.#socket.isPaused) this.#socket.resume();
  }

  #inTurn(data: Buffer, isBinary: boolean): Promise<void> {
    return this.#deps.turns.run(this.client, data.length, () => this.#dispatch(data, isBinary));
  }

  async #dispatch(data: Buffer, isBinary: boolean): Promise<void> {
    if (!this.#isOpen) return;
    const parsed = await this.#deps.parse(data, isBinary);
    freeBuffer(data);
    if (parsed.problem) {
      this.#onInvalid(parsed.problem, parsed.ref);
      return;
    }
    this.#invalid = 0;
    if (this.#session) await this.#session.receive(parsed.message);
    else await this.#join(parsed.message);
  }

  #onInvalid(problem: PoproomError, ref: string | undefined): void {
    this.#invalid += 1;
    this.#refuse(problem, ref);
    if (this.#invalid >= maxInvalid) this.close(policy, 'Too many invalid messages.');
  }

  async #join(message: ClientMessage): Promise<void> {
    const guest = this.#guest;
    if (message.type !== 'join' || !guest) {
      throw new PoproomError('VALIDATION_FAILED', 'The first message must be join.');
    }
    clearTimeout(this.#joinTimer);
    const { pin, deviceId, deviceName, seq, edits = false, version, timestamp } = message;
    const { client, roomId, ...ofGuest } = guest;
    const caller = { client, roomId, pin, deviceId };
    const visitor = { caller, deviceName, seq, edits, version, timestamp, ...ofGuest };
    this.#session = await this.#deps.hub.join(this, visitor);
    this.#endJoining();
    this.#deps.clientLog.debug(client, { transport }, 'live channel joined');
    if (!this.#isOpen) this.#session.leave();
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

  /** Who could not join learns why, in words and as a code. */
  #reject(error: unknown): void {
    const known = error instanceof PoproomError ? error : new PoproomError('INTERNAL', 'Something went wrong.');
    const { code, message, details } = known;
    this.send(outgoing({ type: 'error', error: { code, message, ...(details && { details }) } }));
    this.#logRefusal(code);
    this.#socket.close(closeCodeOf(code), cut(message));
  }

  #logRefusal(code: string): void {
    const { client } = this;
    this.#deps.clientLog.refused({ client, code, fields: { transport }, message: 'live channel refused' });
  }
}

/** A close frame has room for 123 bytes. */
const cut = (reason: string): string =>
  Buffer.from(reason)
    .subarray(0, 123)
    .toString()
    .replace(/\uFFFD+$/, '');
