/** Checks the shape of responses. The page loads this with its first request; see shapes.ts for what it needs before. */
import type {
  Confirmation,
  ContentEdited,
  ContentRead,
  FileClaimed,
  FileList,
  FileUploaded,
  HealthReport,
  HistoryEntry,
  HistoryList,
  HistoryText,
  RoomDetails,
  TicketIssued,
} from '../protocol/types.ts';
import {
  type Checks,
  file,
  isToken,
  isTrue,
  isWhole,
  list,
  object,
  oneOf,
  optional,
  room,
  sealedText,
  text,
  time,
} from './shapes.ts';

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
