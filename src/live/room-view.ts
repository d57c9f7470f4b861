/** What a member of a room sees, and the messages that lead from one view of it to the next. */
import type { FileAddresses } from '../core/live-door.ts';
import type { Content, Device, RoomState, StoredFile } from '../core/ports.ts';
import type { ServerMessage, Snapshot } from '../protocol/types.ts';

/** Never changed once made: sessions hold on to the one that they have sent. */
export interface RoomView extends RoomState {
  devices: readonly Device[];
}

export type LinkTo = FileAddresses['linkTo'];

export function snapshotOf({ room, seq, content, files, devices, pinAttempts }: RoomView, linkTo: LinkTo): Snapshot {
  return {
    type: 'snapshot',
    seq,
    room: { roomId: room.code, expiresAt: iso(room.expiresAt), hasPin: room.hasPin },
    content: textOf(content),
    files: files.map((file) => fileOf(file, linkTo)),
    devices: devices.map(deviceOf),
    pinAttempts,
  };
}

/** The newest of each thing that differs; what came and went in between is not told. */
export function changes(from: RoomView, to: RoomView, linkTo: LinkTo): Change[] {
  const messages = differences(from, to, linkTo);
  // The line may break between two of them: only who has got the last one may say that it has missed nothing.
  for (const message of messages.slice(0, -1)) message.seq = from.seq;
  return messages;
}

type Change = Extract<ServerMessage, { seq: number }>;

function differences(from: RoomView, to: RoomView, linkTo: LinkTo): Change[] {
  const { seq } = to;
  const messages: Change[] = [];
  for (const fileId of missing(from.files, to.files)) messages.push({ type: 'file-removed', seq, fileId });
  const added = new Set(missing(to.files, from.files));
  for (const file of to.files) {
    if (added.has(file.id)) messages.push({ type: 'file-added', seq, file: fileOf(file, linkTo) });
  }
  if (from.content.version !== to.content.version) messages.push({ type: 'content', seq, ...textOf(to.content) });
  if (from.pinAttempts !== to.pinAttempts) messages.push({ type: 'pin-attempts', seq, pinAttempts: to.pinAttempts });
  if (!sameDevices(from.devices, to.devices)) messages.push(devicesOf(to));
  return messages;
}

export function devicesOf({ seq, devices }: RoomView): Change {
  return { type: 'devices', seq, devices: devices.map(deviceOf) };
}

export function textOf({ content, version, writtenAt }: Content) {
  return { content, version, timestamp: iso(writtenAt) };
}

function missing(from: readonly StoredFile[], to: readonly StoredFile[]): string[] {
  if (from === to || from.length === 0) return [];
  const there = new Set(to.map(({ id }) => id));
  return from.filter(({ id }) => !there.has(id)).map(({ id }) => id);
}

function sameDevices(a: readonly Device[], b: readonly Device[]): boolean {
  return a.length === b.length && a.every((device, i) => device.id === b[i]?.id && device.name === b[i]?.name);
}

function fileOf(file: StoredFile, linkTo: LinkTo) {
  return {
    fileId: file.id,
    fileUrl: linkTo(file),
    fileName: file.name,
    fileSize: file.size,
    contentType: file.type,
    uploadedAt: iso(file.uploadedAt),
  };
}

const deviceOf = ({ id, name }: Device) => ({ deviceId: id, ...(name !== undefined && { deviceName: name }) });

export const iso = (moment: number): string => new Date(moment).toISOString();
