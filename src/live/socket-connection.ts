/** One WebSocket: hands its messages to a session, one after the other, and carries what the session sends. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { ClientLog } from '../core/client-log.ts';
import { PoproomError } from '../core/errors.ts';
import type { Upgrade } from '../core/live-door.ts';
import type { MemoryBudget } from '../core/memory-budget.ts';
import type { Turns } from '../core/turns.ts';
import type { ClientMessage } from '../protocol/types.ts';
import { closeCodeFor, closeCodeOf, policy, tooFast } from './close-codes.ts';
import { frameOf } from './frame.ts';
import type { Hub } from './hub.ts';
import { MessageBudget } from './message-budget.ts';
import type { ParseMessage } from './parse-message.ts';
import type { Session } from './session.ts';
import { type Outgoing, outgoing, type Wire } from './wire.ts';

const joinWithinMs = 5_000;
const transport = 'websocket';
/** Bytes of messages that are read while another is being handled; the rest waits at the sender. */
const maxWaitingBytes = 256 * 1024;
/** Of the first message. */
const maxJoinBytes = 4 * 1024;
/** A message whose bytes stop for so long, or that takes so long in all, is not waited for. */
const maxPauseMs = 10_000;
const maxReceiveMs = 5 * 60_000;
/** A connection may hold this much without being counted: it is about what the system reads in one go. */
const uncountedBytes = 64 * 1024;
const maxInvalid = 5;

/** The same for all connections. */
export interface SocketDeps {
  hub: Hub;
  parse: ParseMessage;
  memory: MemoryBudget;
  turns: Turns;
  clientLog: ClientLog;
  /** Connections in the middle of a message. */
  receiving: Set<SocketConnection>;
  /** Connections that have not joined yet. */
  guests: Set<SocketConnection>;
}

/** Who is at the other end, and which room it came for. */
export type Guest = Pick<Upgrade, 'client' | 'roomId' | 'linkBase' | 'linkTo' | 'resumeToken'>;

/** A message of which only some bytes have come. */
interface PartialMessage {
  bytes: number;
  since: number;
  lastByteAt: number;
}

/** A class, with no function of its own for each socket: ten closures were a sixth of the memory of an idle channel. */
export class SocketConnection implements Wire {
  readonly client: Guest['client'];
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #deps: SocketDeps;
  readonly #budget = new MessageBudget(performance.now());
  /** Until it joins. */
  #guest: Guest | undefined;
  #joinTimer: NodeJS.Timeout | undefined;
  #session: Session | undefined;
  /** Messages are handled in the order they came. The budget bounds how many can wait, and this class how large they are. */
  #lastHandled = Promise.resolve();
  #waitingBytes = 0;
  #partial: PartialMessage | undefined;
  /** Counted in the memory budget. */
  #heldBytes = 0;
  /** Messages in a row. */
  #invalid = 0;

  constructor(socket: WebSocket, stream: Duplex, guest: Guest, deps: SocketDeps) {
    this.client = guest.client;
    this.#socket = socket;
    this.#stream = stream;
    this.#guest = guest;
    this.#deps = deps;
    this.#joinTimer = setTimeout(() => socket.close(policy, 'No join within 5 seconds.'), joinWithinMs);
    deps.guests.add(this);
  }

  /** Bytes came in; what they are a part of may follow. */
  onBytes(count: number): void {
    const now = performance.now();
    if (!this.#partial) this.#deps.receiving.add(this);
    this.#partial ??= { bytes: 0, since: now, lastByteAt: now };
    this.#partial.bytes += count;
    this.#partial.lastByteAt = now;
    if (!this.#hold()) this.#closeUnread(closeCodeOf('UNAVAILABLE'), 'Too much data is being sent; try again.');
  }

  onMessage(data: Buffer, isBinary: boolean): void {
    this.#session?.onAlive();
    this.#endPartial();
    if (!this.#budget.spend(performance.now())) {
      this.close(tooFast, 'Too many messages: at most 20 a second.');
    } else if (data.length > maxJoinBytes && this.#isFirst) {
      this.close(closeCodeOf('CONTENT_TOO_LARGE'), 'The first message has at most 4 KiB.');
    } else this.#enqueue(data, isBinary);
  }

  onPing(): void {
    this.#endPartial();
    if (!this.#budget.spend(performance.now())) this.close(tooFast, 'Too many pings.');
  }

  onPong(): void {
    this.#session?.onAlive();
    this.#endPartial();
    if (!this.#budget.spend(performance.now())) this.close(tooFast, 'Too many pongs.');
  }

  onClose(): void {
    this.#endJoining();
    this.#endPartial();
    this.#release();
    if (!this.#session) return;
    this.#session.leave();
    this.#deps.clientLog.debug(this.client, { transport }, 'live channel closed');
  }

  /** A message that never ends would be held forever. */
  checkDeadline(now: number): void {
    if (!this.#partial) return;
    const { since, lastByteAt } = this.#partial;
    const isStalled = now - lastByteAt > maxPauseMs || now - since > maxReceiveMs;
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
    if (this.#isOpen) this.#stream.write(frameOf(message));
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

  #endPartial(): void {
    this.#partial = undefined;
    this.#deps.receiving.delete(this);
  }

  /** Counts what this connection holds. False where that is too much. */
  #hold(): boolean {
    const partialBytes = this.#partial?.bytes ?? 0;
    if (this.#isFirst && partialBytes > maxJoinBytes + uncountedBytes) return false;
    const bytes = partialBytes + this.#waitingBytes;
    const more = (bytes > uncountedBytes ? bytes : 0) - this.#heldBytes;
    if (more > 0 && !this.#deps.memory.take(this.client, more)) return false;
    if (more < 0) this.#deps.memory.release(this.client, -more);
    this.#heldBytes += more;
    return true;
  }

  #release(): void {
    if (this.#heldBytes > 0) this.#deps.memory.release(this.client, this.#heldBytes);
    this.#heldBytes = 0;
  }

  #enqueue(data: Buffer, isBinary: boolean): void {
    this.#waitingBytes += data.length;
    if (this.#waitingBytes > maxWaitingBytes) this.#socket.pause();
    this.#lastHandled = this.#lastHandled.then(() => this.#handle(data, isBinary));
  }

  async #handle(data: Buffer, isBinary: boolean): Promise<void> {
    if (this.#isOpen) await this.#inTurn(data, isBinary).catch((error) => this.#refuse(error));
    this.#waitingBytes -= data.length;
    if (this.#isOpen) this.#hold();
    if (this.#socket.isPaused && this.#waitingBytes <= maxWaitingBytes) this.#socket.resume();
  }

  #inTurn(data: Buffer, isBinary: boolean): Promise<void> {
    return this.#deps.turns.run(this.client, data.length, () => this.#dispatch(data, isBinary));
  }

  async #dispatch(data: Buffer, isBinary: boolean): Promise<void> {
    if (!this.#isOpen) return;
    const parsed = await this.#deps.parse(data, isBinary);
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
