/** The interface of a room, for ordinary and encrypted ones. */
import type {
  Confirmation,
  ContentEdited,
  FileClaimed,
  FileEntry,
  FileUploaded,
  HistoryEntry,
  HistoryText,
  RoomDetails,
  RoomInfo,
  RoomText,
  TextEdit,
  UpdateRoomRequest,
} from '../protocol/types.ts';
import type { SeenVersion } from './encryption.ts';
import type { LiveRoom } from './live.ts';
import type { LiveOptions } from './live-channel.ts';
import type { ReceiveOptions } from './receive.ts';
import type { CallOptions } from './transport.ts';
import type { OnProgress, UploadOptions } from './upload.ts';
import type { UploadSource } from './upload-source.ts';

export interface WriteOptions extends CallOptions {
  /** Writes only if this is still the current version; otherwise fails with `VERSION_CONFLICT`. */
  baseVersion?: number | undefined;
}

export interface EditOptions extends CallOptions {
  /** The version that the positions of the edits refer to. Default: the current one. */
  baseVersion?: number | undefined;
}

/** The fields of a one-time file that {@link RoomBase.receive} needs. */
export type ReceivableFile = Pick<FileEntry, 'fileId' | 'fileUrl' | 'fileSize' | 'meta'>;

export interface DownloadOptions extends CallOptions {
  /** Only these bytes of the file; `to` is exclusive. Default: the whole file. */
  range?: { readonly from: number; readonly to: number } | undefined;
  /** Called with the number of bytes read from the body, and that of all. */
  onProgress?: OnProgress | undefined;
  /** Does not use what the browser has cached. In an encrypted room this is automatic after a damaged download. */
  reload?: boolean | undefined;
}

export interface ZipOptions extends CallOptions {
  /** The ids of the files to include, at most 200. Default: all files. */
  files?: readonly string[] | undefined;
  /** Called with the number of bytes read from the body of `downloadZip`. The total is undefined if it is unknown. */
  onProgress?: OnProgress | undefined;
}

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
  /** Deletes the room with everything in it, for all devices. */
  delete(options?: CallOptions): Promise<Confirmation>;
  /** Joins the room and receives its changes; see {@link LiveRoom}. */
  live(options?: LiveOptions): LiveRoom;
}
