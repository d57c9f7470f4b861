/** The checks of responses and messages, written by `npm run generate` from the schemas in src/protocol. */
import type {
  Confirmation,
  ContentEdited,
  ContentRead,
  ContentWritten,
  CreateTokenIssued,
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
  WebhookCreated,
  WebhookEntry,
  WebhookList,
} from '../protocol/types.ts';
import {
  areEdits,
  type Check,
  flag,
  isError,
  isToken,
  isTrue,
  isWhole,
  list,
  object,
  oneOf,
  optional,
  roomCode,
  text,
  time,
} from './shapes.ts';

const roomLimits = object<RoomLimits>({
  textBytes: isWhole,
  fileBytes: isWhole,
  filesPerRoom: isWhole,
  fileBytesPerRoom: isWhole,
});
const roomDetailsText = object<object>({
  version: isWhole,
  bytes: isWhole,
  timestamp: time,
});
const fileEntry = object<FileEntry>({
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
const sealedEdit = object<SealedEdit>({
  version: isWhole,
  sealed: text,
  timestamp: time,
  deviceId: optional(text),
  ref: optional(text),
});
const historyEntry = object<HistoryEntry>({
  version: isWhole,
  timestamp: time,
  size: isWhole,
  deviceId: optional(text),
});
const webhookListWebhooksLastError = object<object>({
  timestamp: time,
  message: text,
});
const webhookEntry = object<WebhookEntry>({
  id: text,
  host: text,
  events: list(oneOf('text', 'file', 'device', 'room')),
  createdAt: time,
  lastDelivery: optional(time),
  lastError: optional(webhookListWebhooksLastError),
});
const snapshotRoom = object<object>({
  roomId: roomCode,
  expiresAt: time,
  hasPin: flag,
  encrypted: optional(isTrue),
  name: optional(text),
  limits: optional(roomLimits),
});
const snapshotContentLastRefs = object<object>({
  deviceId: text,
  ref: text,
});
const roomText = object<RoomText>({
  content: text,
  version: isWhole,
  timestamp: time,
  contentVersion: optional(isWhole),
  sealedEdits: optional(list(sealedEdit)),
  lastRefs: optional(list(snapshotContentLastRefs)),
});
const roomDevice = object<RoomDevice>({
  deviceId: text,
  deviceName: optional(text),
});

export const isRoomCreated = object<RoomCreated>({
  roomId: roomCode,
  link: optional(text),
  expiresAt: time,
  hasPin: flag,
  encrypted: optional(isTrue),
  name: optional(text),
  limits: optional(roomLimits),
});
export const isCreateTokenIssued = object<CreateTokenIssued>({
  token: text,
  expiresAt: time,
});
export const isRoomDetails = object<RoomDetails>({
  roomId: roomCode,
  expiresAt: time,
  hasPin: flag,
  encrypted: optional(isTrue),
  name: optional(text),
  deviceCount: isWhole,
  fileCount: optional(isWhole),
  fileBytes: optional(isWhole),
  limits: optional(roomLimits),
  text: optional(roomDetailsText),
  files: optional(list(fileEntry)),
});
export const isRoomInfo = object<RoomInfo>({
  roomId: roomCode,
  expiresAt: time,
  hasPin: flag,
  encrypted: optional(isTrue),
  name: optional(text),
  deviceCount: isWhole,
  fileCount: optional(isWhole),
  fileBytes: optional(isWhole),
  limits: optional(roomLimits),
});
export const isConfirmation = object<Confirmation>({
  success: isTrue,
  message: text,
});
export const isContentWritten = object<ContentWritten>({
  success: isTrue,
  content: text,
  version: isWhole,
  timestamp: time,
});
export const isContentRead = object<ContentRead>({
  content: text,
  version: optional(isWhole),
  timestamp: time,
  contentVersion: optional(isWhole),
  sealedEdits: optional(list(sealedEdit)),
});
export const isContentEdited = object<ContentEdited>({
  success: isTrue,
  version: isWhole,
  timestamp: time,
  compact: optional(isTrue),
});
export const isHistoryList = object<HistoryList>({
  history: list(historyEntry),
});
export const isHistoryText = object<HistoryText>({
  content: text,
  version: isWhole,
  timestamp: time,
  size: isWhole,
  deviceId: optional(text),
});
export const isFileUploaded = object<FileUploaded>({
  success: isTrue,
  fileId: optional(text),
  fileUrl: text,
  fileName: text,
  fileSize: isWhole,
  once: optional(isTrue),
});
export const isFileClaimed = object<FileClaimed>({
  claim: isToken,
  url: text,
  expiresAt: time,
});
export const isFileList = object<FileList>({
  files: list(fileEntry),
});
export const isTicketIssued = object<TicketIssued>({
  ticket: isToken,
  url: text,
  expiresAt: time,
});
export const isWebhookCreated = object<WebhookCreated>({
  id: text,
  host: text,
  events: list(oneOf('text', 'file', 'device', 'room')),
  createdAt: time,
  secret: text,
});
export const isWebhookList = object<WebhookList>({
  webhooks: list(webhookEntry),
});
export const isHealthReport = object<HealthReport>({
  status: oneOf('healthy', 'degraded'),
  timestamp: time,
  uptime: Number.isFinite,
});

const messages: Readonly<Record<ServerMessage['type'], Check>> = {
  snapshot: object<object>({
    seq: isWhole,
    room: snapshotRoom,
    content: roomText,
    files: list(fileEntry),
    devices: list(roomDevice),
    pinAttempts: isWhole,
    resumeToken: optional(isToken),
  }),
  content: object<object>({
    seq: isWhole,
    content: text,
    version: isWhole,
    timestamp: time,
    contentVersion: optional(isWhole),
    sealedEdits: optional(list(sealedEdit)),
    lastRefs: optional(list(snapshotContentLastRefs)),
  }),
  edit: object<object>({
    seq: isWhole,
    version: isWhole,
    edits: areEdits,
    timestamp: time,
    deviceId: optional(text),
    ref: optional(text),
    length: optional(isWhole),
    checksum: optional(isWhole),
  }),
  'sealed-edit': object<object>({
    seq: isWhole,
    version: isWhole,
    sealed: text,
    timestamp: time,
    deviceId: optional(text),
    ref: optional(text),
  }),
  'file-added': object<object>({
    seq: isWhole,
    file: fileEntry,
  }),
  'file-removed': object<object>({
    seq: isWhole,
    fileId: text,
    received: optional(isTrue),
  }),
  devices: object<object>({
    seq: isWhole,
    devices: list(roomDevice),
  }),
  'devices-changed': object<object>({
    seq: isWhole,
    joined: list(roomDevice),
    left: list(text),
  }),
  'pin-attempts': object<object>({
    seq: isWhole,
    pinAttempts: isWhole,
  }),
  room: object<object>({
    seq: isWhole,
    expiresAt: time,
    hasPin: flag,
    name: optional(text),
    pinChanged: optional(isTrue),
    pinAttempts: isWhole,
  }),
  written: object<object>({
    seq: isWhole,
    version: isWhole,
    timestamp: time,
    ref: optional(text),
    length: optional(isWhole),
    checksum: optional(isWhole),
    compact: optional(isTrue),
  }),
  conflict: object<object>({
    content: optional(text),
    version: isWhole,
    timestamp: time,
    ref: optional(text),
  }),
  error: object<object>({
    error: isError,
    ref: optional(text),
  }),
  heartbeat: object<object>({
    seq: isWhole,
    resumeToken: optional(isToken),
  }),
  closed: object<object>({
    reason: oneOf('deleted', 'expired', 'shutdown'),
    reconnectAfter: optional(isWhole),
  }),
};

/** By message type. Newer servers may send further types. */
export const messageChecks: ReadonlyMap<unknown, Check> = new Map(Object.entries(messages));
