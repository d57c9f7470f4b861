/** The types of all bodies and messages, written by `npm run generate` from the schemas beside this file. */

/** an object with "from", "to" and "insert" */
export interface TextEdit {
  /** a whole number, a position in UTF-16 code units */
  from: number;
  /** a whole number, the end of the replaced range; equal to "from" to insert */
  to: number;
  /** a string, the text to insert */
  insert: string;
}

export interface CreateRoomRequest {
  /** a string of exactly four digits, such as "0427" */
  pin?: string;
  /** a whole number of seconds, 60 or more */
  expiresIn?: number;
  /** true or false; false keeps no earlier texts of this room */
  history?: boolean;
}

export interface RoomCreated {
  /** the room code, in its canonical form */
  roomId: string;
  /** when the room expires */
  expiresAt: string;
  /** whether the room is protected by a PIN */
  hasPin: boolean;
}

export interface RoomInfo {
  /** the room code, in its canonical form */
  roomId: string;
  /** when the room expires */
  expiresAt: string;
  /** whether the room is protected by a PIN */
  hasPin: boolean;
  /** distinct devices now attached */
  deviceCount: number;
}

export interface Confirmation {
  success: true;
  /** what was done */
  message: string;
}

export interface WriteContentRequest {
  /** a string, the shared text */
  content: string;
  /** a string of exactly four digits, such as "0427" */
  pin?: string;
}

export interface ContentWritten {
  success: true;
  /** a string, the shared text */
  content: string;
  /** when this text was written */
  timestamp: string;
}

export interface ContentRead {
  /** a string, the shared text */
  content: string;
  /** when this text was written; of a new room, when it was made */
  timestamp: string;
}

export interface EditContentRequest {
  /**
   * a list of 1 to 1000 edits of one text, in ascending order and without overlap
   *
   * @minItems 1
   * @maxItems 1000
   */
  edits?: TextEdit[];
  /** a whole number, the version that the edits are made for; without it, the current one */
  baseVersion?: number;
  /** a string to add at the end, instead of `edits` */
  append?: string;
  /** a string of exactly four digits, such as "0427" */
  pin?: string;
}

export interface ContentEdited {
  success: true;
  /** a whole number, the version of the text */
  version: number;
  /** when it was written */
  timestamp: string;
}

export interface HistoryEntry {
  /** a whole number, the version of the text */
  version: number;
  /** when this text was written */
  timestamp: string;
  /** bytes of UTF-8 */
  size: number;
  /** the device that wrote it; missing for a request that named none */
  deviceId?: string;
}

export interface HistoryList {
  /** newest first */
  history: HistoryEntry[];
}

export interface HistoryText {
  /** a string, the shared text */
  content: string;
  /** a whole number, the version of the text */
  version: number;
  /** when this text was written */
  timestamp: string;
  /** bytes of UTF-8 */
  size: number;
  /** the device that wrote it; missing for a request that named none */
  deviceId?: string;
}

export interface FileUploaded {
  success: true;
  /** where the file is served; whoever knows this address may read the file until its room is gone */
  fileUrl: string;
  /** the name of the file, cleaned of path parts and control characters */
  fileName: string;
  /** the size in bytes */
  fileSize: number;
}

export interface FileEntry {
  /** names the file in its address and when it is removed */
  fileId: string;
  /** where the file is served; whoever knows this address may read the file until its room is gone */
  fileUrl: string;
  /** the name of the file, cleaned of path parts and control characters */
  fileName: string;
  /** the size in bytes */
  fileSize: number;
  /** as the uploader declared it */
  contentType: string;
  /** when the upload was complete */
  uploadedAt: string;
}

export interface FileList {
  files: FileEntry[];
}

export interface HealthReport {
  /** `degraded` when a store does not answer */
  status: 'healthy' | 'degraded';
  /** when the report was made */
  timestamp: string;
  /** seconds since the server started */
  uptime: number;
}

export interface Readiness {
  status: 'ready' | 'not ready';
  /** by what was looked at, `ok` or what is wrong */
  checks: {
    [k: string]: string;
  };
}

export interface ErrorBody {
  success: false;
  error: {
    /** stable, for programs */
    code: string;
    /** one plain sentence, for people */
    message: string;
    /** what a program can act on, by code */
    details?: {
      [k: string]: unknown;
    };
  };
  /** names this request in the server log, as the header X-Request-Id does */
  requestId: string;
}

/** Enters the room. Must be the first message, within 5 seconds. */
export interface Join {
  type: 'join';
  /** a string of exactly four digits, such as "0427" */
  pin?: string;
  /** 1 to 64 letters, digits, dashes or underscores; two channels with the same id are one device */
  deviceId?: string;
  /** a name for people, of at most 64 characters */
  deviceName?: string;
  /** the seq that you have; you get a snapshot only if you missed something */
  seq?: number;
  /** true to receive changes of the text as `edit` messages instead of the whole text */
  edits?: boolean;
  /** with `edits`: the version of the text that you have */
  version?: number;
  /** with `version`: when that version was written; another one in its place gets a snapshot */
  timestamp?: string;
}

/** Replaces the text, if it still has the version that yours is based on. Answered by written or conflict. */
export interface WriteText {
  type: 'content';
  /** a string, the shared text */
  content: string;
  /** a whole number, the version of the text */
  baseVersion: number;
  /** any string of at most 64 characters; the answer carries it */
  ref?: string;
}

/** Edits the text. Edits of an older version are rebased over the newer ones, and answered by `written`. Insertions at the same position are ordered by device id. A repeated message with the same `ref` is stored once. */
export interface EditText {
  type: 'edit';
  /**
   * a list of 1 to 1000 edits of one text, in ascending order and without overlap
   *
   * @minItems 1
   * @maxItems 1000
   */
  edits: TextEdit[];
  /** a whole number, the version of the text */
  baseVersion: number;
  /** any string of at most 64 characters; the answer carries it */
  ref?: string;
}

/** Says that you are there; a WebSocket pong does as well. */
export interface ClientHeartbeat {
  type: 'heartbeat';
}

export interface RoomDevice {
  /** 1 to 64 letters, digits, dashes or underscores; two channels with the same id are one device */
  deviceId: string;
  /** a name for people, of at most 64 characters */
  deviceName?: string;
}

export interface RoomText {
  /** a string, the shared text */
  content: string;
  /** a whole number, the version of the text */
  version: number;
  /** when this text was written */
  timestamp: string;
}

/** The whole room. */
export interface Snapshot {
  type: 'snapshot';
  /** a whole number: every change of a room has the next one */
  seq: number;
  room: {
    /** the room code, in its canonical form */
    roomId: string;
    /** when the room expires */
    expiresAt: string;
    /** whether the room is protected by a PIN */
    hasPin: boolean;
  };
  content: RoomText;
  files: FileEntry[];
  /** the devices now attached */
  devices: RoomDevice[];
  /** wrong PINs tried on this room so far */
  pinAttempts: number;
  /** a secret: with it, a channel to this room opens until 10 minutes after the end of this one, whatever limit is used up; keep the newest */
  resumeToken?: string;
}

/** The text changed; this is the newest. */
export interface TextChanged {
  type: 'content';
  /** a whole number: every change of a room has the next one */
  seq: number;
  /** a string, the shared text */
  content: string;
  /** a whole number, the version of the text */
  version: number;
  /** when this text was written */
  timestamp: string;
}

/** The text was edited: these edits, applied to the version before, make this version. */
export interface TextEdited {
  type: 'edit';
  /** a whole number: every change of a room has the next one */
  seq: number;
  /** a whole number, the version of the text */
  version: number;
  /** the edits, in ascending order */
  edits: TextEdit[];
  /** when it was written */
  timestamp: string;
  /** the device that wrote it; missing for a request that named none */
  deviceId?: string;
  /** as the device sent it: how it recognises its own edit after reconnecting */
  ref?: string;
}

/** A file was added. */
export interface FileAdded {
  type: 'file-added';
  /** a whole number: every change of a room has the next one */
  seq: number;
  file: FileEntry;
}

/** A file was removed. */
export interface FileRemoved {
  type: 'file-removed';
  /** a whole number: every change of a room has the next one */
  seq: number;
  /** names the file in its address and when it is removed */
  fileId: string;
}

/** Devices came or went; these are all that are there. */
export interface DevicesChanged {
  type: 'devices';
  /** a whole number: every change of a room has the next one */
  seq: number;
  /** the devices now attached */
  devices: RoomDevice[];
}

/** Someone tried a wrong PIN. */
export interface PinAttempts {
  type: 'pin-attempts';
  /** a whole number: every change of a room has the next one */
  seq: number;
  /** wrong PINs tried on this room so far */
  pinAttempts: number;
}

/** Your text or your edit is stored, on the disk. You have received everything before it. */
export interface Written {
  type: 'written';
  /** a whole number: every change of a room has the next one */
  seq: number;
  /** a whole number, the version of the text */
  version: number;
  /** when it was written */
  timestamp: string;
  /** any string of at most 64 characters; the answer carries it */
  ref?: string;
}

/** The text had changed, and yours was not stored; this is the current one. A text of over 4,096 UTF-16 code units is left out if you have received it already, or will receive it later because you cannot take it yet. */
export interface Conflict {
  type: 'conflict';
  /** a string, the shared text */
  content?: string;
  /** a whole number, the version of the text */
  version: number;
  /** when this text was written */
  timestamp: string;
  /** any string of at most 64 characters; the answer carries it */
  ref?: string;
}

/** A message was refused, or the room was; in the shape of an error of the REST API. */
export interface Problem {
  type: 'error';
  error: {
    code: string;
    message: string;
    details?: {
      [k: string]: unknown;
    };
  };
  /** any string of at most 64 characters; the answer carries it */
  ref?: string;
}

/** Every 25 seconds: the channel lives, and this is the seq that you should have. */
export interface Heartbeat {
  type: 'heartbeat';
  /** a whole number: every change of a room has the next one */
  seq: number;
  /** a secret: with it, a channel to this room opens until 10 minutes after the end of this one, whatever limit is used up; keep the newest */
  resumeToken?: string;
}

/** The last message: the room is gone, or the server restarts. */
export interface Closed {
  type: 'closed';
  reason: 'deleted' | 'expired' | 'shutdown';
  /** milliseconds to wait before coming back after a shutdown; different for each client */
  reconnectAfter?: number;
}

export type ClientMessage = Join | WriteText | EditText | ClientHeartbeat;

export type ServerMessage =
  | Snapshot
  | TextChanged
  | TextEdited
  | FileAdded
  | FileRemoved
  | DevicesChanged
  | PinAttempts
  | Written
  | Conflict
  | Problem
  | Heartbeat
  | Closed;
