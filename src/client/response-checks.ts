/** The checks of responses and messages, written by `npm run generate` from the schemas in src/protocol. */
import type * as types from '../protocol/types.ts';
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

const roomLimits = /* @__PURE__ */ object<types.RoomLimits>({
  textBytes: isWhole,
  fileBytes: isWhole,
  filesPerRoom: isWhole,
  fileBytesPerRoom: isWhole,
});
const sealedEdit = /* @__PURE__ */ object<types.SealedEdit>({
  version: isWhole,
  sealed: text,
  timestamp: time,
  deviceId: optional(text),
  ref: optional(text),
});
const historyEntry = /* @__PURE__ */ object<types.HistoryEntry>({
  version: isWhole,
  timestamp: time,
  size: isWhole,
  deviceId: optional(text),
});
const fileEntry = /* @__PURE__ */ object<types.FileEntry>({
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
const webhookListWebhooksLastError = /* @__PURE__ */ object<object>({
  timestamp: time,
  code: text,
  message: text,
  status: optional(isWhole),
});
const webhookEntry = /* @__PURE__ */ object<types.WebhookEntry>({
  id: text,
  host: text,
  events: list(oneOf('text', 'file', 'device', 'room')),
  createdAt: time,
  lastDelivery: optional(time),
  lastError: optional(webhookListWebhooksLastError),
});
const roomDetailsText = /* @__PURE__ */ object<object>({ version: isWhole, bytes: isWhole, timestamp: time });
const snapshotRoom = /* @__PURE__ */ object<object>({
  roomId: roomCode,
  role: optional(text),
  expiresAt: time,
  extend: optional(isTrue),
  hasPin: flag,
  encrypted: optional(isTrue),
  name: optional(text),
  limits: optional(roomLimits),
});
const snapshotContentLastRefs = /* @__PURE__ */ object<object>({ deviceId: text, ref: text });
const roomText = /* @__PURE__ */ object<types.RoomText>({
  content: text,
  version: isWhole,
  timestamp: time,
  contentVersion: optional(isWhole),
  sealedEdits: optional(list(sealedEdit)),
  lastRefs: optional(list(snapshotContentLastRefs)),
});
const roomDevice = /* @__PURE__ */ object<types.RoomDevice>({
  deviceId: text,
  deviceName: optional(text),
  deviceColor: optional(isWhole),
  role: optional(text),
});

export const isRoomCreated = /* @__PURE__ */ object<types.RoomCreated>({
  roomId: roomCode,
  link: optional(text),
  expiresAt: time,
  extend: optional(isTrue),
  hasPin: flag,
  encrypted: optional(isTrue),
  name: optional(text),
  limits: optional(roomLimits),
});
export const isRoomInfo = /* @__PURE__ */ object<types.RoomInfo>({
  roomId: roomCode,
  role: optional(text),
  expiresAt: time,
  extend: optional(isTrue),
  hasPin: flag,
  encrypted: optional(isTrue),
  name: optional(text),
  deviceCount: isWhole,
  fileCount: optional(isWhole),
  fileBytes: optional(isWhole),
  limits: optional(roomLimits),
});
export const isConfirmation = /* @__PURE__ */ object<types.Confirmation>({ success: isTrue, message: text });
export const isLink = /* @__PURE__ */ object<types.Link>({
  linkId: text,
  role: oneOf('read', 'drop'),
  link: optional(text),
  name: optional(text),
  createdAt: time,
  expiresAt: optional(time),
  lastUsed: optional(time),
});
export const isLinkList = /* @__PURE__ */ object<types.LinkList>({ links: list(isLink) });
export const isContentRead = /* @__PURE__ */ object<types.ContentRead>({
  content: text,
  version: optional(isWhole),
  timestamp: time,
  contentVersion: optional(isWhole),
  sealedEdits: optional(list(sealedEdit)),
});
export const isContentEdited = /* @__PURE__ */ object<types.ContentEdited>({
  success: isTrue,
  version: isWhole,
  timestamp: time,
  compact: optional(isTrue),
});
export const isHistoryList = /* @__PURE__ */ object<types.HistoryList>({ history: list(historyEntry) });
export const isHistoryText = /* @__PURE__ */ object<types.HistoryText, types.HistoryEntry>(
  { content: text },
  historyEntry,
);
export const isFileUploaded = /* @__PURE__ */ object<types.FileUploaded>({
  success: isTrue,
  fileId: optional(text),
  fileUrl: text,
  fileName: text,
  fileSize: isWhole,
  once: optional(isTrue),
});
export const isFileList = /* @__PURE__ */ object<types.FileList>({ files: list(fileEntry) });
export const isTicketIssued = /* @__PURE__ */ object<types.TicketIssued>({
  ticket: isToken,
  url: text,
  expiresAt: time,
  uploads: optional(isWhole),
});
export const isFileClaimed = /* @__PURE__ */ object<types.FileClaimed>({ claim: isToken, url: text, expiresAt: time });
export const isWebhookCreated = /* @__PURE__ */ object<types.WebhookCreated>({
  id: text,
  host: text,
  events: list(oneOf('text', 'file', 'device', 'room')),
  createdAt: time,
  secret: text,
});
export const isWebhookList = /* @__PURE__ */ object<types.WebhookList>({ webhooks: list(webhookEntry) });
export const isRoomDetails = /* @__PURE__ */ object<types.RoomDetails, types.RoomInfo>(
  { text: optional(roomDetailsText), files: optional(list(fileEntry)) },
  isRoomInfo,
);
export const isHealthReport = /* @__PURE__ */ object<types.HealthReport>({
  status: oneOf('healthy', 'degraded'),
  timestamp: time,
  uptime: Number.isFinite,
});

const messages: Readonly<Record<types.ServerMessage['type'], Check>> = {
  snapshot: /* @__PURE__ */ object<object>({
    seq: isWhole,
    room: snapshotRoom,
    content: roomText,
    files: list(fileEntry),
    devices: list(roomDevice),
    pinAttempts: isWhole,
    resumeToken: optional(isToken),
  }),
  content: /* @__PURE__ */ object<object, types.RoomText>({ seq: isWhole }, roomText),
  edit: /* @__PURE__ */ object<object>({
    seq: isWhole,
    version: isWhole,
    edits: areEdits,
    timestamp: time,
    deviceId: optional(text),
    ref: optional(text),
    length: optional(isWhole),
    checksum: optional(isWhole),
  }),
  'sealed-edit': /* @__PURE__ */ object<object, types.SealedEdit>({ seq: isWhole }, sealedEdit),
  caret: /* @__PURE__ */ object<object>({
    deviceId: text,
    version: isWhole,
    position: isWhole,
    selectionEnd: optional(isWhole),
  }),
  'sealed-caret': /* @__PURE__ */ object<object>({ deviceId: text, version: isWhole, sealed: text }),
  'file-added': /* @__PURE__ */ object<object>({ seq: isWhole, file: fileEntry }),
  'file-removed': /* @__PURE__ */ object<object>({ seq: isWhole, fileId: text, received: optional(isTrue) }),
  devices: /* @__PURE__ */ object<object>({ seq: isWhole, devices: list(roomDevice) }),
  'devices-changed': /* @__PURE__ */ object<object>({ seq: isWhole, joined: list(roomDevice), left: list(text) }),
  'pin-attempts': /* @__PURE__ */ object<object>({ seq: isWhole, pinAttempts: isWhole }),
  room: /* @__PURE__ */ object<object>({
    seq: isWhole,
    expiresAt: time,
    extend: optional(isTrue),
    hasPin: flag,
    name: optional(text),
    pinChanged: optional(isTrue),
    pinAttempts: isWhole,
  }),
  written: /* @__PURE__ */ object<object>({
    seq: isWhole,
    version: isWhole,
    timestamp: time,
    ref: optional(text),
    length: optional(isWhole),
    checksum: optional(isWhole),
    compact: optional(isTrue),
  }),
  conflict: /* @__PURE__ */ object<object>({
    content: optional(text),
    version: isWhole,
    timestamp: time,
    ref: optional(text),
  }),
  error: /* @__PURE__ */ object<object>({ error: isError, ref: optional(text) }),
  heartbeat: /* @__PURE__ */ object<object>({
    seq: isWhole,
    resumeToken: optional(isToken),
    reconnectWithin: optional(isWhole),
  }),
  closed: /* @__PURE__ */ object<object>({
    reason: oneOf('deleted', 'expired', 'revoked', 'shutdown'),
    reconnectAfter: optional(isWhole),
  }),
};

/** By message type. Newer servers may send further types. */
export const messageChecks: ReadonlyMap<unknown, Check> = new Map(Object.entries(messages));
