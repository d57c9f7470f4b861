/** One room: its requests and its live channel. */
import { parseRoomCode } from '../protocol/room-code.ts';
import type {
  Confirmation,
  ContentEdited,
  CreateLinkRequest,
  CreateWebhookRequest,
  EditContentRequest,
  FileClaimed,
  FileEntry,
  FileUploaded,
  HistoryEntry,
  HistoryText,
  Link,
  RoomDetails,
  RoomInfo,
  RoomText,
  TextEdit,
  UpdateRoomRequest,
  WebhookCreated,
  WebhookEntry,
} from '../protocol/types.ts';
import { type DownloadOptions, type ReceiveOptions, receive, type ZipOptions } from './download.ts';
import { invalidMessage, PoproomError, unexpectedResponse } from './error.ts';
import { type LiveOptions, type LiveRoom, openLive } from './live-channel.ts';
import {
  isConfirmation,
  isContentEdited,
  isContentRead,
  isFileClaimed,
  isFileList,
  isHistoryList,
  isHistoryText,
  isLink,
  isLinkList,
  isRoomDetails,
  isRoomInfo,
  isTicketIssued,
  isWebhookCreated,
  isWebhookList,
} from './response-checks.ts';
import { accessHeaders, type RoomAccess, roomPath, type SeenVersion } from './room-access.ts';
import type { Shape } from './shapes.ts';
import type { Call, CallOptions, Transport } from './transport.ts';
import { type UploadOptions, type UploadSource, type UploadTicket, upload } from './upload.ts';

export interface WriteOptions extends CallOptions {
  /** Writes only if this is still the current version; otherwise fails with `VERSION_CONFLICT`. */
  baseVersion?: number | undefined;
}

export interface EditOptions extends CallOptions {
  /** The version that the positions of the edits refer to. Default: the current one. */
  baseVersion?: number | undefined;
}

/** The URL of a webhook, and its events; all of them by default. */
export type NewWebhook = Omit<CreateWebhookRequest, 'pin'>;

/** The fields of a one-time file that {@link RoomBase.receive} needs. */
export type ReceivableFile = Pick<FileEntry, 'fileId' | 'fileUrl' | 'fileSize' | 'meta'>;

/** How to access a room. */
export interface RoomKeyAccess {
  pin?: string | undefined;
  /**
   * The room key of an encrypted room, as typed. With a key, the SDK never sends plaintext: if the server says that the
   * room is not encrypted, everything fails with `NOT_ENCRYPTED`.
   */
  key?: string | undefined;
  /** The salt of the room, if this device has used it earlier (`room.salt`). Another one fails with `DATA_DAMAGED`. */
  salt?: string | undefined;
  /** The newest version that this device has seen earlier (`room.seen`), to notice an older one: `ROLLBACK`. */
  seen?: SeenVersion | undefined;
}

/** A room without its shared text, which `Room` adds. */
export interface RoomBase {
  /** The room code, or the id of a link. */
  readonly code: string;
  /** URL of the room's page, to share with people. That of an encrypted room contains the key, after `#`. */
  readonly link: string;
  /** The key of an encrypted room, for people to read and type. Undefined for other rooms. */
  readonly key: string | undefined;
  /** The salt of an encrypted room, which is not secret. Undefined before the first request. */
  readonly salt: string | undefined;
  /** The newest version of the text of an encrypted room that this object has seen; see {@link RoomKeyAccess}. */
  readonly seen: SeenVersion | undefined;
  /** The PIN that requests send. Undefined after someone else has changed it while a live channel was open. */
  pin(): string | undefined;
  info(options?: CallOptions): Promise<RoomInfo>;
  /** The same with the version and size of the text, and the files, in one request. Older servers send neither. */
  details(options?: CallOptions): Promise<RoomDetails>;
  /**
   * Changes when the room expires (`expiresIn`, in seconds from now), its PIN or its name. `null` removes the PIN or the
   * name. This object and its live channels use the new PIN from then on.
   */
  update(changes: UpdateRoomRequest, options?: CallOptions): Promise<RoomInfo>;
  /** Reads the text and its version. */
  read(options?: CallOptions): Promise<RoomText>;
  /** Replaces the whole text. */
  write(content: string, options?: WriteOptions): Promise<RoomText>;
  /** Replaces ranges of the text. The server rebases edits of an older version over newer ones. */
  edit(edits: readonly TextEdit[], options?: EditOptions): Promise<ContentEdited>;
  /** Appends to the text. */
  append(text: string, options?: CallOptions): Promise<ContentEdited>;
  /** Lists the earlier texts of the room, newest first. In an encrypted room, `size` is that of the sealed text. */
  history(options?: CallOptions): Promise<HistoryEntry[]>;
  /** Reads one of the earlier texts. */
  historyText(version: number, options?: CallOptions): Promise<HistoryText>;
  /** Makes an earlier text the current one again, as a new version. */
  restore(version: number, options?: CallOptions): Promise<RoomText>;
  /** Deletes all earlier texts, but not the current one. */
  clearHistory(options?: CallOptions): Promise<Confirmation>;
  /** Lists the files of the room, oldest first. */
  files(options?: CallOptions): Promise<FileEntry[]>;
  /**
   * Uploads a Blob or File, bytes, a stream of bytes or, outside browsers, the file at a path. Files over 5 MiB are sent
   * in parts: after an interruption the upload continues where it was. The limits are in {@link info}.
   */
  upload(source: UploadSource, options?: UploadOptions): Promise<FileUploaded>;
  /** Announces several uploads, so that they count as this one request: pass the `ticket` to each {@link upload}. */
  uploadTicket(uploads: number, options?: CallOptions): Promise<UploadTicket>;
  /**
   * Downloads a file as the body of a response, always from the server itself, even if `fileUrl` has another origin. A
   * one-time file fails with `ONE_TIME_FILE`: use {@link receive}. In an encrypted room, pass the file from
   * {@link files}, whose `meta` is needed; reading the body fails with `DATA_DAMAGED` if a byte was changed.
   */
  download(file: Pick<FileEntry, 'fileUrl' | 'meta'>, options?: DownloadOptions): Promise<Response>;
  /**
   * Receives a one-time file: claims it, downloads it and, when it is saved, erases it from the room. If this fails, the
   * file is given back. Fails with `FILE_CLAIMED` while someone else is receiving it.
   */
  receive<T = Blob>(file: ReceivableFile, options?: ReceiveOptions<T>): Promise<T>;
  /** Reserves a one-time file for 30 minutes. Its `url` returns the file. {@link receive} does this automatically. */
  claim(fileId: string, options?: CallOptions): Promise<FileClaimed>;
  /** Confirms that a claimed file was received completely: erases it from the room. */
  confirmClaim(claim: string, options?: CallOptions): Promise<Confirmation>;
  /** Gives a claimed file back, so that others can receive it. */
  releaseClaim(claim: string, options?: CallOptions): Promise<Confirmation>;
  /**
   * Downloads all files, or the selected ones, as a zip archive in the body of a response. In an encrypted room this
   * fails with `ZIP_UNAVAILABLE`.
   */
  downloadZip(options?: ZipOptions): Promise<Response>;
  /**
   * Returns a URL of the zip archive that a browser can open as a link. It contains no PIN, and can be opened for 60
   * seconds.
   */
  zipUrl(options?: ZipOptions): Promise<string>;
  /** Removes a file. It can be restored for 60 seconds. */
  removeFile(fileId: string, options?: CallOptions): Promise<Confirmation>;
  /** Restores a file that was removed. */
  restoreFile(fileId: string, options?: CallOptions): Promise<Confirmation>;
  /** Removes an unfinished upload by its id (see `onUploadId`). Otherwise it counts towards the limits for 24 hours. */
  cancelUpload(uploadId: string, options?: CallOptions): Promise<void>;
  /**
   * Sends events of the room to a URL, whose host the operator of the server must have allowed. The `secret` of the
   * signatures is not returned again.
   */
  createWebhook(webhook: NewWebhook, options?: CallOptions): Promise<WebhookCreated>;
  /** Lists the webhooks of the room, oldest first, with their last delivery and their last error. */
  webhooks(options?: CallOptions): Promise<WebhookEntry[]>;
  deleteWebhook(id: string, options?: CallOptions): Promise<Confirmation>;
  /** Deletes the room with everything in it, for all devices. */
  delete(options?: CallOptions): Promise<Confirmation>;
  /**
   * Creates a link with fewer rights than the room code: `read` to see the room, `drop` to add files without seeing
   * anything. Open it with `client.room(link)`. It ends with the room, or after `expiresIn` seconds.
   */
  createLink(request: CreateLinkRequest, options?: CallOptions): Promise<Link>;
  /** Lists the links of the room, oldest first. */
  links(options?: CallOptions): Promise<Link[]>;
  /** Ends a link for everyone who has it, and closes its live channels. */
  revokeLink(linkId: string, options?: CallOptions): Promise<Confirmation>;
  /** Joins the room and receives its changes; see {@link LiveRoom}. */
  live(options?: LiveOptions): LiveRoom;
}

/** A change of the PIN also changes `access`. */
export function createRoomHandle(transport: Transport, access: RoomAccess): RoomBase {
  const code = parseRoomCode(access.code) ?? access.code;
  const path = roomPath(code);
  const withAccess = accessAdder(access);
  const call = async <T>(end: string, shape: Shape<T>, call: Call = {}) =>
    transport.call(path + end, shape, await withAccess(call));

  const room: RoomBase = {
    ...createTextRequests(transport, path, withAccess),
    code,
    link: `${transport.url}/r/${encodeURIComponent(code)}`,
    key: undefined,
    salt: undefined,
    seen: undefined,
    pin: () => access.pin.current,
    info: (options) => call('', isRoomInfo, options),
    details: (options) => call('?details=true', isRoomDetails, options),
    async update(changes, options) {
      const request = call('', isRoomInfo, { method: 'PATCH', json: changes, ...options });
      return changes.pin === undefined ? request : access.pin.change(changes.pin, request);
    },
    history: async (options) => (await call('/history', isHistoryList, options)).history,
    historyText: (version, options) => call(`/history/${version}`, isHistoryText, options),
    restore: async (version, options) => room.write((await room.historyText(version, options)).content, options),
    clearHistory: (options) => call('/history', isConfirmation, { method: 'DELETE', ...options }),
    files: async (options) => (await call('/files', isFileList, options)).files,
    upload: async (source, options = {}) =>
      upload({ transport, path, headers: await senderHeaders(access) }, source, options),
    uploadTicket: async (uploads, options) => {
      const issued = await call('/tickets', isTicketIssued, { method: 'POST', json: { uploads }, ...options });
      // A server before this feature has issued a ticket for something else.
      if (issued.uploads === undefined) throw invalidMessage('a ticket that is not for uploads');
      return { ticket: issued.ticket, uploads: issued.uploads, expiresAt: issued.expiresAt };
    },
    download: ({ fileUrl }, options) => download(transport, fileUrl, options),
    receive: ({ fileId, fileUrl, fileSize }, options = {}) => {
      const calls = {
        claim: (options: CallOptions) => room.claim(fileId, options),
        download: (claim: string, offset: number, options: CallOptions) => {
          const headers = { Range: offset > 0 ? `bytes=${offset}-` : undefined };
          const url = `${filePath(fileUrl)}?claim=${encodeURIComponent(claim)}`;
          return transport.send(url, { ...options, headers, omitsApiKey: true });
        },
        confirm: room.confirmClaim,
        release: room.releaseClaim,
      };
      const { timeoutSeconds = transport.timeouts?.seconds, onRetry = transport.onRetry } = options;
      return receive(calls, fileSize, { ...options, timeoutSeconds, onRetry });
    },
    claim: (fileId, options) =>
      call(`/files/${encodeURIComponent(fileId)}/claim`, isFileClaimed, { method: 'POST', ...options }),
    confirmClaim: (claim, options) =>
      call(`/claims/${encodeURIComponent(claim)}/done`, isConfirmation, { method: 'POST', ...options }),
    releaseClaim: (claim, options) =>
      call(`/claims/${encodeURIComponent(claim)}`, isConfirmation, { method: 'DELETE', ...options }),
    downloadZip: async ({ files, signal, timeoutSeconds } = {}) =>
      retainResponse(await transport.send(zipPath(path, files), await withAccess({ signal, timeoutSeconds }))),
    zipUrl: async ({ files, signal, timeoutSeconds } = {}) => {
      const { ticket } = await call('/tickets', isTicketIssued, { method: 'POST', signal, timeoutSeconds });
      return transport.url + zipPath(path, files, ticket);
    },
    removeFile: (fileId, options) =>
      call(`/files/${encodeURIComponent(fileId)}`, isConfirmation, { method: 'DELETE', ...options }),
    cancelUpload: async (uploadId, options) => {
      const request = { method: 'DELETE', headers: { 'Tus-Resumable': '1.0.0' }, ...options };
      await transport.send(`${path}/uploads/${encodeURIComponent(uploadId)}`, await withAccess(request));
    },
    restoreFile: (fileId, options) =>
      call(`/files/${encodeURIComponent(fileId)}/restore`, isConfirmation, { method: 'POST', ...options }),
    createWebhook: (webhook, options) =>
      call('/webhooks', isWebhookCreated, { method: 'POST', json: webhook, ...options }),
    webhooks: async (options) => (await call('/webhooks', isWebhookList, options)).webhooks,
    deleteWebhook: (id, options) =>
      call(`/webhooks/${encodeURIComponent(id)}`, isConfirmation, { method: 'DELETE', ...options }),
    delete: (options) => call('', isConfirmation, { method: 'DELETE', ...options }),
    createLink: (request, options) => call('/links', isLink, { method: 'POST', json: request, ...options }),
    links: async (options) => (await call('/links', isLinkList, options)).links,
    revokeLink: (linkId, options) =>
      call(`/links/${encodeURIComponent(linkId)}`, isConfirmation, { method: 'DELETE', ...options }),
    live: (options) => openLive(transport, path, access, options),
  };
  return room;
}

/** The headers of an upload. */
export const senderHeaders = async (access: RoomAccess): Promise<Record<string, string | undefined>> => ({
  ...(await accessHeaders(access)),
  'X-Device-Id': access.deviceId,
});

async function download(
  transport: Transport,
  fileUrl: string,
  { range, ifRange, signal, timeoutSeconds, reload }: DownloadOptions = {},
): Promise<Response> {
  const headers = { Range: range && `bytes=${range.from}-${range.to - 1}`, 'If-Range': range && ifRange };
  const response = await transport.send(filePath(fileUrl), {
    headers,
    signal,
    timeoutSeconds,
    reload,
    omitsApiKey: true,
  });
  const isOther = ifRange !== undefined && response.status === 200;
  if (range && response.status !== 206 && !isOther) throw unexpectedResponse(response.status);
  return retainResponse(response);
}

/** Adds the PIN or the key to a request. */
type AddAccess = (call: Call) => Promise<Call>;

const accessAdder =
  (access: RoomAccess): AddAccess =>
  async (call) => ({ ...call, headers: { ...(await accessHeaders(access)), ...call.headers } });

/**
 * Downloads always go to the server itself, which serves all files. A malicious `fileUrl` could otherwise direct the
 * program to an address in its local network.
 */
function filePath(fileUrl: string): string {
  const [, file] = /\/([0-9a-f]{32}\/[^/\\?#]+)(?:[?#].*)?$/s.exec(fileUrl) ?? [];
  if (file === undefined) throw new PoproomError('INVALID_RESPONSE', 'This is not the URL of a file in a room.');
  return `/files/${file}`;
}

function zipPath(path: string, files?: readonly string[], ticket?: string): string {
  const query = new URLSearchParams({ ...(ticket && { ticket }), ...(files && { files: files.join(',') }) });
  return `${path}/files.zip${query.size > 0 ? `?${query}` : ''}`;
}

const responsesByBody = new WeakMap<object, Response>();

/** Node ends the body when the response is garbage-collected, so the body must keep a reference to it. */
function retainResponse(response: Response): Response {
  if (response.body) responsesByBody.set(response.body, response);
  return response;
}

/** The interface of a room, for ordinary and encrypted ones. */

type TextRequests = Pick<RoomBase, 'read' | 'write' | 'edit' | 'append'>;

/** `path` is that of the room. */
function createTextRequests(transport: Transport, path: string, withAccess: AddAccess): TextRequests {
  const contentPath = `${path}/content`;

  async function text(call: Call): Promise<RoomText> {
    const { status, body, header } = await transport.request(contentPath, isContentRead, await withAccess(call));
    const version = body.version ?? parseVersion(header('ETag'));
    if (version === undefined) throw unexpectedResponse(status);
    return { content: body.content, version, timestamp: body.timestamp };
  }

  const patch = async (json: EditContentRequest, { signal, timeoutSeconds }: CallOptions = {}) => {
    const call = { method: 'PATCH', json, headers: transport.newIdempotencyKey(), signal, timeoutSeconds };
    return transport.call(contentPath, isContentEdited, await withAccess(call));
  };

  return {
    read: (options = {}) => text(options),
    write: (content, { baseVersion, ...options } = {}) => {
      const ifMatch = baseVersion === undefined ? undefined : `"${baseVersion}"`;
      const headers = { 'If-Match': ifMatch, ...transport.newIdempotencyKey() };
      return text({ ...options, method: 'POST', json: { content }, headers });
    },
    edit: (edits, { baseVersion, ...options } = {}) =>
      patch({ edits: [...edits], ...(baseVersion !== undefined && { baseVersion }) }, options),
    append: (text, options) => patch({ append: text }, options),
  };
}

/** Ignores what a proxy may add to the tag, such as `W/` or `-gzip`. */
function parseVersion(etag: string | null): number | undefined {
  const [digits] = /\d+/.exec(etag ?? '') ?? [];
  const version = Number(digits);
  return Number.isSafeInteger(version) ? version : undefined;
}
