/** One device's stay in a room, whatever transport carries it. */
import { PoproomError } from '../core/errors.ts';
import type { FileAddresses } from '../core/live-gateway.ts';
import type { Channel, ClientId, TextEntry } from '../core/ports.ts';
import type { Rooms } from '../core/rooms.ts';
import type { WrittenText } from '../core/text/texts.ts';
import type { ClientMessage, Closed, EditText, ServerMessage, WriteText } from '../protocol/types.ts';
import { ByteBudget } from './byte-budget.ts';
import { closeCodeFor, closeCodeOf, policy, tooFast } from './close-codes.ts';
import type { FeedSession, RoomFeed } from './room-feed.ts';
import {
  type Change,
  changes,
  devicesOf,
  editOf,
  iso,
  nothingPrepared,
  type Prepared,
  prepare,
  type RoomView,
  snapshotOf,
  type TextMode,
  withOneSeq,
} from './room-view.ts';
import type { UnreadBytes } from './unread-bytes.ts';
import { type Outgoing, outgoing, type Wire } from './wire.ts';

/** A reader with this much unread data gets no more until it has read it: then the newest state, not a queue. */
const busyAbove = 64 * 1024;
const slowAbove = 1024 * 1024;
/** In UTF-16 code units. */
const longestRepeated = 4096;

export interface SessionParts extends FileAddresses {
  wire: Wire;
  client: ClientId;
  feed: RoomFeed;
  channel: Channel;
  textMode: TextMode;
}

/** The same for all sessions, and apart from them: there may be many, and most are idle. */
export interface SessionDeps {
  rooms: Rooms;
  /** How long a session may have too much unread data. */
  slowForMs: number;
  unread: UnreadBytes;
  /** Called once, when the session has ended. */
  onLeave(session: Session): void;
  /** Called when more is unread than the other side takes; from then on it has to catch up. */
  onFallBehind(session: Session): void;
}

/** What a client that reconnects has. */
export interface Resume {
  seq: number | undefined;
  /** The edits since the version that it has; undefined where they are not known, or it has none. */
  missed: readonly TextEntry[] | undefined;
}

type Echo = { ref?: string };

interface PendingWrite {
  echo: Echo;
  /** Once it is stored. */
  written?: WrittenText;
}

const noWrites: readonly PendingWrite[] = [];
const nothingUnread: readonly Outgoing[] = [];

export class Session implements FeedSession {
  readonly #parts: SessionParts;
  readonly #deps: SessionDeps;
  /** What the other side has received. */
  #sent: RoomView;
  /** Writes without an answer; the answer takes the place of their news. */
  #writes: readonly PendingWrite[] = noWrites;
  #isPingUnanswered = false;
  #busySince: number | undefined;
  #largestSent = 0;
  /** Large messages that the other side has not taken yet. */
  #unread: readonly Outgoing[] = nothingUnread;
  /** Made with the first large message: most sessions are idle. */
  #budget: ByteBudget | undefined;
  #isOpen = true;

  constructor(parts: SessionParts, deps: SessionDeps) {
    this.#parts = parts;
    this.#deps = deps;
    this.#sent = parts.feed.view;
  }

  get channel(): Channel {
    return this.#parts.channel;
  }

  get feed(): RoomFeed {
    return this.#parts.feed;
  }

  /** The first messages: the whole room, or what was missed. */
  begin({ seq, missed }: Resume): void {
    const { feed, linkTo } = this.#parts;
    const view = feed.view;
    this.#sent = view;
    const edits = (missed ?? []).map((entry) => editOf(entry, view.seq));
    // Where the edits do not account for the difference, files or wrong PINs do.
    const missedOnlyEdits = seq !== undefined && view.seq - seq === edits.length;
    const isComplete = this.#parts.textMode === 'edits' ? missed && missedOnlyEdits : seq === view.seq;
    const last = isComplete ? devicesOf(view) : snapshotOf(view, linkTo);
    this.#sendAll(withOneSeq([...edits, last], seq ?? 0).map((message) => prepare(message, view)));
    // Each stay begins with a new token, which only snapshots and heartbeats have.
    if (isComplete) this.#sendAll([feed.heartbeat()]);
  }

  /** Sends what leads from one view to the next; who is behind gets what leads there from what it has. */
  follow(before: RoomView, next: RoomView, prepared: Prepared, origin?: string): void {
    const own = origin === this.channel.id ? this.#writes.at(-1) : undefined;
    if (own) own.written = next.text;
    if (!this.#isOpen || this.#isBusy()) return;
    if (this.#isHeldBack()) {
      this.#deps.onFallBehind(this);
      return;
    }
    const isShared = this.#sent === before && !this.#writes.some(({ written }) => written);
    this.#sendAll(isShared ? this.#prepare(before, next, prepared) : this.#changesTo(next));
    this.#sent = next;
  }

  async receive(message: ClientMessage): Promise<void> {
    // Answers can be as large as the text: who does not read them gets no more of them.
    if (this.#isTooSlow(performance.now())) return this.#fail(tooFast, 'You read too slowly.');
    if (message.type === 'content') await this.#write(message, this.#replace(message));
    else if (message.type === 'edit') await this.#write(message, this.#edit(message));
    else if (message.type === 'join') this.refuse(new PoproomError('VALIDATION_FAILED', 'You have joined already.'));
  }

  /** The other side answered a ping, or sent something. */
  onAlive(): void {
    this.#isPingUnanswered = false;
  }

  sendHeartbeat(): void {
    if (!this.#isOpen) return;
    if (this.#isPingUnanswered) {
      this.#fail(policy, 'No heartbeat received.');
      return;
    }
    const { wire, feed } = this.#parts;
    this.#isPingUnanswered = wire.answersPings;
    wire.ping(this.#sent === feed.view && !this.#isBusy() ? feed.heartbeat() : undefined);
  }

  /** For one that fell behind: whether it has caught up, or is gone. */
  catchUp(now: number): boolean {
    const { view } = this.#parts.feed;
    if (this.#isTooSlow(now)) this.#fail(tooFast, 'You read too slowly; reconnect for the newest state.');
    else if (this.#sent !== view) this.follow(this.#sent, view, nothingPrepared());
    return !this.#isOpen || !(this.#isBusy() || this.#isHeldBack());
  }

  end(closed: Closed): void {
    if (!this.#isOpen) return;
    this.#send(closed);
    this.leave();
    this.#parts.wire.close(closeCodeFor[closed.reason], closed.reason);
  }

  /** The connection is gone, or about to be. */
  leave(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#releaseUnread();
    this.#deps.onLeave(this);
  }

  /** Answers a message that cannot be done; only where the room itself is out of reach does the session end. */
  refuse(error: unknown, echo: Echo = {}): void {
    if (!this.#isOpen) return;
    const known = error instanceof PoproomError ? error : new PoproomError('INTERNAL', 'Something went wrong.');
    const { code, message, details } = known;
    this.#send({ type: 'error', error: { code, message, ...(details && { details }) }, ...echo });
    if (isEnd(known) || code === 'INTERNAL' || code === 'UNAVAILABLE') this.#fail(closeCodeOf(code), message);
  }

  #replace({ content, baseVersion }: WriteText): () => Promise<WrittenText> {
    const { feed, channel } = this.#parts;
    const author = { deviceId: channel.device.id, origin: channel.id };
    return () => this.#deps.rooms.texts.replace(feed.code, { content, ifVersions: [baseVersion], ...author });
  }

  #edit({ edits, baseVersion, ref }: EditText): () => Promise<WrittenText> {
    const { feed, channel, textMode } = this.#parts;
    // Who receives whole texts does not know the one after its edit: it is news to it, too.
    const origin = textMode === 'edits' ? channel.id : undefined;
    const author = { deviceId: channel.device.id, ref, origin };
    return () => this.#deps.rooms.texts.edit(feed.code, { edits, baseVersion, ...author });
  }

  async #write({ type, ref }: WriteText | EditText, store: () => Promise<WrittenText>): Promise<void> {
    const { feed } = this.#parts;
    const write: PendingWrite = { echo: ref === undefined ? {} : { ref } };
    this.#writes = [...this.#writes, write];
    try {
      write.written = await store();
      // Its news usually came before this, and the answer with it.
      if (this.#writes.includes(write)) await this.#confirm(write.written);
    } catch (error) {
      this.#writes = this.#writes.filter((other) => other !== write);
      // Where the room has ended, the feed finds out why, and tells all sessions.
      if (isEnd(error)) await feed.refresh().catch(() => undefined);
      if (type === 'content' && isConflict(error)) this.#sendConflict(error, write.echo);
      else this.refuse(error, write.echo);
    }
  }

  /** After everything before it has been sent, so that the other side misses nothing. */
  async #confirm({ version }: WrittenText): Promise<void> {
    await this.#parts.feed.reach(version);
    if (!this.#isOpen || this.#sent.text.version < version) return;
    for (const answer of this.#answers(this.#sent)) this.#send(answer);
  }

  /** To the writes that a view includes. */
  #answers({ seq, text }: RoomView): Change[] {
    const isIncluded = ({ written }: PendingWrite) => written !== undefined && written.version <= text.version;
    const included = this.#writes.filter(isIncluded);
    this.#writes = this.#writes.filter((write) => !isIncluded(write));
    return included.map(({ echo, written }) => {
      const { version, writtenAt } = written as WrittenText;
      return { type: 'written', seq, version, timestamp: iso(writtenAt), ...echo };
    });
  }

  /** A short message must not fetch megabytes: a long text is left out if the other side has it, or will receive it. */
  #sendConflict({ details }: PoproomError, echo: Echo): void {
    const { content, version, timestamp } = details as { content: string; version: number; timestamp: string };
    const isKnown = this.#sent.text.version === version;
    const isLeftOut = content.length > longestRepeated && (isKnown || this.#isBusy() || this.#isHeldBack());
    if (this.#isOpen) this.#send({ type: 'conflict', ...(!isLeftOut && { content }), version, timestamp, ...echo });
  }

  #fail(code: number, reason: string): void {
    this.leave();
    this.#parts.wire.close(code, reason);
  }

  /** With the answers to own writes in the place of their news. */
  #changesTo(next: RoomView): Outgoing[] {
    const { linkTo, textMode } = this.#parts;
    const messages = changes(this.#sent, next, linkTo, textMode);
    for (const answer of this.#answers(next)) {
      const index = messages.findIndex((message) => versionOf(message) === versionOf(answer));
      // Where a snapshot took the place of the edits, it comes first: it has what leads to the answer.
      if (index < 0) messages.splice(messages[0]?.type === 'snapshot' ? 1 : 0, 0, answer);
      else messages.splice(index, 1, answer);
    }
    return withOneSeq(messages, this.#sent.seq).map((message) => prepare(message, next));
  }

  #prepare(before: RoomView, next: RoomView, prepared: Prepared): Outgoing[] {
    const { linkBase, linkTo, textMode } = this.#parts;
    const known = prepared[textMode].get(linkBase);
    if (known) return known;
    const messages = changes(before, next, linkTo, textMode).map((message) => prepare(message, next));
    prepared[textMode].set(linkBase, messages);
    return messages;
  }

  #send(message: ServerMessage): void {
    this.#sendAll([outgoing(message)]);
  }

  #sendAll(messages: readonly Outgoing[]): void {
    for (const message of messages) {
      if (message.bytes > busyAbove) {
        this.#budget ??= new ByteBudget();
        this.#budget.spend(message.bytes, performance.now());
      }
      this.#largestSent = Math.max(this.#largestSent, message.bytes);
      this.#parts.wire.send(message);
    }
    if (!this.#isBusy()) return;
    this.#holdUnread(messages);
    this.#deps.onFallBehind(this);
  }

  #holdUnread(messages: readonly Outgoing[]): void {
    const large = messages.filter(({ bytes }) => bytes > busyAbove);
    for (const message of large) this.#deps.unread.add(this.#parts.client, message);
    if (large.length > 0) this.#unread = [...this.#unread, ...large];
  }

  #releaseUnread(): void {
    for (const message of this.#unread) this.#deps.unread.remove(this.#parts.client, message);
    this.#unread = nothingUnread;
  }

  /** Who has read what was waiting keeps up, however often there is more. */
  #isBusy(): boolean {
    const isBusy = this.#parts.wire.backlog() > busyAbove;
    if (isBusy) return true;
    this.#busySince = undefined;
    if (this.#unread.length > 0) this.#releaseUnread();
    return false;
  }

  /** Whether it was sent as much as it may be for now, however fast it reads; or others hold all memory there is. */
  #isHeldBack(): boolean {
    return this.#budget !== undefined && (this.#budget.isSpent(performance.now()) || this.#isUnreadFull);
  }

  get #isUnreadFull(): boolean {
    return this.#deps.unread.isFull(this.#parts.client);
  }

  #isTooSlow(now: number): boolean {
    if (!this.#isBusy()) return false;
    this.#busySince ??= now;
    const allowed = Math.max(slowAbove, 2 * this.#largestSent);
    return now - this.#busySince >= this.#deps.slowForMs || this.#parts.wire.backlog() > allowed;
  }
}

const versionOf = (message: Change) => ('version' in message ? message.version : undefined);

function isEnd(error: unknown): boolean {
  return error instanceof PoproomError && (error.code === 'ROOM_NOT_FOUND' || error.code === 'ROOM_EXPIRED');
}

const isConflict = (error: unknown): error is PoproomError =>
  error instanceof PoproomError && error.code === 'VERSION_CONFLICT';
