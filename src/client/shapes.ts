/** Checks the shape of everything that a server sends. The server is not trusted. */
import { hasMoreValues } from '../protocol/json-values.ts';
import { parseRoomCode } from '../protocol/room-code.ts';
import type {
  Confirmation,
  ContentEdited,
  ContentRead,
  FileClaimed,
  FileEntry,
  FileList,
  FileUploaded,
  HealthReport,
  HistoryEntry,
  HistoryList,
  HistoryText,
  RoomCreated,
  RoomDetails,
  RoomDevice,
  RoomInfo,
  RoomLimits,
  RoomText,
  SealedEdit,
  ServerMessage,
  TicketIssued,
} from '../protocol/types.ts';

type StoredRef = NonNullable<RoomText['lastRefs']>[number];

export type Shape<T> = (value: unknown) => value is T;

type Check = (value: unknown) => boolean;
/** One check per field, so that the compiler reports a new field of the protocol that is missing here. */
type Checks<T> = { readonly [Name in keyof T]-?: Check };
type Message<Type> = Checks<Omit<Extract<ServerMessage, { type: Type }>, 'type'>>;

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether the value is a number from 0 without a fraction, such as a version. */
export const isWhole: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
/** Whether the value can become part of a WebSocket subprotocol name, as a resume token does. */
export const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\w.~-]{1,500}$/.test(value);

const text: Check = (value) => typeof value === 'string' && value.isWellFormed();
const flag: Check = (value) => typeof value === 'boolean';
const time: Check = (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
const roomId: Check = (value) => typeof value === 'string' && parseRoomCode(value) === value;
/** Excludes names that every object has, such as `__proto__`. */
const errorCode: Check = (value) => typeof value === 'string' && /^[A-Z][A-Z_]*$/.test(value);
const isTrue: Check = (value) => value === true;

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

/** Servers before these limits were configurable do not send them. */
const limits = optional(
  object<RoomLimits>({
    textBytes: isWhole,
    fileBytes: isWhole,
    filesPerRoom: isWhole,
    fileBytesPerRoom: isWhole,
  }),
);
const changeable = { expiresAt: time, hasPin: flag, name: optional(text) };
const room: Checks<Omit<RoomCreated, 'link'>> = { roomId, ...changeable, encrypted: optional(isTrue), limits };
const sealedEdit: Checks<SealedEdit> = {
  version: isWhole,
  sealed: text,
  timestamp: time,
  deviceId: optional(text),
  ref: optional(text),
};
const sealedText = { contentVersion: optional(isWhole), sealedEdits: optional(list(object(sealedEdit))) };
const lastRefs = optional(list(object<StoredRef>({ deviceId: text, ref: text })));
const roomText: Checks<RoomText> = { content: text, version: isWhole, timestamp: time, ...sealedText, lastRefs };
const file = object<FileEntry>({
  fileId: text,
  fileUrl: text,
  fileName: text,
  fileSize: isWhole,
  contentType: text,
  uploadedAt: time,
  folder: optional(text),
  deviceId: optional(text),
  once: optional(isTrue),
  meta: optional(text),
});
const devices = list(object<RoomDevice>({ deviceId: text, deviceName: optional(text) }));

export const isRoomCreated = object<RoomCreated>({ ...room, link: optional(text) });
export const isRoomInfo = object<RoomInfo>({
  ...room,
  deviceCount: isWhole,
  fileCount: optional(isWhole),
  fileBytes: optional(isWhole),
});

/** The details that programs rely on; see `error-details.ts`. Others may have any type. */
const numbers = /^(version|offset|retryAfter|lockedFor|triesLeft|limit|used|maximum(Files|Bytes)?|status)$/;
const strings = /^(content|timestamp|field|reason|scope|freesAt|location)$/;
const isDetail = ([name, value]: [string, unknown]) =>
  (!numbers.test(name) || typeof value === 'number') && (!strings.test(name) || text(value));
const isDetails: Check = (value) => isObject(value) && Object.entries(value).every(isDetail);
/** Without this detail, the error of a server means nothing. */
const requiredDetails: Readonly<Record<string, string>> = {
  VERSION_CONFLICT: 'version',
  EDIT_CONFLICT: 'version',
  UPLOAD_CONFLICT: 'offset',
};

interface ErrorShape {
  code: string;
  message: string;
  details?: Record<string, unknown>;
}

const hasErrorShape = object<ErrorShape>({ code: errorCode, message: text, details: optional(isDetails) });

export const isError = (value: unknown): value is ErrorShape => {
  if (!hasErrorShape(value)) return false;
  const required = requiredDetails[value.code];
  return required === undefined || isWhole(value.details?.[required]);
};

const stored = {
  ...{ seq: isWhole, version: isWhole, timestamp: time, ref: optional(text) },
  ...{ length: optional(isWhole), checksum: optional(isWhole) },
};

const messages: { readonly [Type in ServerMessage['type']]: Message<Type> } = {
  snapshot: {
    seq: isWhole,
    room: object(room),
    content: object(roomText),
    files: list(file),
    devices,
    pinAttempts: isWhole,
    resumeToken: optional(isToken),
  },
  content: { seq: isWhole, ...roomText },
  edit: { ...stored, edits: areEdits, deviceId: optional(text) },
  'sealed-edit': { seq: isWhole, ...sealedEdit },
  'file-added': { seq: isWhole, file },
  'file-removed': { seq: isWhole, fileId: text, received: optional(isTrue) },
  devices: { seq: isWhole, devices },
  'devices-changed': { seq: isWhole, joined: devices, left: list(text) },
  'pin-attempts': { seq: isWhole, pinAttempts: isWhole },
  room: { seq: isWhole, ...changeable, pinChanged: optional(flag), pinAttempts: isWhole },
  written: { ...stored, compact: optional(isTrue) },
  conflict: { content: optional(text), version: isWhole, timestamp: time, ref: optional(text) },
  error: { error: isError, ref: optional(text) },
  heartbeat: { seq: isWhole, resumeToken: optional(isToken) },
  closed: { reason: oneOf('deleted', 'expired', 'shutdown'), reconnectAfter: optional(isWhole) },
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

const isEdit = object<{ from: number; to: number; insert: string }>({ from: isWhole, to: isWhole, insert: text });

/** More than the largest text that a server can be configured for, with every character escaped. */
export const maxJsonBytes = 64 * 1024 * 1024;
/** A snapshot of a full room has about 2,000. */
const maxValues = 100_000;

/** Returns undefined for anything that is not JSON or is too large. */
export function parseJson(text: string): unknown {
  if (text.length > maxJsonBytes || hasMoreValues(text, maxValues)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const historyEntry: Checks<HistoryEntry> = {
  version: isWhole,
  timestamp: time,
  size: isWhole,
  deviceId: optional(text),
};

/** Older servers send neither the text nor the files. */
export const isRoomDetails = object<RoomDetails>({
  ...room,
  deviceCount: isWhole,
  fileCount: optional(isWhole),
  fileBytes: optional(isWhole),
  text: optional(object<NonNullable<RoomDetails['text']>>({ version: isWhole, bytes: isWhole, timestamp: time })),
  files: optional(list(file)),
});
export const isConfirmation = object<Confirmation>({ success: isTrue, message: text });
/** Older servers send the version only as `ETag`. */
export const isContent = object<Omit<ContentRead, 'version'> & { version?: number }>({
  content: text,
  version: optional(isWhole),
  timestamp: time,
  ...sealedText,
});
export const isContentEdited = object<ContentEdited>({
  success: isTrue,
  version: isWhole,
  timestamp: time,
  compact: optional(isTrue),
});
export const isHistoryList = object<HistoryList>({ history: list(object(historyEntry)) });
export const isHistoryText = object<HistoryText>({ content: text, ...historyEntry });
export const isFileList = object<FileList>({ files: list(file) });
/** Older servers send the id only in the URL. */
export const isFileUploaded = object<Omit<FileUploaded, 'fileId'> & { fileId?: string }>({
  success: isTrue,
  fileId: optional(text),
  fileUrl: text,
  fileName: text,
  fileSize: isWhole,
  once: optional(isTrue),
});
export const isFileClaimed = object<FileClaimed>({ claim: isToken, url: text, expiresAt: time });
export const isTicketIssued = object<TicketIssued>({ ticket: isToken, url: text, expiresAt: time });
export const isHealthReport = object<HealthReport>({
  status: oneOf('healthy', 'degraded'),
  timestamp: time,
  uptime: Number.isFinite,
});
