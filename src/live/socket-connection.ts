/** One WebSocket: hands its messages to a session, one after the other, and carries what the session sends. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { PoproomError } from '../core/errors.ts';
import type { Upgrade } from '../core/live-door.ts';
import type { ClientMessage } from '../protocol/types.ts';
import { closeCodeFor, closeCodeOf, policy, tooFast } from './close-codes.ts';
import { frameOf } from './frame.ts';
import type { Hub } from './hub.ts';
import { MessageBudget } from './message-budget.ts';
import type { ParseMessage } from './parse-message.ts';
import type { Session } from './session.ts';
import { type Outgoing, outgoing, type Wire } from './wire.ts';

const joinWithinMs = 5_000;
/** Bytes of messages that are read while another is being handled; the rest waits at the sender. */
const maxWaitingBytes = 256 * 1024;

/** The same for all connections. */
export interface SocketDeps {
  hub: Hub;
  parse: ParseMessage;
  /** Connections that have not joined yet. */
  guests: Set<SocketConnection>;
}

/** Who is at the other end, and which room it came for. */
export type Guest = Pick<Upgrade, 'client' | 'roomId' | 'linkBase' | 'linkTo'>;

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

  constructor(socket: WebSocket, stream: Duplex, guest: Guest, deps: SocketDeps) {
    this.client = guest.client;
    this.#socket = socket;
    this.#stream = stream;
    this.#guest = guest;
    this.#deps = deps;
    this.#joinTimer = setTimeout(() => socket.close(policy, 'No join within 5 seconds.'), joinWithinMs);
    deps.guests.add(this);
  }

  onMessage(data: Buffer, isBinary: boolean): void {
    this.#session?.onAlive();
    if (this.#budget.spend(performance.now())) this.#enqueue(data, isBinary);
    else this.#socket.close(tooFast, 'Too many messages: at most 20 a second.');
  }

  onPing(): void {
    if (!this.#budget.spend(performance.now())) this.#socket.close(tooFast, 'Too many pings.');
  }

  onPong(): void {
    this.#session?.onAlive();
  }

  onClose(): void {
    this.#endJoining();
    this.#session?.leave();
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
    this.#socket.close(code, cut(reason));
  }

  /** For one that has not joined; the others are closed by their session. */
  shutDown(): void {
    this.close(closeCodeFor.shutdown, 'shutdown');
  }

  get #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  #enqueue(data: Buffer, isBinary: boolean): void {
    this.#waitingBytes += data.length;
    if (this.#waitingBytes > maxWaitingBytes) this.#socket.pause();
    this.#lastHandled = this.#lastHandled.then(() => this.#handle(data, isBinary));
  }

  async #handle(data: Buffer, isBinary: boolean): Promise<void> {
    if (this.#isOpen) await this.#dispatch(data, isBinary).catch((error) => this.#refuse(error));
    this.#waitingBytes -= data.length;
    if (this.#socket.isPaused && this.#waitingBytes <= maxWaitingBytes) this.#socket.resume();
  }

  async #dispatch(data: Buffer, isBinary: boolean): Promise<void> {
    const parsed = await this.#deps.parse(data, isBinary);
    if (parsed.problem) this.#refuse(parsed.problem, parsed.ref);
    else if (this.#session) await this.#session.receive(parsed.message);
    else await this.#join(parsed.message);
  }

  async #join(message: ClientMessage): Promise<void> {
    const guest = this.#guest;
    if (message.type !== 'join' || !guest) {
      throw new PoproomError('VALIDATION_FAILED', 'The first message must be join.');
    }
    clearTimeout(this.#joinTimer);
    const { pin, deviceId, deviceName, seq, edits = false, version, timestamp } = message;
    const { client, roomId, linkBase, linkTo } = guest;
    const caller = { client, roomId, pin, deviceId };
    const visitor = { caller, deviceName, seq, edits, version, timestamp, linkBase, linkTo };
    this.#session = await this.#deps.hub.join(this, visitor);
    this.#endJoining();
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
    this.close(closeCodeOf(code), message);
  }
}

/** A close frame has room for 123 bytes. */
const cut = (reason: string): string =>
  Buffer.from(reason)
    .subarray(0, 123)
    .toString()
    .replace(/\uFFFD+$/, '');
