/**
 * The changes of one room on this node. The bus notifies of each change. An edit of the next version is forwarded
 * directly. For other changes the feed reads the room, once for all sessions and one read at a time. A lost message
 * delays changes until the next message or renewal, but loses none.
 */
import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import { TokenBucket, type WorkBudget } from '../core/defence/work.ts';
import type { CoreDeps } from '../core/deps.ts';
import { PoproomError } from '../core/errors.ts';
import type { JoinRequest } from '../core/live-gateway.ts';
import type { MissingReason } from '../core/ports/basics.ts';
import {
  type Channel,
  isExpired,
  type RoomChange,
  type RoomState,
  type RoomStore,
  type StoredLink,
  type Subscription,
} from '../core/ports/rooms.ts';
import type { TextEntry, TextState } from '../core/ports/texts.ts';
import type { RoomCode } from '../core/room-code.ts';
import type { WrittenText } from '../core/text/edit-decision.ts';
import type { Texts } from '../core/text/texts.ts';
import { toTimestamp } from '../core/timestamp.ts';
import type { IssuedToken, RoomTokens } from '../core/tokens.ts';
import type { Closed } from '../protocol/types.ts';
import { FeedText } from './feed-text.ts';
import {
  type DevicesMode,
  type DevicesNotice,
  devicesNotice,
  editOf,
  type LinkView,
  nothingPrepared,
  type Prepared,
  type RoomView,
} from './room-view.ts';
import { type Outgoing, outgoing, sendBudget, type Wire } from './wire.ts';

/** Many devices may join together, and each would cause a message to all others. */
const noticeDelayMs = 50;
/** The rate of messages about devices to a session. A longer list is sent once per second. */
const noticeBytesPerMs = (16 * 1024) / 1000;
const maxNoticeDelayMs = 1000;
/** If 20 devices type 5 keys per second each, turns halve the CPU time of an edit, from 1,276 to 669 µs. */
const turnMsPerSession = 2;
const maxTurnMs = 40;
const noTurn = { writers: new Set<string>(), endsAt: 0 };
/** A session that is further behind sees these files as removed. */
const maxReceived = 100;

export type Caret = NonNullable<RoomChange['caret']>;

/** A session as its feed uses it. */
export interface FeedSession {
  readonly options: { channel: Channel; devicesMode: DevicesMode; linkView?: LinkView | undefined };
  follow(before: RoomView, next: RoomView, prepared: Prepared, written?: ReadonlyMap<string, WrittenText>): void;
  /** Returns the size of the message that it was sent. */
  followDevices(notice: DevicesNotice): number;
  /** Sends the caret if it shows those of other devices, and can take one now. */
  followCaret(caret: Caret, message: Outgoing): void;
  end(closed: Closed): void;
}

export class RoomFeed {
  readonly code: RoomCode;
  readonly sessions = new Set<FeedSession>();
  /** Requests that wait for a change, called after each one and when the room ends. */
  readonly watchers = new Set<() => void>();
  /** The number of clients that are joining. */
  entering = 0;
  /** When the next renewal is due. It differs between rooms, so that renewals do not block the process together. */
  renewAt: number;
  readonly #core: CoreDeps;
  readonly #tokens: RoomTokens;
  #issued: IssuedToken | undefined;
  readonly #subscription: Subscription;
  /** The view before the edits that sessions have not received, and the last edit of each channel among them. */
  #collected: { before: RoomView; written: Map<string, WrittenText> } | undefined;
  /** The sessions that wrote in this turn, and its end. */
  #turn = noTurn;
  #nextTurn: Promise<void> | undefined;
  /** Created with the first caret. */
  #carets: CaretRelay | undefined;
  #view: RoomView | undefined;
  #received: readonly string[] = [];
  ended: 'expired' | 'deleted' | undefined;
  #reading: Promise<void> | undefined;
  /** The scope of the next read: the whole room or only the devices. */
  #due: { room: boolean; devices: boolean } = { room: false, devices: false };
  #heartbeat: { message: Outgoing; resumeToken: string; reconnectWithin: number } | undefined;
  /** The next message about devices for the sessions of a mode, and when it may be sent. */
  readonly #notices: Record<DevicesMode, { timer?: NodeJS.Timeout | undefined; earliest: number }> = {
    list: { earliest: 0 },
    changes: { earliest: 0 },
  };

  constructor(code: RoomCode, core: CoreDeps, renewAt: number, tokens: RoomTokens) {
    this.code = code;
    this.renewAt = renewAt;
    this.#core = core;
    this.#tokens = tokens;
    this.#subscription = core.bus.subscribe(code, (change) => this.#onChange(change));
  }

  /** Available after the first read. */
  get view(): RoomView {
    if (!this.#view) throw new Error('The room has not been read yet.');
    return this.#view;
  }

  /** The same for all sessions that are up to date. */
  heartbeat(reconnectWithin: number): Outgoing {
    const { seq, resumeToken } = this.view;
    const known = this.#heartbeat;
    const isCurrent = known?.message.seq === seq && known.resumeToken === resumeToken;
    if (known && isCurrent && known.reconnectWithin === reconnectWithin) return known.message;
    const message = outgoing({ type: 'heartbeat', seq, resumeToken, ...(reconnectWithin > 0 && { reconnectWithin }) });
    this.#heartbeat = { message, resumeToken, reconnectWithin };
    return message;
  }

  get isInUse(): boolean {
    return this.sessions.size + this.watchers.size > 0;
  }

  /** Reads the room again and notifies the sessions. A call during a read causes one more read after it. */
  refresh(): Promise<void> {
    this.#due = { room: true, devices: true };
    return this.#read();
  }

  /** Waits until the text has at least this version. */
  async reach(version: number): Promise<void> {
    if (this.view.text.version < version) await this.refresh();
  }

  /**
   * Resolves when a session may write: immediately, or together with others if another one wrote a moment ago. The
   * writes then share a commit and one message to each socket. A burst of one session does not wait again.
   */
  async turn(channelId: string): Promise<void> {
    const { writers, endsAt } = this.#turn;
    const msLeft = endsAt - performance.now();
    if (msLeft > 0 && writers.has(channelId)) return;
    if (msLeft > 0) this.#nextTurn ??= pause(msLeft).then(() => this.#beginTurn());
    if (this.#nextTurn) await this.#nextTurn;
    else this.#beginTurn();
    this.#turn.writers.add(channelId);
  }

  #beginTurn(): void {
    const ms = Math.min(maxTurnMs, this.sessions.size * turnMsPerSession);
    this.#turn = { writers: new Set(), endsAt: performance.now() + ms };
    this.#nextTurn = undefined;
  }

  /** Shows the caret of a device to the sessions of other devices, on all nodes. Nothing is stored. */
  moveCaret(caret: Caret): void {
    this.#carets ??= new CaretRelay((due) => this.#core.bus.publish(this.code, { seq: 0, caret: due }));
    this.#carets.move(caret);
  }

  close(): void {
    this.#carets?.close();
    for (const { timer } of Object.values(this.#notices)) clearTimeout(timer);
    this.#subscription.leave();
  }

  /** Ends the sessions of links that were revoked or have expired. */
  endLinks(): void {
    for (const session of this.sessions) {
      const link = session.options.linkView?.link;
      if (link && !this.hasLink(link))
        session.end({ type: 'closed', reason: isExpired(link, this.#core.clock()) ? 'expired' : 'revoked' });
    }
  }

  hasLink(link: Pick<StoredLink, 'id' | 'expiresAt'>): boolean {
    return this.view.links.includes(link.id) && !isExpired(link, this.#core.clock());
  }

  wakeWatchers(): void {
    for (const wake of [...this.watchers]) wake();
  }

  #onChange({ seq, entry, origin, devicesOnly, received, caret }: RoomChange): void {
    const view = this.#view;
    if (caret) return void this.#onCaret(caret);
    if (received !== undefined) this.#received = [...this.#received, received].slice(-maxReceived);
    if (devicesOnly) return void this.#onDevicesChanged();
    if (!view || this.#isReadingRoom) this.#due.room = true;
    else if (seq > 0 && seq <= view.seq) return;
    else if (entry && seq === view.seq + 1 && entry.version === view.text.version + 1 && view.text.canFollow([entry])) {
      this.#collect({ ...view, seq, text: view.text.next(entry) }, origin);
      // The request may have attached a new device.
      const { deviceId } = entry;
      if (deviceId !== undefined && !view.devices.some(({ id }) => id === deviceId)) this.#onDevicesChanged();
      return;
    } else this.#due = { room: true, devices: true };
    // If reading fails, the next renewal reads again.
    this.#read().catch(() => undefined);
  }

  #onCaret(caret: Caret): void {
    // It may refer to the text after the edits.
    this.#sendCollected();
    const message = outgoing(caret);
    for (const session of this.sessions) session.followCaret(caret, message);
  }

  #onDevicesChanged(): void {
    this.#due.devices = true;
    this.#notifyOfDevicesSoon();
  }

  #notifyOfDevicesSoon(): void {
    if (this.sessions.size + this.entering === 0) return;
    for (const mode of ['list', 'changes'] as const) {
      const notice = this.#notices[mode];
      const delay = Math.max(noticeDelayMs, notice.earliest - performance.now());
      notice.timer ??= setTimeout(() => {
        notice.timer = undefined;
        this.#read().then(
          () => this.#notifyOfDevices(mode),
          () => undefined,
        );
      }, delay);
    }
  }

  #notifyOfDevices(mode: DevicesMode): void {
    if (this.sessions.size === 0) return;
    this.#sendCollected();
    const now = performance.now();
    // Another message may have been sent during the read.
    if (now < this.#notices[mode].earliest) return void this.#notifyOfDevicesSoon();
    const notice = devicesNotice(this.view, mode);
    let bytes = 0;
    for (const session of this.sessions)
      if (session.options.devicesMode === mode) bytes = Math.max(bytes, session.followDevices(notice));
    this.#notices[mode].earliest = now + Math.min(maxNoticeDelayMs, bytes / noticeBytesPerMs);
  }

  #isReadingRoom = false;

  #read(): Promise<void> {
    this.#reading ??= this.#readDue();
    return this.#reading;
  }

  async #readDue(): Promise<void> {
    try {
      await this.#subscription.ready;
      while ((this.#due.room || this.#due.devices) && !this.ended) {
        const room = this.#due.room || !this.#view;
        this.#due = { room: false, devices: false };
        await (room ? this.#readRoom() : this.#readDevices());
      }
    } finally {
      // In the same step as the last check of #due. Otherwise a caller in between would wait for a finished read.
      this.#reading = undefined;
    }
  }

  async #readRoom(): Promise<void> {
    const { rooms, clock } = this.#core;
    this.#isReadingRoom = true;
    try {
      const found = await this.#readState(rooms, clock());
      if (typeof found === 'string') return this.#finish(found === 'expired' ? 'expired' : 'deleted');
      const { pinMac, ...state } = found;
      this.#issued = this.#tokens.issue(found, this.#issued);
      const devices = await rooms.listDevices(this.code, clock());
      const text = this.#view?.text.follow(state.text) ?? FeedText.of(state.text as TextState & { content: string });
      const { limits } = this.#core;
      this.#advance({ ...state, text, devices, limits, received: this.#received, resumeToken: this.#issued.token });
    } finally {
      this.#isReadingRoom = false;
    }
  }

  /** Reads the whole text of an encrypted room if a snapshot is due, because it may have been stored. */
  async #readState(rooms: RoomStore, now: number): Promise<RoomState | MissingReason> {
    const known = this.#view?.text;
    const found = await rooms.readState(this.code, now, known?.isCompactionDue ? undefined : known);
    const isReadable =
      typeof found === 'string' || !known || found.text.content !== undefined || known.canFollow(found.text.entries);
    return isReadable ? found : rooms.readState(this.code, now);
  }

  async #readDevices(): Promise<void> {
    const devices = await this.#core.rooms.listDevices(this.code, this.#core.clock());
    this.#advance({ ...this.view, devices });
  }

  #advance(next: RoomView): void {
    const { before = this.#view ?? next, written } = this.#collected ?? {};
    this.#collected = undefined;
    this.#view = next;
    const prepared = nothingPrepared();
    if (before.links.length > 0) this.endLinks();
    for (const session of this.sessions) session.follow(before, next, prepared, written);
    this.wakeWatchers();
    if (before.devices !== next.devices) this.#notifyOfDevicesSoon();
  }

  /** The edits of a commit arrive one by one, and reach each socket in one write. */
  #collect(next: RoomView, origin: string | undefined): void {
    // Beyond what is kept of them, sessions would receive the whole text.
    if (this.#collected && !next.text.since(this.#collected.before.text.version)) this.#sendCollected();
    // Runs after the other writes of the commit are published, and before any of them is answered.
    if (!this.#collected) queueMicrotask(() => this.#sendCollected());
    this.#collected ??= { before: this.view, written: new Map() };
    if (origin !== undefined) this.#collected.written.set(origin, next.text);
    this.#view = next;
  }

  #sendCollected(): void {
    if (this.#collected) this.#advance(this.view);
  }

  #finish(reason: 'expired' | 'deleted'): void {
    this.#sendCollected();
    this.ended = reason;
    for (const session of [...this.sessions]) session.end({ type: 'closed', reason });
    this.wakeWatchers();
  }
}

const caretIntervalMs = 200;

/** Passes the carets of devices on: at most five a second for each device, and the last one always. */
class CaretRelay {
  readonly #publish: (caret: Caret) => void;
  /** Devices whose caret was passed on within the interval, each with the caret that it sent since. */
  readonly #pausing = new Map<string, Caret | undefined>();
  #isClosed = false;

  constructor(publish: (caret: Caret) => void) {
    this.#publish = publish;
  }

  move(caret: Caret): void {
    if (this.#pausing.has(caret.deviceId)) this.#pausing.set(caret.deviceId, caret);
    else this.#pass(caret);
  }

  close(): void {
    this.#isClosed = true;
  }

  #pass(caret: Caret): void {
    const { deviceId } = caret;
    this.#publish(caret);
    this.#pausing.set(deviceId, undefined);
    setTimeout(() => this.#onPauseEnd(deviceId), caretIntervalMs).unref();
  }

  #onPauseEnd(deviceId: string): void {
    const waiting = this.#pausing.get(deviceId);
    this.#pausing.delete(deviceId);
    if (waiting && !this.#isClosed) this.#pass(waiting);
  }
}

/** Takes a few milliseconds to read and to send. */
const entriesPerPart = 500;
/** In bytes. A client gets the next part when it has read the last one. */
const maxBacklog = 64 * 1024;
const checkBacklogMs = 20;

export interface MissedEdits {
  /** The number of edits that were sent already. */
  sent: number;
  /** The version that they lead to. */
  reached: number;
  /** The edits after that version. */
  rest: readonly TextEntry[];
}

interface MissedDeps extends Pick<CoreDeps, 'texts' | 'clock'> {
  work: WorkBudget;
  replacedSince: Texts['replacedSince'];
  /** How long a client may take to read one part. */
  slowForMs: number;
}

type ReadEdits = (since: number, limit: number) => Promise<readonly TextEntry[] | undefined>;

/** Undefined if the log does not lead from the client's version to the current one. */
export async function sendMissed(
  deps: MissedDeps,
  feed: RoomFeed,
  wire: Wire,
  { version, timestamp, seq = 0, caller: { client } }: JoinRequest,
): Promise<MissedEdits | undefined> {
  if (version === undefined) return undefined;
  const read: ReadEdits = async (since, limit) => {
    const found = await deps.work.measure(client, () => deps.texts.readEdits(feed.code, since, limit, deps.clock()));
    if (found === 'no-log') return deps.replacedSince(feed.code, since);
    return typeof found === 'string' ? undefined : found;
  };
  const budget = new TokenBucket(sendBudget);
  const send = (entries: readonly TextEntry[]) => {
    const messages = entries.map((entry) => outgoing(editOf(entry, seq)));
    for (const { bytes } of messages) budget.spend(bytes, performance.now());
    wire.send(messages);
  };
  const isSame = (writtenAt: number) => timestamp === undefined || timestamp === toTimestamp(writtenAt);
  const { text } = feed.view;
  if (version === text.version && isSame(text.writtenAt)) return { sent: 0, reached: version, rest: [] };

  let sent = 0;
  let rest = await firstPart(read, version, isSame);
  for (;;) {
    const reached = version + sent;
    if (!rest || !feed.view.text.canFollow(rest)) return undefined;
    if (rest.length === 0 || reached + rest.length >= feed.view.text.version) return { sent, reached, rest };
    const part = rest;
    deps.work.measure(client, () => send(part));
    sent += part.length;
    await drain(wire, deps.slowForMs);
    while (budget.isEmpty(performance.now())) await pause(checkBacklogMs);
    rest = await read(version + sent, entriesPerPart);
  }
}

/** Starts with the entry of the client's version: a server that lost its newest changes assigns versions again. */
async function firstPart(
  read: ReadEdits,
  version: number,
  isSame: (writtenAt: number) => boolean,
): Promise<readonly TextEntry[] | undefined> {
  if (version === 0) return read(0, entriesPerPart);
  const [own, ...newer] = (await read(version - 1, entriesPerPart + 1)) ?? [];
  if (own) return isSame(own.writtenAt) ? newer : undefined;
  // The log of a replaced text starts after it. The lengths and checksums of the edits show if the client has another.
  const later = await read(version, entriesPerPart);
  return later?.length ? later : undefined;
}

async function drain(wire: Wire, withinMs: number): Promise<void> {
  await setImmediate();
  for (let waited = 0; wire.backlog() > maxBacklog; waited += checkBacklogMs) {
    if (waited > withinMs)
      throw new PoproomError('RATE_LIMITED', 'The client reads too slowly.', { details: { reason: 'messages' } });
    await pause(checkBacklogMs);
  }
}

/** The edits up to the current view, which may have changed while the log was read. */
export function upTo({ text }: RoomView, { reached, rest }: MissedEdits): readonly TextEntry[] | undefined {
  const last = reached + rest.length;
  if (last >= text.version) return rest.slice(0, Math.max(0, text.version - reached));
  const newer = text.since(last);
  return newer && [...rest, ...newer];
}
