/** The view that a member has of a room, and the messages from one view to the next. */
import type { CoreDeps } from '../core/deps.ts';
import { fileEntryOf } from '../core/files/files.ts';
import { aliasFor, tokenRoomOf } from '../core/links.ts';
import type { FileAddresses } from '../core/live-gateway.ts';
import type { StoredFile } from '../core/ports/files.ts';
import type { Device, RoomState, StoredLink } from '../core/ports/rooms.ts';
import type { TextEntry } from '../core/ports/texts.ts';
import { sealedEditOf } from '../core/text/sealed-texts.ts';
import { toTimestamp } from '../core/timestamp.ts';
import { areOfSameRoom, type RoomTokens } from '../core/tokens.ts';
import type { RoomLimits } from '../protocol/limits.ts';
import type { RoomChanged, RoomText, SealedEdited, ServerMessage, Snapshot, TextEdited } from '../protocol/types.ts';
import type { FeedText } from './feed-text.ts';
import { type Outgoing, outgoing, outgoingWith } from './wire.ts';

/** Immutable: sessions keep a reference to the one they have sent. */
export interface RoomView extends Omit<RoomState, 'text' | 'pinMac'> {
  text: FeedText;
  devices: readonly Device[];
  limits: RoomLimits;
  /** The ids of one-time files that were received recently. */
  received: readonly string[];
  /** The same for all members. */
  resumeToken: string;
}

export type LinkTo = FileAddresses['linkTo'];

/** How a session receives text changes: as the whole text or as edits. */
export type TextMode = 'content' | 'edits';

/** How a session receives changes of the devices: as the list of all of them, or as the differences. */
export type DevicesMode = 'list' | 'changes';

/** Messages from one view to the next by audience, created once for all sessions that share it. */
export interface Prepared extends Record<TextMode, Map<string, Outgoing[]>> {
  /** Whether sessions may resume, by the token that admitted them. */
  mayResume: Map<string, boolean>;
}

export const nothingPrepared = (): Prepared => ({ content: new Map(), edits: new Map(), mayResume: new Map() });

export function snapshotOf(view: RoomView, linkTo: LinkTo, mode: TextMode): Snapshot {
  const { room, seq, text, files, devices, limits, pinAttempts, resumeToken } = view;
  return {
    type: 'snapshot',
    seq,
    room: {
      roomId: room.code,
      ...changeableOf(view),
      ...(room.salt !== undefined && { encrypted: true as const }),
      limits,
    },
    content: textOf(text, mode),
    files: files.map((file) => fileEntryOf(file, linkTo)),
    devices: devices.map(deviceOf),
    pinAttempts,
    resumeToken,
  };
}

/** Encodes a message of this view, which may contain its text. */
export function prepare(message: Change, { text }: RoomView): Outgoing {
  const hasText = message.type === 'snapshot' || message.type === 'content';
  return hasText && text.isLong ? outgoingWith(message, text.contentJson()) : outgoing(message);
}

export type Change = Extract<ServerMessage, { seq: number }>;

/** The differences between two views, except of their devices. Intermediate states are skipped, except edits. */
export function changes(from: RoomView, to: RoomView, linkTo: LinkTo, mode: TextMode): Change[] {
  const text = textChanges(from, to, mode);
  if (text && isSameExceptText(from, to)) return withOneSeq(text, from.seq);
  // A snapshot does not show that the room has another PIN.
  const messages = text
    ? [...fileChanges(from, to, linkTo), ...text, ...otherChanges(from, to)]
    : [snapshotOf(to, linkTo, mode), ...(hasOtherPin(from, to) ? [roomChange(from, to)] : [])];
  return withOneSeq(messages, from.seq);
}

/** For sessions that have not given the current PIN. */
export function withoutToken(message: Change): Change {
  if (message.type !== 'snapshot') return message;
  const { resumeToken, ...rest } = message;
  return rest;
}

/** The connection may break between two messages of one step, so only the last one carries the new seq. */
export function withOneSeq(messages: Change[], before: number): Change[] {
  for (const message of messages.slice(0, -1)) message.seq = before;
  return messages;
}

/** Most changes are edits, which copy the view. */
const isSameExceptText = (from: RoomView, to: RoomView) =>
  from.room === to.room &&
  from.files === to.files &&
  from.pinAttempts === to.pinAttempts &&
  from.resumeToken === to.resumeToken;

/** Undefined if the session needs a snapshot, because edits do not lead from one view to the other. */
function textChanges(from: RoomView, to: RoomView, mode: TextMode): Change[] | undefined {
  if (from.text.isSame(to.text)) return [];
  const newer = mode === 'edits' ? to.text.since(from.text.version) : undefined;
  if (newer) return editsTo(to, newer);
  return mode === 'edits' && !to.text.sealed ? undefined : [{ type: 'content', seq: to.seq, ...textOf(to.text, mode) }];
}

/** The edits that lead to a view. The last one lets the receiver check its text. */
export function editsTo({ seq, text }: RoomView, entries: readonly TextEntry[]): Change[] {
  const edits = entries.map((entry) => editOf(entry, seq));
  const last = edits.at(-1);
  if (last?.type === 'edit' && last.version === text.version) Object.assign(last, text.check());
  return edits;
}

export function editOf(entry: TextEntry, seq: number): TextEdited | SealedEdited {
  if (entry.sealed !== undefined) return { type: 'sealed-edit', seq, ...sealedEditOf(entry) };
  const { version, writtenAt, deviceId, ref } = entry;
  const edits = entry.edits as TextEdited['edits'];
  const edited: TextEdited = { type: 'edit', seq, version, edits, timestamp: toTimestamp(writtenAt) };
  if (deviceId !== undefined) edited.deviceId = deviceId;
  if (ref !== undefined) edited.ref = ref;
  return edited;
}

function fileChanges(from: RoomView, to: RoomView, linkTo: LinkTo): Change[] {
  const { seq } = to;
  const removed = missing(from.files, to.files).map((fileId) => {
    const received = to.received.includes(fileId) && ({ received: true } as const);
    return { type: 'file-removed', seq, fileId, ...received } as const;
  });
  const added = new Set(missing(to.files, from.files));
  const files = to.files.filter(({ id }) => added.has(id));
  return [...removed, ...files.map((file) => ({ type: 'file-added', seq, file: fileEntryOf(file, linkTo) }) as const)];
}

function otherChanges(from: RoomView, to: RoomView): Change[] {
  const { seq, pinAttempts } = to;
  const isChanged = (['expiresAt', 'name', 'extendMs'] as const).some((name) => from.room[name] !== to.room[name]);
  // The count of wrong PINs is reset with each new PIN, even if it is the same.
  const hasNewPin = pinAttempts < from.pinAttempts || hasOtherPin(from, to);
  const room = isChanged || hasNewPin ? [roomChange(from, to)] : [];
  return from.pinAttempts < pinAttempts ? [...room, { type: 'pin-attempts', seq, pinAttempts }] : room;
}

/** Tokens depend on the PIN. */
const hasOtherPin = (from: RoomView, to: RoomView) =>
  from.resumeToken !== to.resumeToken && !areOfSameRoom(from.resumeToken, to.resumeToken);

function roomChange(from: RoomView, to: RoomView): RoomChanged {
  const { seq, pinAttempts } = to;
  const pinChanged = hasOtherPin(from, to) && ({ pinChanged: true } as const);
  return { type: 'room', seq, ...changeableOf(to), ...pinChanged, pinAttempts };
}

function changeableOf({ room: { expiresAt, hasPin, name, extendMs } }: RoomView) {
  const extend = extendMs !== undefined && ({ extend: true } as const);
  return { expiresAt: toTimestamp(expiresAt), ...extend, hasPin, ...(name !== undefined && { name }) };
}

export function devicesOf({ seq, devices }: RoomView): Change {
  return { type: 'devices', seq, devices: devices.map(deviceOf) };
}

/** Returns the message for a client with another list; undefined if the devices are the same. */
export type DevicesNotice = (known: readonly Device[]) => Outgoing | undefined;

/** Encodes each message once for all sessions of a mode that have the same list. */
export function devicesNotice(view: RoomView, mode: DevicesMode): DevicesNotice {
  const prepared = new Map<readonly Device[], Outgoing | undefined>();
  let list: Outgoing | undefined;

  return (known) => {
    if (prepared.has(known)) return prepared.get(known);
    const change = devicesChange(known, view, mode);
    if (change?.type === 'devices') list ??= outgoing(change);
    const message = change?.type === 'devices' ? list : change && outgoing(change);
    prepared.set(known, message);
    return message;
  };
}

/** The message for a client with another list; undefined if the devices are the same. */
export function devicesChange(known: readonly Device[], view: RoomView, mode: DevicesMode): Change | undefined {
  if (known === view.devices) return undefined;
  const before = new Map(known.map((device) => [device.id, device]));
  const ids = new Set(view.devices.map(({ id }) => id));
  // A device with another name or colour counts as joined. The order does not matter.
  const joined = view.devices.filter(({ id, name, color }) => {
    const earlier = before.get(id);
    return earlier?.name !== name || earlier?.color !== color || !earlier;
  });
  const left = [...before.keys()].filter((id) => !ids.has(id));
  if (joined.length + left.length === 0) return undefined;
  if (mode === 'list') return devicesOf(view);
  return { type: 'devices-changed', seq: view.seq, joined: joined.map(deviceOf), left };
}

/** `prepare` inserts a long text later. */
function textOf(text: FeedText, mode: TextMode) {
  const { isLong, version, writtenAt, sealed } = text;
  const tail = sealed && { contentVersion: sealed.contentVersion, sealedEdits: sealed.edits.map(sealedEditOf) };
  const stored = mode === 'edits' && { lastRefs: text.lastRefs.map(({ deviceId, ref }) => ({ deviceId, ref })) };
  return { content: isLong ? '' : text.content(), version, timestamp: toTimestamp(writtenAt), ...tail, ...stored };
}

function missing(from: readonly StoredFile[], to: readonly StoredFile[]): string[] {
  if (from === to || from.length === 0) return [];
  const there = new Set(to.map(({ id }) => id));
  return from.filter(({ id }) => !there.has(id)).map(({ id }) => id);
}

const deviceOf = ({ id, name, role, color }: Device) => ({
  deviceId: id,
  ...(name !== undefined && { deviceName: name }),
  ...(role && { role }),
  ...(color !== undefined && { deviceColor: color }),
});

/** The room as the holder of a read link sees it: no code, no PIN, no ids of devices. */
export type LinkView = ReturnType<typeof createLinkView>;

/** `own` is the device of the session: its id for members, and the one that the client chose. */
export function createLinkView(
  core: CoreDeps,
  tokens: RoomTokens,
  link: StoredLink,
  own: Record<'id' | 'given', string>,
) {
  const alias = aliasFor(core, link.id);
  const aliasOf = (deviceId: string) => (deviceId === own.id ? own.given : alias(deviceId));
  let lastRoom: string | undefined;

  const expiryOf = (roomExpiresAt: string) =>
    link.expiresAt === undefined || Date.parse(roomExpiresAt) <= link.expiresAt
      ? roomExpiresAt
      : toTimestamp(link.expiresAt);
  const resumeToken = () => tokens.issue(tokenRoomOf(link)).token;

  /** Missing fields stay missing. */
  function withAlias<T extends { deviceId?: string }>(value: T): T {
    return value.deviceId === undefined ? value : { ...value, deviceId: aliasOf(value.deviceId) };
  }

  /** A `ref` is for the device that sent it. */
  function edit<T extends { deviceId?: string; ref?: string }>(message: T): T {
    const { ref, ...seen } = withAlias(message);
    return seen as T;
  }

  function text<T extends RoomText>(content: T): T {
    const { lastRefs, sealedEdits } = content;
    return {
      ...content,
      ...(lastRefs && { lastRefs: [] }),
      ...(sealedEdits && { sealedEdits: sealedEdits.map(edit) }),
    };
  }

  /** The message as the holder may see it; undefined if it shows nothing new. */
  function of(message: Change): Change | undefined {
    switch (message.type) {
      case 'snapshot': {
        const { room, content, files, devices } = message;
        const expiresAt = expiryOf(room.expiresAt);
        lastRoom = JSON.stringify([expiresAt, room.name]);
        return {
          ...message,
          room: { ...room, roomId: link.id, role: link.role, expiresAt, hasPin: false },
          content: text(content),
          files: files.map(withAlias),
          devices: devices.map(withAlias),
          pinAttempts: 0,
          resumeToken: resumeToken(),
        };
      }
      case 'room': {
        const { type, seq, name } = message;
        const expiresAt = expiryOf(message.expiresAt);
        const shown = JSON.stringify([expiresAt, name]);
        if (shown === lastRoom) return undefined;
        lastRoom = shown;
        return { type, seq, expiresAt, hasPin: false, ...(name !== undefined && { name }), pinAttempts: 0 };
      }
      case 'content':
        return text(message);
      case 'edit':
      case 'sealed-edit':
        return edit(message);
      case 'file-added':
        return { ...message, file: withAlias(message.file) };
      case 'devices':
        return { ...message, devices: message.devices.map(withAlias) };
      case 'devices-changed':
        return { ...message, joined: message.joined.map(withAlias), left: message.left.map(aliasOf) };
      case 'heartbeat':
        return { ...message, resumeToken: resumeToken() };
      case 'file-removed':
      case 'written':
        return message;
      case 'pin-attempts':
        return undefined;
    }
  }

  return { link, of };
}
