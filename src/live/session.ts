/** The session of a device in a room, independent of the transport. */
import { checkRight } from '../core/admission.ts';
import type { UnreadBytes } from '../core/defence/transfer-budget.ts';
import { TokenBucket } from '../core/defence/work.ts';
import { hasCode, PoproomError } from '../core/errors.ts';
import type { FileAddresses, LeaveReason } from '../core/live-gateway.ts';
import type { ClientId, MaybePromise } from '../core/ports/basics.ts';
import type { Channel, Device } from '../core/ports/rooms.ts';
import type { TextEntry } from '../core/ports/texts.ts';
import type { Rooms } from '../core/rooms.ts';
import { checkSealed, encryptionRequired, notEncrypted } from '../core/sealed.ts';
import type { WrittenText } from '../core/text/edit-decision.ts';
import { toTimestamp } from '../core/timestamp.ts';
import { areOfSameRoom } from '../core/tokens.ts';
import { messageOperations } from '../protocol/link-rights.ts';
import { envelopeSize } from '../protocol/sealed.ts';
import type { ClientMessage, Closed, ServerMessage } from '../protocol/types.ts';
import type { Caret, FeedSession, RoomFeed } from './room-feed.ts';
import {
  type Change,
  changes,
  type DevicesMode,
  type DevicesNotice,
  devicesChange,
  devicesNotice,
  devicesOf,
  editsTo,
  type LinkView,
  nothingPrepared,
  type Prepared,
  prepare,
  type RoomView,
  snapshotOf,
  type TextMode,
  withOneSeq,
  withoutToken,
} from './room-view.ts';
import {
  closeCodeFor,
  closeCodeOf,
  errorMessageOf,
  type Outgoing,
  outgoing,
  policyViolation,
  sendBudget,
  tooFast,
  type Wire,
} from './wire.ts';

/** A client with more unread data receives nothing until it has read it, and then the latest state, not a queue. */
const busyAbove = 64 * 1024;
const slowAbove = 1024 * 1024;
/** In UTF-16 code units. */
const longestRepeated = 4096;
/** All sealed carets have the same size. */
const sealedCaretSize = envelopeSize('caret', 0);

export interface SessionOptions extends FileAddresses {
  wire: Wire;
  client: ClientId;
  feed: RoomFeed;
  channel: Channel;
  textMode: TextMode;
  devicesMode: DevicesMode;
  showsCarets: boolean;
  /** A resume token of the room with the PIN that the client gave. */
  admittedBy: string;
  linkView?: LinkView | undefined;
}

/** Shared by all sessions, to save memory: there may be many, and most are idle. */
export interface SessionDeps {
  rooms: Rooms;
  /** How long a session may have too much unread data. */
  slowForMs: number;
  unread: UnreadBytes;
  /** Called once, when the session has ended. */
  onLeave(session: Session): void;
  /** Called when the client has too much unread data and must catch up. */
  onFallBehind(session: Session): void;
  /** The time over which clients should spread if they lose their connections together, in milliseconds. */
  reconnectWithin(): number;
  onRefusal?: ((error: unknown) => void) | undefined;
}

/** The state of a client that reconnects. */
export interface Resume {
  seq: number | undefined;
  /** The number of missed edits that were sent already. */
  sent: number;
  /** The edits since then; undefined if they are unknown or it has no text. */
  missed: readonly TextEntry[] | undefined;
}

type Echo = { ref?: string };
type MessageOf<T extends ClientMessage['type']> = Extract<ClientMessage, { type: T }>;
type Write = MessageOf<'content' | 'edit' | 'sealed-edit'>;
type MoveCaret = MessageOf<'caret' | 'sealed-caret'>;

type PendingWrite = { echo: Echo; written?: WrittenText };

const noWrites: readonly PendingWrite[] = [];
const nothingUnread: readonly Outgoing[] = [];

export class Session implements FeedSession {
  readonly options: SessionOptions;
  readonly #deps: SessionDeps;
  /** The view that the client has received. */
  #sent: RoomView;
  /** The devices that the client has received. */
  #devices: readonly Device[];
  /** Unanswered writes. The client receives a response instead of its own change. */
  #writes: readonly PendingWrite[] = noWrites;
  #isPingUnanswered = false;
  #busySince: number | undefined;
  #largestSent = 0;
  /** Large messages that the client has not read yet. */
  #unread: readonly Outgoing[] = nothingUnread;
  /** Created with the first large message, because most sessions are idle. */
  #budget: TokenBucket | undefined;
  #isOpen = true;
  leaveReason: LeaveReason = 'left';

  constructor(options: SessionOptions, deps: SessionDeps) {
    this.options = options;
    this.#deps = deps;
    this.#sent = options.feed.view;
    this.#devices = this.#sent.devices;
  }

  /** Sends the first messages: a snapshot or the missed changes. */
  begin({ seq, sent, missed }: Resume): void {
    const { feed, linkTo } = this.options;
    const { view } = feed;
    const edits = missed ? editsTo(view, missed) : [];
    // If the edits do not account for the difference, files or wrong PINs have changed.
    const missedOnlyEdits = seq !== undefined && view.seq - seq === sent + edits.length;
    const isComplete = this.options.textMode === 'edits' ? missed && missedOnlyEdits : seq === view.seq;
    const last = isComplete ? devicesOf(view) : snapshotOf(view, linkTo, this.options.textMode);
    const messages = withOneSeq([...edits, last], seq ?? 0).flatMap((message) => this.#encode(message, view));
    // Each session starts with a new token, which only snapshots and heartbeats contain.
    this.#sendAll(isComplete ? [...messages, this.#heartbeat()] : messages);
  }

  /** Sends the changes from one view to the next, or from the client's own view if it has fallen behind. */
  follow(before: RoomView, next: RoomView, prepared: Prepared, written?: ReadonlyMap<string, WrittenText>): void {
    const own = written?.get(this.options.channel.id);
    const write = own && this.#writes.at(-1);
    if (write) write.written = own;
    if (!this.#isOpen || this.#isBusy()) return;
    if (this.#isThrottled()) return void this.#deps.onFallBehind(this);
    const hasAnswer = this.#writes.some(({ written }) => written);
    const isShared = this.#sent === before && !this.options.linkView && !hasAnswer;
    const messages = isShared ? this.#prepare(before, next, prepared) : this.#changesTo(next);
    this.#sendAll(messages);
    this.#sent = next;
    if (messages.some(({ type }) => type === 'snapshot')) this.#devices = next.devices;
  }

  /** Sends the devices if they have changed. A session that has fallen behind receives them when it catches up. */
  followDevices(notice: DevicesNotice): number {
    const { view } = this.options.feed;
    if (!this.#isOpen || this.#devices === view.devices) return 0;
    if (this.#sent !== view || this.#isBehind()) {
      this.#deps.onFallBehind(this);
      return 0;
    }
    const { linkView, devicesMode } = this.options;
    const change = linkView && devicesChange(this.#devices, view, devicesMode);
    const message = linkView ? change && this.#encode(change, view)[0] : notice(this.#devices);
    this.#devices = view.devices;
    if (message) this.#sendAll([message]);
    return message?.bytes ?? 0;
  }

  /** Not if it has fallen behind: the next caret replaces this one. Links do not show the ids of devices. */
  followCaret({ deviceId }: Caret, message: Outgoing): void {
    const { showsCarets, linkView, channel } = this.options;
    const isForOthers = !showsCarets || linkView || deviceId === channel.device.id;
    if (!isForOthers && this.#isOpen && !this.#isBehind()) this.#sendAll([message]);
  }

  receive(message: ClientMessage): MaybePromise<void> {
    // Responses can be as large as the text, so a client that does not read them is disconnected.
    if (this.#isTooSlow(performance.now())) return this.#fail('too-slow', tooFast, 'The client reads too slowly.');
    try {
      checkRight(this.options.linkView?.link.role, messageOperations[message.type]);
    } catch (error) {
      return this.refuse(error, echoOf(message));
    }
    if (message.type === 'compact') return this.#compact(message);
    if (message.type === 'caret' || message.type === 'sealed-caret') return this.#moveCaret(message);
    if (message.type === 'join')
      return this.refuse(new PoproomError('VALIDATION_FAILED', 'This connection has already joined a room.'));
    if (message.type !== 'heartbeat') return this.#write(message);
  }

  /** The client answered a ping or sent a message. */
  onAlive(): void {
    this.#isPingUnanswered = false;
  }

  sendHeartbeat(): void {
    if (!this.#isOpen) return;
    if (this.#isPingUnanswered) return void this.#fail('no-heartbeat', policyViolation, 'No heartbeat received.');
    const { wire, feed } = this.options;
    this.#isPingUnanswered = wire.answersPings;
    wire.ping(this.#sent === feed.view && !this.#isBusy() ? this.#heartbeat() : undefined);
  }

  #heartbeat(): Outgoing {
    const { feed, linkView } = this.options;
    const reconnectWithin = this.#deps.reconnectWithin();
    if (!linkView && this.#mayResume(feed.view)) return feed.heartbeat(reconnectWithin);
    const { seq } = feed.view;
    const message = { type: 'heartbeat' as const, seq, ...(reconnectWithin > 0 && { reconnectWithin }) };
    return linkView ? (this.#encode(message, feed.view)[0] as Outgoing) : outgoing(message);
  }

  /** After a PIN change, a session needs the new PIN when it returns. `known` shares the results of equal tokens. */
  #mayResume({ room, resumeToken }: RoomView, known?: Prepared['mayResume']): boolean {
    if (!room.hasPin) return true;
    const { admittedBy } = this.options;
    const mayResume = known?.get(admittedBy) ?? areOfSameRoom(admittedBy, resumeToken);
    known?.set(admittedBy, mayResume);
    return mayResume;
  }

  /** Nothing if the holder of a link may not see it. */
  #encode(message: Change, view: RoomView): Outgoing[] {
    const { linkView } = this.options;
    if (!linkView) return [prepare(this.#mayResume(view) ? message : withoutToken(message), view)];
    const seen = linkView.of(message);
    return seen ? [prepare(seen, view)] : [];
  }

  /** For a session that fell behind. Returns whether it has caught up or ended. */
  catchUp(now: number): boolean {
    const { view } = this.options.feed;
    if (this.#isTooSlow(now))
      this.#fail('too-slow', tooFast, 'The client reads too slowly. Reconnect to get the latest state.');
    else {
      if (this.#sent !== view) this.follow(this.#sent, view, nothingPrepared());
      this.followDevices(devicesNotice(view, this.options.devicesMode));
    }
    return !this.#isOpen || !this.#isBehind();
  }

  end(closed: Closed): void {
    if (!this.#isOpen) return;
    this.#send(closed);
    this.leaveReason = closed.reason;
    this.leave();
    this.options.wire.close(closeCodeFor[closed.reason], closed.reason);
  }

  /** The connection is closed or about to close. */
  leave(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#releaseUnread();
    this.#deps.onLeave(this);
  }

  /** Sends an error. The session ends only if the room is not accessible. */
  refuse(error: unknown, echo: Echo = {}): void {
    if (!this.#isOpen) return;
    const refusal = errorMessageOf(error);
    const { code, message } = refusal.error;
    this.#deps.onRefusal?.(error);
    this.#send({ ...refusal, ...echo });
    if (isEnd(error) || code === 'INTERNAL' || code === 'UNAVAILABLE') this.#fail('error', closeCodeOf(code), message);
  }

  #store(message: Write): Promise<WrittenText> {
    const { feed, channel, textMode, client } = this.options;
    const { texts } = this.#deps.rooms;
    const { baseVersion, ref } = message;
    const author = { deviceId: channel.device.id, origin: channel.id, client };
    if (message.type === 'content')
      return texts.replace(feed.code, { content: message.content, ifVersions: [baseVersion], ...author });
    if (message.type === 'sealed-edit')
      return texts.edit(feed.code, { sealed: message.sealed, baseVersion, ref, ...author });
    // A client that receives whole texts does not know the text after its edit, so it receives it too.
    const origin = textMode === 'edits' ? channel.id : undefined;
    return texts.edit(feed.code, { edits: message.edits, baseVersion, ref, ...author, origin });
  }

  #moveCaret(caret: MoveCaret): void {
    const { feed, channel } = this.options;
    const isEncrypted = feed.view.text.sealed !== undefined;
    if (caret.type === 'sealed-caret') {
      if (!isEncrypted) throw notEncrypted('sealed');
      checkSealed(caret.sealed, 'caret', 'sealed', sealedCaretSize);
    } else if (isEncrypted) throw encryptionRequired('Send "sealed-caret" instead.', 'type');
    feed.moveCaret({ ...caret, deviceId: channel.device.id });
  }

  /** The client has the version already, and others receive nothing. */
  async #compact(message: MessageOf<'compact'>): Promise<void> {
    const { content, version } = message;
    const echo = echoOf(message);
    try {
      const { writtenAt } = await this.#deps.rooms.texts.compact(this.options.feed.code, { content, version });
      const timestamp = toTimestamp(writtenAt);
      if (this.#isOpen) this.#send({ type: 'written', seq: this.#sent.seq, version, timestamp, ...echo });
    } catch (error) {
      await this.#refuseWrite(error, echo);
    }
  }

  async #write(message: Write): Promise<void> {
    const { feed } = this.options;
    const write: PendingWrite = { echo: echoOf(message) };
    this.#writes = [...this.#writes, write];
    try {
      await feed.turn(this.options.channel.id);
      write.written = await this.#store(message);
      // Usually the change was broadcast before this, together with the response.
      if (this.#writes.includes(write)) await this.#confirm(write.written);
      const { room } = feed.view;
      if (room.extendMs !== undefined) await this.#deps.rooms.extend(room);
    } catch (error) {
      this.#writes = this.#writes.filter((other) => other !== write);
      const isSealed = feed.view.text.sealed !== undefined;
      if (isSealed && hasCode(error, 'VERSION_CONFLICT', 'EDIT_CONFLICT'))
        await this.#sendSealedConflict(error, write.echo);
      else if (message.type === 'content' && hasCode(error, 'VERSION_CONFLICT')) this.#sendConflict(error, write.echo);
      else await this.#refuseWrite(error, write.echo);
    }
  }

  /** If the room has ended, the feed finds the reason and notifies all sessions. */
  async #refuseWrite(error: unknown, echo: Echo): Promise<void> {
    if (isEnd(error)) await this.options.feed.refresh().catch(() => undefined);
    this.refuse(error, echo);
  }

  /** Waits until everything before it has been sent, so that the client misses nothing. */
  async #confirm({ version }: WrittenText): Promise<void> {
    await this.options.feed.reach(version);
    if (!this.#isOpen || this.#sent.text.version < version) return;
    for (const answer of this.#answers(this.#sent)) this.#send(answer);
  }

  /** The responses to the writes that a view includes. */
  #answers({ seq, text }: RoomView): Change[] {
    const isIncluded = ({ written }: PendingWrite) => written !== undefined && written.version <= text.version;
    const included = this.#writes.filter(isIncluded);
    this.#writes = this.#writes.filter((write) => !isIncluded(write));
    return included.map(({ echo, written }) => {
      const { version, writtenAt } = written as WrittenText;
      const hint = text.isCompactionDue && ({ compact: true } as const);
      const check = version === text.version && text.check();
      return { type: 'written', seq, version, timestamp: toTimestamp(writtenAt), ...echo, ...check, ...hint };
    });
  }

  /** A short message must not fetch megabytes, so a long text is omitted if the client has or will receive it. */
  #sendConflict({ details }: PoproomError, echo: Echo): void {
    const { content, version, timestamp } = details as { content: string; version: number; timestamp: string };
    const isKnown = this.#sent.text.version === version;
    const isOmitted = content.length > longestRepeated && (isKnown || this.#isBehind());
    if (this.#isOpen) this.#send({ type: 'conflict', ...(!isOmitted && { content }), version, timestamp, ...echo });
  }

  /** After everything up to its version, unless the client has fallen behind. */
  async #sendSealedConflict({ details }: PoproomError, echo: Echo): Promise<void> {
    const { version, timestamp } = details as { version: number; timestamp: string };
    await this.options.feed.reach(version).catch(() => undefined);
    if (this.#isOpen) this.#send({ type: 'conflict', version, timestamp, ...echo });
  }

  #fail(reason: LeaveReason, code: number, message: string): void {
    this.leaveReason = reason;
    this.leave();
    this.options.wire.close(code, message);
  }

  /** The changes, with responses in place of the session's own writes. */
  #changesTo(next: RoomView): Outgoing[] {
    const { linkTo, textMode } = this.options;
    const messages = changes(this.#sent, next, linkTo, textMode);
    for (const answer of this.#answers(next)) {
      const index = messages.findIndex((message) => versionOf(message) === versionOf(answer));
      // A snapshot that replaces the edits comes first, because the response refers to its text.
      if (index < 0) messages.splice(messages[0]?.type === 'snapshot' ? 1 : 0, 0, answer);
      else messages.splice(index, 1, answer);
    }
    return withOneSeq(messages, this.#sent.seq).flatMap((message) => this.#encode(message, next));
  }

  #prepare(before: RoomView, next: RoomView, prepared: Prepared): Outgoing[] {
    const { linkBase, linkTo, textMode } = this.options;
    const audience = this.#mayResume(next, prepared.mayResume) ? linkBase : `${linkBase} without token`;
    const known = prepared[textMode].get(audience);
    if (known) return known;
    const messages = changes(before, next, linkTo, textMode).flatMap((message) => this.#encode(message, next));
    prepared[textMode].set(audience, messages);
    return messages;
  }

  #send(message: ServerMessage): void {
    this.#sendAll([outgoing(message)]);
  }

  #sendAll(messages: readonly Outgoing[]): void {
    for (const message of messages) {
      if (message.bytes > busyAbove) {
        this.#budget ??= new TokenBucket(sendBudget);
        this.#budget.spend(message.bytes, performance.now());
      }
      this.#largestSent = Math.max(this.#largestSent, message.bytes);
    }
    this.options.wire.send(messages);
    if (!this.#isBusy()) return;
    const large = messages.filter(({ bytes }) => bytes > busyAbove);
    for (const message of large) this.#deps.unread.add(this.options.client, message);
    if (large.length > 0) this.#unread = [...this.#unread, ...large];
    this.#deps.onFallBehind(this);
  }

  #releaseUnread(): void {
    for (const message of this.#unread) this.#deps.unread.remove(this.options.client, message);
    this.#unread = nothingUnread;
  }

  /** A client that has read all waiting data is not slow, however often new data follows. */
  #isBusy(): boolean {
    if (this.options.wire.backlog() > busyAbove) return true;
    this.#busySince = undefined;
    if (this.#unread.length > 0) this.#releaseUnread();
    return false;
  }

  #isBehind(): boolean {
    return this.#isBusy() || this.#isThrottled();
  }

  /** Whether the session has used its byte budget, or unread messages of all clients use all memory. */
  #isThrottled(): boolean {
    if (!this.#budget) return false;
    return this.#budget.isEmpty(performance.now()) || this.#deps.unread.isFull(this.options.client);
  }

  #isTooSlow(now: number): boolean {
    if (!this.#isBusy()) return false;
    this.#busySince ??= now;
    const allowed = Math.max(slowAbove, 2 * this.#largestSent);
    return now - this.#busySince >= this.#deps.slowForMs || this.options.wire.backlog() > allowed;
  }
}

/** For the response to a message. */
const echoOf = (message: ClientMessage): Echo =>
  'ref' in message && message.ref !== undefined ? { ref: message.ref } : {};

const versionOf = (message: Change) => ('version' in message ? message.version : undefined);

const isEnd = (error: unknown): boolean => hasCode(error, 'ROOM_NOT_FOUND', 'ROOM_EXPIRED');
