/** The types of all bodies and messages, written by `npm run generate` from the schemas beside this file. */
import type { ErrorCode } from './error-codes.ts';

/** a sealed edit */
export interface SealedEdit {
  /** the version that it created */ version: number;
  /** a string, the sealed edits: `pop1.` and base64url */ sealed: string;
  /** when it was written */ timestamp: string;
  /** the device that wrote it; missing if the request had no device id */ deviceId?: string;
  /** the ref that the device sent */ ref?: string;
}

/** an object with "from", "to" and "insert" */
export interface TextEdit {
  /** a whole number, a position in UTF-16 code units */ from: number;
  /** a whole number, the end of the replaced range; the same as "from" for an insertion */ to: number;
  /** a string, the text to insert */ insert: string;
}

export interface ApiDescription {
  /** the version of OpenAPI */ openapi: string;
  info: Record<string, unknown>;
  /** the endpoints by path */ paths: Record<string, unknown>;
  [k: string]: unknown;
}

export interface CompactContentRequest {
  /** a string, the sealed snapshot */ content: string;
  /** a whole number, the version that the snapshot contains */ version: number;
}

export interface Confirmation {
  success: true;
  /** a sentence for people */ message: string;
}

export interface ContentEdited {
  success: true;
  /** a whole number, the version of the text */ version: number;
  /** when it was written */ timestamp: string;
  /** in an encrypted room: true if the log is long; store a snapshot of this or a later version */ compact?: true;
}

export interface ContentRead {
  /** a string, the shared text */ content: string;
  /** a whole number, the version of the text */ version: number;
  /** when this text was written; for a new room, when it was created */ timestamp: string;
  /** in an encrypted room: the version of `content`; `sealedEdits` lead from it to `version` */
  contentVersion?: number;
  /** in an encrypted room: the sealed edits after `contentVersion`, oldest first */ sealedEdits?: SealedEdit[];
}

export interface ContentWritten {
  success: true;
  /** a string, the shared text */ content: string;
  /** a whole number, the version of the text */ version: number;
  /** when this text was written */ timestamp: string;
}

export interface CreateLinkRequest {
  /** "read" or "drop" */ role: 'read' | 'drop';
  /** a string of at most 64 characters, sealed in an encrypted room; droppers see it, and members see devices without a name of their own under it */
  name?: string | null;
  /** a whole number of seconds, 60 or more; default: until the room ends */ expiresIn?: number;
}

export interface CreateReportRequest {
  /** one of malware, illegal, harassment, copyright, other */
  reason: 'malware' | 'illegal' | 'harassment' | 'copyright' | 'other';
  /** details for the operator; at most 500 characters */ comment?: string;
}

export interface CreateRoomRequest {
  /** a string of exactly four digits, for example "0427" */ pin?: string;
  /** a whole number of seconds, 60 or more */ expiresIn?: number;
  /** true or false; with true, each write restarts the lifetime of the room */ extend?: boolean;
  /** a string of at most 80 characters, sealed in an encrypted room; null or "" for no name */ name?: string | null;
  /** true or false; with false, the room keeps no earlier texts */ history?: boolean;
  /** an object with `scheme`, `salt` and `verifier`, for an encrypted room; not together with a PIN */
  encryption?: {
    /** the scheme, "pop1" */ scheme: 'pop1';
    /** the salt of the room key: 16 random bytes in base64url */ salt: string;
    /** the SHA-256 of the key `auth`: 32 bytes in base64url */ verifier: string;
  };
}

export interface CreateTokenIssued {
  /** send it as `X-Create-Password`; it is as secret as the password */ token: string;
  /** when the token expires */ expiresAt: string;
}

export type CreateTokenRequest = { /** the password for creating rooms on this server */ password: string };

export interface CreateWebhookRequest {
  /** a string, the URL that receives the events */ url: string;
  /** a list of events: text, file, device, room; default: all */ events?: ('text' | 'file' | 'device' | 'room')[];
  /** a string of exactly four digits, for example "0427" */ pin?: string;
}

export interface EditContentRequest {
  /** a list of 1 to 1000 edits of one version, in ascending order and without overlap */ edits?: TextEdit[];
  /** a whole number, the version that the edits apply to; default: the current one */ baseVersion?: number;
  /** a string to append, instead of `edits` */ append?: string;
  /** a string, the sealed edits: `pop1.` and base64url; in an encrypted room, instead of `edits` */ sealed?: string;
  /** a string of exactly four digits, for example "0427" */ pin?: string;
}

export interface ErrorBody {
  success: false;
  error: {
    /** stable, for programs; later versions may add codes */ code: ErrorCode;
    /** a plain sentence, for people */ message: string;
    /** data for programs, depending on the code */ details?: Record<string, unknown>;
  };
  /** the id of this request in the server log, the same as in the header X-Request-Id */ requestId: string;
}

export interface FileClaimed {
  /** the claim, a secret */ claim: string;
  /** the URL of the file with the claim; it works until the claim ends */ url: string;
  /** when the claim expires */ expiresAt: string;
}

/** a file, with its URL, name, size and type */
export interface FileEntry extends Omit<FileUploaded, 'success'> {
  /** the type that the uploader declared */ contentType: string;
  /** when the upload was complete */ uploadedAt: string;
  /** the path of its folder, with `/` between names; missing if it has none */ folder?: string;
  /** the device that uploaded it; missing if the request had no device id */ deviceId?: string;
  /** in an encrypted room: the sealed name, type, folder, size and salt; missing in other rooms */ meta?: string;
}

export type FileList = { files: FileEntry[] };

export interface FileUploaded {
  success: true;
  /** the id of the file, for its URL and for removal */ fileId: string;
  /** the URL of the file; anyone who knows it can read the file until its room ends */ fileUrl: string;
  /** the file name, without path components and control characters */ fileName: string;
  /** the size in bytes */ fileSize: number;
  /** for a one-time file, which is erased after one receipt; missing for other files */ once?: true;
}

export interface HealthReport {
  /** `degraded` if a store does not respond */ status: 'healthy' | 'degraded';
  /** when the report was created */ timestamp: string;
  /** seconds since the server started */ uptime: number;
}

export interface HistoryEntry {
  /** a whole number, the version of the text */ version: number;
  /** when this text was written */ timestamp: string;
  /** bytes of UTF-8 */ size: number;
  /** the device that wrote it; missing if the request had no device id */ deviceId?: string;
}

export type HistoryList = { /** newest first */ history: HistoryEntry[] };

export interface HistoryText extends HistoryEntry {
  /** a string, the shared text */ content: string;
}

export interface IssueTicketRequest {
  /** a string of exactly four digits, for example "0427" */ pin?: string;
  /** a whole number from 1: how many files you are about to upload */ uploads?: number;
}

export interface Link {
  /** the id of the link, which replaces the room code in every path */ linkId: string;
  /** `read` or `drop` */ role: 'read' | 'drop';
  /** the URL of the page for its holders; in an encrypted room they also need the fragment, which clients add; missing if the Host header is malformed */
  link?: string;
  /** its name, sealed in an encrypted room; missing if it has none */ name?: string;
  /** when it was created */ createdAt: string;
  /** when it expires; missing if it ends with its room */ expiresAt?: string;
  /** when it was last used, to the minute; missing if it was not */ lastUsed?: string;
}

export type LinkList = { /** the links, oldest first */ links: Link[] };

export interface LiveDescription {
  /** the version of AsyncAPI */ asyncapi: string;
  info: Record<string, unknown>;
  /** the ways to follow a room */ channels: Record<string, unknown>;
  [k: string]: unknown;
}

export type PinOnlyRequest = { /** a string of exactly four digits, for example "0427" */ pin?: string };

export type Probe = { status: 'ok' };

export interface Readiness {
  status: 'ready' | 'not ready';
  /** the result of each check: `ok` or the problem */ checks: Record<string, string>;
}

export interface RoomCreated {
  /** the room code in canonical form; only that of an encrypted room starts with E; for the holder of a link, its id */
  roomId: string;
  /** the URL of the page of the room, to share with people; missing if the Host header is malformed */ link?: string;
  /** when the room expires */ expiresAt: string;
  /** true if each write moves `expiresAt`; missing otherwise */ extend?: true;
  /** whether the room requires a PIN */ hasPin: boolean;
  /** for an encrypted room, whose data is sealed; missing for other rooms */ encrypted?: true;
  /** the name of the room, sealed in an encrypted room; missing if it has none */ name?: string;
  limits: RoomLimits;
}

export interface RoomDetails extends RoomInfo {
  /** the version, the size in bytes and the time of the text; only with `details=true` */
  text?: {
    /** a whole number, the version of the text */ version: number;
    /** the size of the text in bytes */ bytes: number;
    /** when this text was written */ timestamp: string;
  };
  /** the files, oldest first; only with `details=true` */ files?: FileEntry[];
}

export interface RoomInfo extends Omit<RoomCreated, 'link' | 'name'> {
  /** the role of the link, `read` or `drop`; missing for members */ role?: 'read' | 'drop';
  /** the name of the room, sealed in an encrypted room; missing if it has none; for a drop link, the name of the link */
  name?: string;
  /** the number of devices in the room */ deviceCount: number;
  /** the number of files, with unfinished uploads and files that can be restored */ fileCount: number;
  /** their size in bytes */ fileBytes: number;
}

/** the limits of each room on this server */
export interface RoomLimits {
  /** the maximum size of the text, in bytes of UTF-8 */ textBytes: number;
  /** the maximum size of a file in bytes */ fileBytes: number;
  /** the maximum number of files */ filesPerRoom: number;
  /** the maximum size of all files together */ fileBytesPerRoom: number;
}

export interface ServerLimits extends RoomLimits {
  /** the default lifetime of a room */ roomLifetimeSeconds: number;
  /** the longest lifetime that a client may request */ roomMaxLifetimeSeconds: number;
  /** the bytes that an address without an API key may store; null for no limit */ storedBytesPerAddress: number | null;
  /** the bytes that an API key may store; null for no limit */ storedBytesPerKey: number | null;
  /** requests per hour without an API key; null for no limit */ freeRequestsPerHour: number | null;
  /** requests per hour with a pro key; null for no limit */ proRequestsPerHour: number | null;
  /** unknown codes and wrong PINs per client and hour; null for no limit */ missesPerHour: number | null;
  /** the maximum number of devices in a room */ devicesPerRoom: number;
  /** the maximum number of live channels of a client */ channelsPerClient: number;
  /** the bytes that you have stored on this server */ storedBytes: number;
  /** whether every request needs an API key */ apiKeyRequired: boolean;
  /** who may create rooms: everyone (`open`), clients with an API key (`key`) or the password (`password`), or users who have signed in at the proxy of the server (`proxy`). An API key always works. */
  roomCreation: 'open' | 'key' | 'password' | 'proxy';
  /** whether rooms can have webhooks */ webhooks: boolean;
  /** whether rooms can be reported to the operator */ reports: boolean;
  /** where to reach the operator about abuse: an email address or a URL; missing if the operator gave none */
  abuseContact?: string;
  /** whether the server is a public demonstration, where a room ends 15 minutes after its creation at the latest */
  demo: boolean;
}

export interface TicketIssued {
  /** the ticket, for the query of files.zip or the header X-Upload-Ticket */ ticket: string;
  /** the URL of the zip archive, with the ticket, or the URL for uploads */ url: string;
  /** when the ticket expires */ expiresAt: string;
  /** how many uploads the ticket is for, if it was requested for uploads */ uploads?: number;
}

export interface UpdateRoomRequest {
  /** a whole number of seconds from now, 60 or more */ expiresIn?: number;
  /** true or false; with true, each write restarts the lifetime of the room */ extend?: boolean;
  /** the new PIN, a string of exactly four digits, or null for no PIN */ pin?: string | null;
  /** a string of at most 80 characters, sealed in an encrypted room; null or "" for no name */ name?: string | null;
}

export interface UploadForm {
  /** the PIN, if neither the header nor the query has it; must precede the file */ pin?: string;
  /** `true` for a one-time file; must precede the file */ once?: 'true' | 'false';
  /** in an encrypted room: the sealed metadata of the file; must precede the file */ meta?: string;
  /** the bytes of the file */ file: string;
}

export interface WebhookCreated {
  /** the id of the webhook, for its removal */ id: string;
  /** the host of its URL; the rest may contain a token and is not returned */ host: string;
  /** a list of events: text, file, device, room */ events: ('text' | 'file' | 'device' | 'room')[];
  /** when it was created */ createdAt: string;
  /** the key of the signatures, which is not shown again */ secret: string;
}

/** a webhook, with its last delivery and its last error */
export interface WebhookEntry extends Omit<WebhookCreated, 'secret'> {
  /** when an event was last delivered; missing if none was */ lastDelivery?: string;
  /** the last failed attempt; missing if there was none since the last delivery */
  lastError?: {
    /** when it failed */ timestamp: string;
    /** the kind of failure, for programs: STATUS, REDIRECT, TIMEOUT, UNKNOWN_HOST, REFUSED, CERTIFICATE, CONNECTION, PRIVATE_ADDRESS, NOT_ALLOWED, DROPPED; later versions may add others */
    code: string;
    /** the same for people */ message: string;
    /** the status of the response, if there was one */ status?: number;
  };
}

export type WebhookList = { /** oldest first */ webhooks: WebhookEntry[] };

export interface WriteContentRequest {
  /** a string, the shared text */ content: string;
  /** a string of exactly four digits, for example "0427" */ pin?: string;
}

export interface AdminBlock {
  /** the id of the block */ id: string;
  /** the blocked addresses, as a CIDR range */ range: string;
  /** a note for operators */ reason: string;
  /** when the block was made */ createdAt: string;
  /** when the block ends; missing if it has no end */ endsAt?: string;
}

export interface AdminBlockList {
  /** the maximum number of blocks */ maximum: number;
  /** the blocks in force, newest first */ blocks: AdminBlock[];
}

export interface AdminClient {
  /** an IPv4 address, an IPv6 /64, or `key:` and the id of an API key */ client: string;
  /** the hash of the client, as in the log */ clientHash: string;
  /** requests */ requests: number;
  /** requests that were refused, with a status from 400 to 499 */ refused: number;
  /** bytes received */ received: number;
  /** bytes sent */ sent: number;
}

export type AdminClientList = { /** the number of known clients */ total: number; clients: AdminClient[] };

export interface AdminKey extends Omit<AdminClient, 'client' | 'clientHash'> {
  /** the id of the key */ id: string;
  /** the name that the operator gave it */ name: string;
  /** the tier of its rate limit */ tier: 'free' | 'pro';
  /** when the key was created */ createdAt: string;
  /** when the key was revoked; missing if it is active */ revokedAt?: string;
  /** when the key was last used; missing if it has not been used */ lastUsedAt?: string;
}

export interface AdminKeyList {
  /** the number of all keys */ total: number;
  /** newest first */ keys: AdminKey[];
}

export interface AdminNumbers {
  /** the length of an interval */ intervalSeconds: number;
  /** the servers that reported within the last minute */ nodes: number;
  /** rooms that have not expired */ rooms: number;
  /** open live channels on all nodes */ channels: number;
  /** bytes of all files */ storedBytes: number;
  /** the numbers of each interval, summed over all nodes, oldest first; intervals without a report are missing */
  points: AdminPoint[];
}

export interface AdminPoint extends Omit<AdminClient, 'client' | 'clientHash'> {
  /** the start of the interval */ at: string;
  /** requests that failed because of the server, with a status of 500 or more */ failed: number;
  /** rooms created */ roomsCreated: number;
  /** the last known number of rooms */ rooms: number;
  /** the maximum number of open live channels */ channels: number;
  /** the last known bytes of all files */ storedBytes: number;
}

export interface AdminReport {
  /** the id of the report */ id: string;
  /** identifies the room in this API; missing if the room has ended */ room?: string;
  /** the room code, masked: anyone with the code can read the room */ code: string;
  /** one of malware, illegal, harassment, copyright, other */
  reason: 'malware' | 'illegal' | 'harassment' | 'copyright' | 'other';
  /** the comment of the reporter */ comment?: string;
  /** when the room was reported */ createdAt: string;
  /** the hash of the client that sent the report, as in the log */ clientHash: string;
}

export interface AdminReportList {
  /** the number of all open reports */ total: number;
  /** newest first */ reports: AdminReport[];
}

export interface AdminRoom {
  /** identifies the room in this API, without its code */ id: string;
  /** the room code, masked: anyone with the code can read the room */ code: string;
  /** when the room was created */ createdAt: string;
  /** when the room expires */ expiresAt: string;
  /** whether the room requires a PIN */ hasPin: boolean;
  /** for an encrypted room, whose data is sealed; missing for other rooms */ encrypted?: true;
  /** the number of files */ fileCount: number;
  /** the bytes of all files */ fileBytes: number;
  /** approximate bytes of the text and its history */ textBytes: number;
  /** the devices in the room */ deviceCount: number;
  /** the hash of the client that created the room, as in the log */ clientHash?: string;
  /** who created the room: the user that the proxy named, or an API key */
  createdBy?: {
    type: 'user' | 'key';
    /** the name of the user or of the key */ name: string;
  };
}

export type AdminRoomList = { /** the number of all rooms that match */ total: number; rooms: AdminRoom[] };

export interface AdminRoomRevealed {
  /** the room code in canonical form; only that of an encrypted room starts with E; for the holder of a link, its id */
  roomId: string;
}

export interface CreateBlockRequest {
  /** an IPv4 or IPv6 address, or a CIDR range */ range: string;
  /** a note for operators; clients do not see it */ reason: string;
  /** seconds until the block ends; without it, the block stays until it is removed */ expiresIn?: number;
  /** block the range although it contains your own address or this machine */ force?: boolean;
}

/** The caret of another device has moved. Sent to clients that joined with `carets`. */
export interface CaretMoved extends MoveCaret {
  /** the device whose caret it is */ deviceId: string;
}

/** Keeps the connection alive. A WebSocket pong does the same. */
export type ClientHeartbeat = { type: 'heartbeat' };

/** The last message: the room or the link has ended, or the server is restarting. */
export interface Closed {
  type: 'closed';
  /** `deleted` or `expired` for the room, `expired` or `revoked` for the link, `shutdown` for the server */
  reason: 'deleted' | 'expired' | 'revoked' | 'shutdown';
  /** milliseconds to wait before reconnecting after a shutdown; different for each client */ reconnectAfter?: number;
}

/** Replaces the log of an encrypted room up to a version by a sealed snapshot of that version. The response is `written`. */
export interface CompactText extends CompactContentRequest {
  type: 'compact';
  /** any string of at most 64 characters; the response contains it */ ref?: string;
}

/** Your text was not stored, because the text had changed. Contains the current text. A text of more than 4,096 UTF-16 code units is omitted if another message contains it. In an encrypted room, the text is always omitted, and other messages contain everything up to `version`. */
export interface Conflict {
  type: 'conflict';
  /** a string, the shared text */ content?: string;
  /** a whole number, the version of the text */ version: number;
  /** when this text was written */ timestamp: string;
  /** any string of at most 64 characters; the response contains it */ ref?: string;
}

export interface RoomDevice {
  /** 1 to 64 letters, digits, dashes or underscores; channels with the same id are one device */ deviceId: string;
  /** a display name of at most 64 characters, sealed in an encrypted room */ deviceName?: string;
  /** a number from 0 to 7: the colour of the device in this room */ deviceColor?: number;
  /** the role of the link by which it has access; missing for members */ role?: 'read' | 'drop';
}

/** Devices have joined or left. Sent instead of `devices` to clients that joined with `deviceChanges`. */
export interface DeviceChanges {
  type: 'devices-changed';
  /** a whole number that increases with every change of the room */ seq: number;
  /** the devices that joined or changed their name; replace a device that has the same id */ joined: RoomDevice[];
  /** the ids of the devices that left */ left: string[];
}

/** The list of devices has changed. Contains all devices in the room. */
export interface DevicesChanged {
  type: 'devices';
  /** a whole number that increases with every change of the room */ seq: number;
  /** the devices in the room */ devices: RoomDevice[];
}

/** Edits the text of an encrypted room if `baseVersion` is still current. The response is `written` or `conflict`. A repeated message with the same `ref` is stored once. */
export interface EditSealed {
  type: 'sealed-edit';
  /** a string, the sealed edits: `pop1.` and base64url */ sealed: string;
  /** a whole number, the version of the text */ baseVersion: number;
  /** any string of at most 64 characters; the response contains it */ ref?: string;
}

/** Edits the text. The server rebases edits of an older version over the newer ones. The response is `written`. Insertions at the same position are ordered by device id. A repeated message with the same `ref` is stored once. */
export interface EditText {
  type: 'edit';
  /** a list of 1 to 1000 edits of one version, in ascending order and without overlap */ edits: TextEdit[];
  /** a whole number, the version of the text */ baseVersion: number;
  /** any string of at most 64 characters; the response contains it */ ref?: string;
}

/** A file was added. */
export interface FileAdded {
  type: 'file-added';
  /** a whole number that increases with every change of the room */ seq: number;
  file: FileEntry;
}

/** A file was removed. */
export interface FileRemoved {
  type: 'file-removed';
  /** a whole number that increases with every change of the room */ seq: number;
  /** the id of the removed file */ fileId: string;
  /** true if someone has received a one-time file; missing otherwise */ received?: true;
}

/** Sent every 25 seconds. Contains the current seq. */
export interface Heartbeat {
  type: 'heartbeat';
  /** a whole number that increases with every change of the room */ seq: number;
  /** a secret that opens a channel to this room until 10 minutes after the end of this one, regardless of limits; keep the latest one */
  resumeToken?: string;
  /** milliseconds; if the connection is lost, wait for a random part of this time before you reconnect; missing if few clients are connected to the server */
  reconnectWithin?: number;
}

/** Joins the room. Must be the first message, within 5 seconds. */
export interface Join {
  type: 'join';
  /** a string of exactly four digits, for example "0427" */ pin?: string;
  /** the key `auth` of an encrypted room: 32 bytes in base64url; never in a URL */ auth?: string;
  /** 1 to 64 letters, digits, dashes or underscores; channels with the same id are one device */ deviceId?: string;
  /** a display name of at most 64 characters, sealed in an encrypted room */ deviceName?: string;
  /** a number from 0 to 7: the colour that you prefer. You get another one if another device has it. Send the one that you had when you reconnect */
  deviceColor?: number;
  /** the last seq that you received; the server sends a snapshot only if you missed something */ seq?: number;
  /** true to receive text changes as `edit` messages instead of the whole text; an encrypted room always sends `sealed-edit` */
  edits?: boolean;
  /** with `edits`: the version of your text */ version?: number;
  /** with `version`: when that version was written; if it differs, the server sends a snapshot */ timestamp?: string;
  /** true if your text did not match a `length` or `checksum` of the server, which counts it in a metric */
  diverged?: boolean;
  /** true to receive the devices that joined and left as `devices-changed` messages, instead of the list of all devices */
  deviceChanges?: boolean;
  /** true to receive the carets of other devices as `caret` messages, in an encrypted room `sealed-caret` */
  carets?: boolean;
}

/** Shows others where your caret is. Nothing is stored, and there is no response. The server forwards at most five per second, and always the last one. An edit shows your caret too. */
export interface MoveCaret {
  type: 'caret';
  /** the version of the text that the position refers to */ version: number;
  /** the position in the text of `version`, in UTF-16 code units */ position: number;
  /** the other end of the selection, before or after `position`; missing if nothing is selected */
  selectionEnd?: number;
}

/** Like `caret`, in an encrypted room. */
export interface MoveSealedCaret {
  type: 'sealed-caret';
  /** the version of the text that the position refers to */ version: number;
  /** a string, the sealed position and selection: `pop1.` and base64url, always of the same length */ sealed: string;
}

/** Someone sent a wrong PIN or room key. */
export interface PinAttempts {
  type: 'pin-attempts';
  /** a whole number that increases with every change of the room */ seq: number;
  /** the number of wrong PINs or room keys */ pinAttempts: number;
}

/** The server rejected a message or the join. */
export interface Problem {
  type: 'error';
  /** the error, with the same fields as an error of the REST API */
  error: {
    code: string;
    message: string;
    details?: Record<string, unknown>;
  };
  /** any string of at most 64 characters; the response contains it */ ref?: string;
}

/** The expiry time, the PIN or the name of the room has changed. Contains the current values, but never the PIN. */
export interface RoomChanged {
  type: 'room';
  /** a whole number that increases with every change of the room */ seq: number;
  /** when the room expires */ expiresAt: string;
  /** true if each write moves `expiresAt`; missing otherwise */ extend?: true;
  /** whether the room requires a PIN */ hasPin: boolean;
  /** the name of the room, sealed in an encrypted room; missing if it has none */ name?: string;
  /** true if the PIN has changed: new requests and channels need the new one; missing otherwise */ pinChanged?: true;
  /** the number of wrong PINs; 0 after a PIN change */ pinAttempts: number;
}

/** Like `caret`, in an encrypted room. */
export interface SealedCaretMoved extends MoveSealedCaret {
  /** the device whose caret it is */ deviceId: string;
}

/** The text of an encrypted room was edited. The sealed edits lead from the previous version to this one. */
export interface SealedEdited extends SealedEdit {
  type: 'sealed-edit';
  /** a whole number that increases with every change of the room */ seq: number;
}

/** The whole room. */
export interface Snapshot {
  type: 'snapshot';
  /** a whole number that increases with every change of the room */ seq: number;
  /** the room, as in the response to its GET request */
  room: {
    /** the room code in canonical form; only that of an encrypted room starts with E; for the holder of a link, its id */
    roomId: string;
    /** the role of the link, `read` or `drop`; missing for members */ role?: 'read' | 'drop';
    /** when the room expires */ expiresAt: string;
    /** true if each write moves `expiresAt`; missing otherwise */ extend?: true;
    /** whether the room requires a PIN */ hasPin: boolean;
    /** for an encrypted room, whose data is sealed; missing for other rooms */ encrypted?: true;
    /** the name of the room, sealed in an encrypted room; missing if it has none */ name?: string;
    limits: RoomLimits;
  };
  content: RoomText;
  /** the files, oldest first */ files: FileEntry[];
  /** the devices in the room */ devices: RoomDevice[];
  /** the number of wrong PINs or room keys */ pinAttempts: number;
  /** a secret that opens a channel to this room until 10 minutes after the end of this one, regardless of limits; keep the latest one */
  resumeToken?: string;
}

/** the text with its version and timestamp */
export interface RoomText extends Omit<ContentRead, 'timestamp'> {
  /** when this text was written */ timestamp: string;
  /** for clients that receive edits: the last stored edit of each writer. If your unconfirmed edit is not among them, this text does not contain it. A writer is a device, or one of several on it whose refs differ before the last hyphen */
  lastRefs?: {
    /** 1 to 64 letters, digits, dashes or underscores; channels with the same id are one device */ deviceId: string;
    /** any string of at most 64 characters; the response contains it */ ref: string;
  }[];
}

/** The text has changed. Contains the current text. */
export interface TextChanged extends RoomText {
  type: 'content';
  /** a whole number that increases with every change of the room */ seq: number;
}

/** The text was edited. These edits lead from the previous version to this one. */
export interface TextEdited {
  type: 'edit';
  /** a whole number that increases with every change of the room */ seq: number;
  /** a whole number, the version of the text */ version: number;
  /** the edits, in ascending order */ edits: TextEdit[];
  /** when it was written */ timestamp: string;
  /** the device that wrote it; missing if the request had no device id */ deviceId?: string;
  /** the ref that the device sent, by which it identifies its own edit after reconnecting */ ref?: string;
  /** the length of the text after this version, in UTF-16 code units; missing in some messages */ length?: number;
  /** every few versions: the 32-bit FNV-1a hash of the UTF-16 code units of the text after this version */
  checksum?: number;
}

/** Replaces the text if `baseVersion` is still current. The response is `written` or `conflict`. */
export interface WriteText {
  type: 'content';
  /** a string, the shared text */ content: string;
  /** a whole number, the version of the text */ baseVersion: number;
  /** any string of at most 64 characters; the response contains it */ ref?: string;
}

/** Your text or edit is stored on disk. You have received everything before it. */
export interface Written extends Omit<ContentEdited, 'success'> {
  type: 'written';
  /** a whole number that increases with every change of the room */ seq: number;
  /** any string of at most 64 characters; the response contains it */ ref?: string;
  /** the length of the text after this version, in UTF-16 code units; missing in some messages */ length?: number;
  /** every few versions: the 32-bit FNV-1a hash of the UTF-16 code units of the text after this version */
  checksum?: number;
}

export type ClientMessage =
  | Join
  | WriteText
  | EditText
  | EditSealed
  | CompactText
  | MoveCaret
  | MoveSealedCaret
  | ClientHeartbeat;

export type ServerMessage =
  | Snapshot
  | TextChanged
  | TextEdited
  | SealedEdited
  | CaretMoved
  | SealedCaretMoved
  | FileAdded
  | FileRemoved
  | DevicesChanged
  | DeviceChanges
  | PinAttempts
  | RoomChanged
  | Written
  | Conflict
  | Problem
  | Heartbeat
  | Closed;
