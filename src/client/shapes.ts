/** Checks the shape of everything that a server sends. The server is not trusted. */
import { parseRoomCode } from '../protocol/room-code.ts';
import type {
  Confirmation,
  ContentEdited,
  ContentRead,
  FileEntry,
  FileList,
  FileUploaded,
  HealthReport,
  HistoryEntry,
  HistoryList,
  HistoryText,
  RoomCreated,
  RoomDevice,
  RoomInfo,
  RoomText,
  ServerMessage,
} from '../protocol/types.ts';

export type Shape<T> = (value: unknown) => value is T;

type Check = (value: unknown) => boolean;
/** One check per field, so that the compiler reports a new field of the protocol that is missing here. */
type Checks<T> = { readonly [Name in keyof T]-?: Check };
type Message<Type> = Checks<Omit<Extract<ServerMessage, { type: Type }>, 'type'>>;

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text: Check = (value) => typeof value === 'string' && value.isWellFormed();
const whole: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const flag: Check = (value) => typeof value === 'boolean';
const time: Check = (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
const roomId: Check = (value) => typeof value === 'string' && parseRoomCode(value) === value;
/** Excludes names that every object has, such as `__proto__`. */
const errorCode: Check = (value) => typeof value === 'string' && /^[A-Z][A-Z_]*$/.test(value);
/** Becomes part of a WebSocket subprotocol name. */
const token: Check = (value) => typeof value === 'string' && /^[\w.~-]{1,500}$/.test(value);
const success: Check = (value) => value === true;

const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value as string);
const optional =
  (isValid: Check): Check =>
  (value) =>
    value === undefined || isValid(value);
const list =
  (isValid: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isValid);

/** Ignores other fields, because a newer server may send more. */
function object<T>(checks: Checks<T>): Shape<T> {
  const entries = Object.entries(checks) as [string, Check][];
  return (value): value is T =>
    isObject(value) && entries.every(([name, isValid]) => isValid((value as Record<string, unknown>)[name]));
}

const room: Checks<RoomCreated> = { roomId, expiresAt: time, hasPin: flag };
const roomText: Checks<RoomText> = { content: text, version: whole, timestamp: time };
const historyEntry: Checks<HistoryEntry> = { version: whole, timestamp: time, size: whole, deviceId: optional(text) };
const file = object<FileEntry>({
  fileId: text,
  fileUrl: text,
  fileName: text,
  fileSize: whole,
  contentType: text,
  uploadedAt: time,
});
const devices = list(object<RoomDevice>({ deviceId: text, deviceName: optional(text) }));

export const isRoomCreated = object<RoomCreated>(room);
export const isRoomInfo = object<RoomInfo>({ ...room, deviceCount: whole });
export const isConfirmation = object<Confirmation>({ success, message: text });
export const isContent = object<ContentRead>({ content: text, timestamp: time });
export const isContentEdited = object<ContentEdited>({ success, version: whole, timestamp: time });
export const isHistoryList = object<HistoryList>({ history: list(object(historyEntry)) });
export const isHistoryText = object<HistoryText>({ content: text, ...historyEntry });
export const isFileList = object<FileList>({ files: list(file) });
export const isFileUploaded = object<FileUploaded>({ success, fileUrl: text, fileName: text, fileSize: whole });
export const isHealthReport = object<HealthReport>({
  status: oneOf('healthy', 'degraded'),
  timestamp: time,
  uptime: Number.isFinite,
});

const error = { code: errorCode, message: text, details: optional(isObject) };
export const isError = object<{ code: string; message: string; details?: Record<string, unknown> }>(error);

const written: Message<'written'> = { seq: whole, version: whole, timestamp: time, ref: optional(text) };

const messages: { readonly [Type in ServerMessage['type']]: Message<Type> } = {
  snapshot: {
    seq: whole,
    room: object(room),
    content: object(roomText),
    files: list(file),
    devices,
    pinAttempts: whole,
    resumeToken: optional(token),
  },
  content: { seq: whole, ...roomText },
  edit: { ...written, edits: areEdits, deviceId: optional(text) },
  'file-added': { seq: whole, file },
  'file-removed': { seq: whole, fileId: text },
  devices: { seq: whole, devices },
  'pin-attempts': { seq: whole, pinAttempts: whole },
  written,
  conflict: { ...roomText, content: optional(text), ref: optional(text) },
  error: { error: isError, ref: optional(text) },
  heartbeat: { seq: whole, resumeToken: optional(token) },
  closed: { reason: oneOf('deleted', 'expired', 'shutdown'), reconnectAfter: optional(whole) },
};

/** By message type. Newer servers may send further types. */
export const messageShapes: ReadonlyMap<unknown, Check> = new Map(
  Object.entries(messages).map(([type, checks]) => [type, object<object>(checks)]),
);

/** Checks the order of edits. Applying them checks that they are in range. */
function areEdits(value: unknown): boolean {
  let end = 0;
  const isNext: Check = (edit) => {
    const { from, to } = edit as { from: number; to: number };
    const isAscending = end <= from && from <= to;
    end = to;
    return isAscending;
  };
  return list(isEdit)(value) && (value as unknown[]).every(isNext);
}

const isEdit = object<{ from: number; to: number; insert: string }>({ from: whole, to: whole, insert: text });
