import type { SeenVersion } from '../protocol/sealed.ts';
import type { Confirmation, FileClaimed, FileEntry, FileUploaded } from '../protocol/types.ts';
import { type DownloadOptions, type ReceiveOptions, receive, retainResponse, type ZipOptions } from './download.ts';
import { invalidMessage, PoproomError, unexpectedResponse } from './error.ts';
import { type LiveOptions, type LiveRoom, openLive } from './live-channel.ts';
import { createJsonRequests, createRoomCalls, type JsonRequests } from './requests.ts';
import { isFileClaimed, isTicketIssued } from './response-checks.ts';
import { accessHeaders, type RoomAccess } from './room-access.ts';
import type { CallOptions, Transport } from './transport.ts';
import { type UploadOptions, type UploadSource, type UploadTicket, upload } from './upload.ts';

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
export interface RoomBase extends JsonRequests {
  /** The key of an encrypted room, for people to read and type. Undefined for other rooms. */
  readonly key: string | undefined;
  /** The salt of an encrypted room, which is not secret. Undefined before the first request. */
  readonly salt: string | undefined;
  /** The newest version of the text of an encrypted room that this object has seen; see {@link RoomKeyAccess}. */
  readonly seen: SeenVersion | undefined;
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
  /** Removes an unfinished upload by its id (see `onUploadId`). Otherwise it counts towards the limits for 24 hours. */
  cancelUpload(uploadId: string, options?: CallOptions): Promise<void>;
  /** Joins the room and receives its changes; see {@link LiveRoom}. */
  live(options?: LiveOptions): LiveRoom;
}

/** The methods with a required argument. The others have only options. */
export type MethodWithArgument = {
  [K in keyof RoomBase]: RoomBase[K] extends (...args: infer Args) => unknown ? ([] extends Args ? never : K) : never;
}[keyof RoomBase];

/** A change of the PIN also changes `access`. */
export function createRoomHandle(transport: Transport, access: RoomAccess): RoomBase {
  const { path, withAccess, post, confirm } = createRoomCalls(transport, access);

  const room: RoomBase = {
    ...createJsonRequests(transport, access),
    key: undefined,
    salt: undefined,
    seen: undefined,
    upload: async (source, options = {}) =>
      upload({ transport, path, headers: await senderHeaders(access) }, source, options),
    uploadTicket: async (uploads, options) => {
      const issued = await post('/tickets', isTicketIssued, options, { uploads });
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
    claim: (fileId, options) => post(`/files/${encodeURIComponent(fileId)}/claim`, isFileClaimed, options),
    confirmClaim: (claim, options) => confirm('POST', `/claims/${encodeURIComponent(claim)}/done`, options),
    releaseClaim: (claim, options) => confirm('DELETE', `/claims/${encodeURIComponent(claim)}`, options),
    downloadZip: async ({ files, signal, timeoutSeconds } = {}) =>
      retainResponse(await transport.send(zipPath(path, files), await withAccess({ signal, timeoutSeconds }))),
    zipUrl: async ({ files, signal, timeoutSeconds } = {}) => {
      const { ticket } = await post('/tickets', isTicketIssued, { signal, timeoutSeconds });
      return transport.url + zipPath(path, files, ticket);
    },
    cancelUpload: async (uploadId, options) => {
      const request = { method: 'DELETE', headers: { 'Tus-Resumable': '1.0.0' }, ...options };
      await transport.send(`${path}/uploads/${encodeURIComponent(uploadId)}`, await withAccess(request));
    },
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
  const call = { headers, signal, timeoutSeconds, reload, omitsApiKey: true };
  const response = await transport.send(filePath(fileUrl), call);
  const isOther = ifRange !== undefined && response.status === 200;
  if (range && response.status !== 206 && !isOther) throw unexpectedResponse(response.status);
  return retainResponse(response);
}

/** Always on the server itself: a malicious `fileUrl` could name an address in the local network of the program. */
function filePath(fileUrl: string): string {
  const [, file] = /\/([0-9a-f]{32}\/[^/\\?#]+)(?:[?#].*)?$/s.exec(fileUrl) ?? [];
  if (file === undefined) throw new PoproomError('INVALID_RESPONSE', 'This is not the URL of a file in a room.');
  return `/files/${file}`;
}

function zipPath(path: string, files?: readonly string[], ticket?: string): string {
  const query = new URLSearchParams({ ...(ticket && { ticket }), ...(files && { files: files.join(',') }) });
  return `${path}/files.zip${query.size > 0 ? `?${query}` : ''}`;
}
