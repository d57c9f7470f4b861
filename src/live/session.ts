/** One device's stay in a room, whatever carries it. */
import { PoproomError } from '../core/errors.ts';
import type { FileAddresses } from '../core/live-door.ts';
import type { Channel, Content } from '../core/ports.ts';
import type { Rooms } from '../core/rooms.ts';
import type { ClientMessage, Closed, ServerMessage, WriteText } from '../protocol/types.ts';
import { closeCodeFor, closeCodeOf, policy, tooFast } from './close-codes.ts';
import type { Prepared, RoomFeed } from './room-feed.ts';
import { changes, devicesOf, iso, type RoomView, snapshotOf, textOf } from './room-view.ts';
import { type Outgoing, outgoing, type Wire } from './wire.ts';

/** A reader that has this much waiting gets no more until it has taken it: then the newest, not a queue. */
const busyAbove = 64 * 1024;
const slowAbove = 1024 * 1024;

export interface SessionParts extends FileAddresses {
  wire: Wire;
  feed: RoomFeed;
  channel: Channel;
  rooms: Rooms;
  /** How long it may have too much waiting. */
  slowForMs: number;
  /** Told once, when the stay is over. */
  left: () => void;
  /** Told when more is waiting than the other side takes; from then on it has to catch up. */
  fellBehind: () => void;
}

export class Session {
  readonly channel: Channel;
  readonly #parts: SessionParts;
  /** What the other side has been told of. */
  #sent: RoomView;
  /** What it wrote itself, and need not be told. */
  #own: { content: string; version: number } | undefined;
  /** Whether the last ping is still without an answer. */
  #unanswered = false;
  #busySince: number | undefined;
  #largestSent = 0;
  #open = true;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.channel = parts.channel;
    this.#sent = parts.feed.view;
  }

  /** The first message: the whole room, or only who is there for one that missed nothing. */
  begin(seq: number | undefined): void {
    const { feed, linkTo } = this.#parts;
    this.#sent = feed.view;
    this.#say(seq === this.#sent.seq ? devicesOf(this.#sent) : snapshotOf(this.#sent, linkTo));
  }

  /** Tells of the way from one view to the next; whoever is behind is told the way from where it is. */
  follow(before: RoomView, next: RoomView, prepared: Prepared): void {
    if (!this.#open || this.#isBusy()) return;
    const messages = this.#sent === before ? this.#prepare(before, next, prepared) : this.#changesTo(next);
    this.#sendAll(this.#isOwn(next) ? messages.filter(({ type }) => type !== 'content') : messages);
    this.#sent = next;
  }

  async receive(message: ClientMessage): Promise<void> {
    // Answers can be as large as the text: whoever does not read them gets no more of them.
    if (this.#isTooSlow(performance.now())) return this.#fail(tooFast, 'You read too slowly.');
    if (message.type === 'content') await this.#write(message);
    else if (message.type === 'join') this.refuse(new PoproomError('VALIDATION_FAILED', 'You have joined already.'));
  }

  /** The other side gave a sign of life. */
  heard(): void {
    this.#unanswered = false;
  }

  /** Gives a sign of life, and asks for one. */
  beat(): void {
    if (!this.#open) return;
    if (this.#unanswered) {
      this.#fail(policy, 'There was no sign of life from you.');
      return;
    }
    const { wire, feed } = this.#parts;
    this.#unanswered = wire.answersPings;
    wire.ping(this.#sent === feed.view && !this.#isBusy() ? feed.heartbeat() : undefined);
  }

  /** For one that fell behind: whether it needs no more looking after, because it has the newest or is gone. */
  catchUp(now: number): boolean {
    const { view } = this.#parts.feed;
    if (this.#isTooSlow(now)) this.#fail(tooFast, 'You read too slowly; come back for the newest state.');
    else if (this.#sent !== view) this.follow(this.#sent, view, new Map());
    return !this.#open || !this.#isBusy();
  }

  end(closed: Closed): void {
    if (!this.#open) return;
    this.#say(closed);
    this.leave();
    this.#parts.wire.close(closeCodeFor[closed.reason], closed.reason);
  }

  /** The connection is gone, or about to be. */
  leave(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#parts.left();
  }

  async #write({ content, baseVersion, ref }: WriteText): Promise<void> {
    const { rooms, feed } = this.#parts;
    const echo = ref === undefined ? {} : { ref };
    this.#own = { content, version: baseVersion + 1 };
    try {
      const written = await rooms.writeFromInside(feed.code, content, baseVersion);
      if (written.outcome === 'written') return await this.#confirm(written.content, echo);
      this.#own = undefined;
      if (this.#open) this.#say({ type: 'conflict', ...textOf(written.current), ...echo });
    } catch (error) {
      this.#own = undefined;
      // Where the room has ended, the feed finds out why, and all in it are told.
      if (isEnd(error)) await feed.refresh().catch(() => undefined);
      this.refuse(error, echo);
    }
  }

  /** After everything up to this write has been told, so that the seq is one that the other side can come back with. */
  async #confirm({ version, writtenAt }: Content, echo: { ref?: string }): Promise<void> {
    await this.#parts.feed.refresh();
    if (this.#open) this.#say({ type: 'written', seq: this.#sent.seq, version, timestamp: iso(writtenAt), ...echo });
  }

  #isOwn({ content }: RoomView): boolean {
    return this.#own?.version === content.version && this.#own.content === content.content;
  }

  /** Answers a message that cannot be done; only where the room itself is out of reach does the stay end. */
  refuse(error: unknown, echo: { ref?: string } = {}): void {
    if (!this.#open) return;
    const known = error instanceof PoproomError ? error : new PoproomError('INTERNAL', 'Something went wrong.');
    const { code, message, details } = known;
    this.#say({ type: 'error', error: { code, message, ...(details && { details }) }, ...echo });
    if (isEnd(known) || code === 'INTERNAL' || code === 'UNAVAILABLE') this.#fail(closeCodeOf(code), message);
  }

  #fail(code: number, reason: string): void {
    this.leave();
    this.#parts.wire.close(code, reason);
  }

  #changesTo(view: RoomView): Outgoing[] {
    return changes(this.#sent, view, this.#parts.linkTo).map(outgoing);
  }

  #prepare(before: RoomView, next: RoomView, prepared: Prepared): Outgoing[] {
    const { linkBase, linkTo } = this.#parts;
    const known = prepared.get(linkBase);
    if (known) return known;
    const messages = changes(before, next, linkTo).map(outgoing);
    prepared.set(linkBase, messages);
    return messages;
  }

  #say(message: ServerMessage): void {
    this.#sendAll([outgoing(message)]);
  }

  #sendAll(messages: readonly Outgoing[]): void {
    for (const message of messages) {
      this.#largestSent = Math.max(this.#largestSent, message.bytes);
      this.#parts.wire.send(message);
    }
    if (this.#isBusy()) this.#parts.fellBehind();
  }

  /** Whoever has taken what was waiting keeps up, however often there is more. */
  #isBusy(): boolean {
    const isBusy = this.#parts.wire.backlog() > busyAbove;
    if (!isBusy) this.#busySince = undefined;
    return isBusy;
  }

  #isTooSlow(now: number): boolean {
    if (!this.#isBusy()) return false;
    this.#busySince ??= now;
    const allowed = Math.max(slowAbove, 2 * this.#largestSent);
    return now - this.#busySince >= this.#parts.slowForMs || this.#parts.wire.backlog() > allowed;
  }
}

function isEnd(error: unknown): boolean {
  return error instanceof PoproomError && (error.code === 'ROOM_NOT_FOUND' || error.code === 'ROOM_EXPIRED');
}
