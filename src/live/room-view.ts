/** The view that a member has of a room, and the messages from one view to the next. */
import { fileEntryOf } from '../core/files/files.ts';
import type { FileAddresses } from '../core/live-gateway.ts';
import type { StoredFile } from '../core/ports/files.ts';
import type { Device, RoomState } from '../core/ports/rooms.ts';
import type { TextEntry } from '../core/ports/texts.ts';
import { sealedEditOf } from '../core/text/sealed-texts.ts';
import { toTimestamp } from '../core/timestamp.ts';
import { areOfSameRoom } from '../core/tokens.ts';
import type { RoomLimits } from '../protocol/limits.ts';
import type { RoomChanged, SealedEdited, ServerMessage, Snapshot, TextEdited } from '../protocol/types.ts';
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
  if (text && isSameExceptText(from, to)) return text.length > 1 ? withOneSeq(text, from.seq) : text;
  // A snapshot does not show that the room has another PIN.
  if (!text)
    return withOneSeq(
      [snapshotOf(to, linkTo, mode), ...(hasOtherPin(from, to) ? [roomChange(from, to)] : [])],
      from.seq,
    );
  return withOneSeq([...fileChanges(from, to, linkTo), ...text, ...otherChanges(from, to)], from.seq);
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

/** Undefined if the session receives edits and they do not lead from one view to the other. */
function textChanges(from: RoomView, to: RoomView, mode: TextMode): Change[] | undefined {
  if (from.text.isSame(to.text)) return [];
  if (to.text.sealed) return sealedChanges(from, to);
  if (mode === 'content') return [{ type: 'content', seq: to.seq, ...textOf(to.text, mode) }];
  const newer = to.text.since(from.text.version);
  return newer && editsTo(to, newer);
}

/** The sealed edits, or the whole text if they do not lead from one view to the other. */
function sealedChanges(from: RoomView, to: RoomView): Change[] {
  const newer = to.text.since(from.text.version);
  if (newer) return editsTo(to, newer);
  return [{ type: 'content', seq: to.seq, ...textOf(to.text, 'edits') }];
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
  const { version, edits, writtenAt, deviceId, ref } = entry;
  const edited: TextEdited = {
    type: 'edit',
    seq,
    version,
    edits: edits as TextEdited['edits'],
    timestamp: toTimestamp(writtenAt),
  };
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
  const messages: Change[] = [];
  const { seq, pinAttempts } = to;
  if (isRoomChanged(from, to)) messages.push(roomChange(from, to));
  if (from.pinAttempts < pinAttempts) messages.push({ type: 'pin-attempts', seq, pinAttempts });
  return messages;
}

/** The count of wrong PINs is reset with each new PIN, even if it is the same. */
function isRoomChanged(from: RoomView, to: RoomView): boolean {
  const [before, after] = [from.room, to.room];
  const isSame =
    before.expiresAt === after.expiresAt && before.name === after.name && before.extendMs === after.extendMs;
  return !isSame || to.pinAttempts < from.pinAttempts || hasOtherPin(from, to);
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

  function prepareFrom(known: readonly Device[]): Outgoing | undefined {
    const change = devicesChange(known, view, mode);
    if (change?.type !== 'devices') return change && outgoing(change);
    list ??= outgoing(change);
    return list;
  }

  return (known) => {
    if (!prepared.has(known)) prepared.set(known, prepareFrom(known));
    return prepared.get(known);
  };
}

/** The message for a client with another list; undefined if the devices are the same. */
export function devicesChange(known: readonly Device[], view: RoomView, mode: DevicesMode): Change | undefined {
  const { joined, left } = deviceChanges(known, view.devices);
  if (joined.length + left.length === 0) return undefined;
  if (mode === 'list') return devicesOf(view);
  return { type: 'devices-changed', seq: view.seq, joined: joined.map(deviceOf), left };
}

/** A device with another name or colour counts as joined. The order does not matter. */
function deviceChanges(from: readonly Device[], to: readonly Device[]) {
  if (from === to) return { joined: [], left: [] };
  const [before, after] = [new Map(from.map(entryOf)), new Map(to.map(entryOf))];
  const joined = to.filter(({ id, name, color }) => {
    const known = before.get(id);
    return known?.name !== name || known?.color !== color || !known;
  });
  const left = from.flatMap(({ id }) => (after.has(id) ? [] : [id]));
  return { joined, left };
}

const entryOf = (device: Device) => [device.id, device] as const;

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
