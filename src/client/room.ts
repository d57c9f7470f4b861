/** One room, from outside (requests) and from inside (the live channel). */
import { parseRoomCode } from '../protocol/room-code.ts';
import type {
  Confirmation,
  ContentEdited,
  EditContentRequest,
  FileEntry,
  FileUploaded,
  HistoryEntry,
  HistoryText,
  RoomInfo,
  RoomText,
  TextEdit,
} from '../protocol/types.ts';
import { notItsOwn, PoproomError } from './error.ts';
import { type LiveOptions, type LiveRoom, openLive } from './live.ts';
import type { RoomAccess } from './room-access.ts';
import {
  isConfirmation,
  isContent,
  isContentEdited,
  isFileList,
  isHistoryList,
  isHistoryText,
  isRoomInfo,
  type Shape,
} from './shapes.ts';
import { type UploadOptions, upload } from './upload.ts';
import type { UploadSource } from './upload-source.ts';
import type { Call, CallOptions, Wire } from './wire.ts';

export interface WriteOptions extends CallOptions {
  /** Stores the text only if this is still the version; else it fails with `VERSION_CONFLICT`. */
  baseVersion?: number | undefined;
}

export interface EditOptions extends CallOptions {
  /** The version that the edits are made for; the current one when not said. */
  baseVersion?: number | undefined;
}

/** A room without its shared text, which `Room` adds. */
export interface RoomBase {
  readonly code: string;
  /** Of its page, for people. */
  readonly link: string;
  info(options?: CallOptions): Promise<RoomInfo>;
  read(options?: CallOptions): Promise<RoomText>;
  /** Replaces the text. */
  write(content: string, options?: WriteOptions): Promise<RoomText>;
  /** Replaces ranges of the text. Edits of an older version are rebased over the newer ones. */
  edit(edits: readonly TextEdit[], options?: EditOptions): Promise<ContentEdited>;
  /** Adds to the end of the text. */
  append(text: string, options?: CallOptions): Promise<ContentEdited>;
  /** Earlier texts of the room, newest first. */
  history(options?: CallOptions): Promise<HistoryEntry[]>;
  historyText(version: number, options?: CallOptions): Promise<HistoryText>;
  /** Makes an earlier text the current one again. */
  restore(version: number, options?: CallOptions): Promise<RoomText>;
  /** Deletes all earlier texts; the current one stays. */
  clearHistory(options?: CallOptions): Promise<Confirmation>;
  files(options?: CallOptions): Promise<FileEntry[]>;
  /** A Blob or File, bytes, a stream of them, or where there is a file system the path of a file. */
  upload(source: UploadSource, options?: UploadOptions): Promise<FileUploaded>;
  /** The bytes, as the body of a response. They come from the server itself, whatever address the file has. */
  download(file: Pick<FileEntry, 'fileUrl'>, options?: CallOptions): Promise<Response>;
  removeFile(fileId: string, options?: CallOptions): Promise<Confirmation>;
  /** With everything that is in it, for good. */
  delete(options?: CallOptions): Promise<Confirmation>;
  /** Enters the room; see {@link LiveRoom}. */
  live(options?: LiveOptions): LiveRoom;
}

export function createRoomHandle(wire: Wire, access: RoomAccess): RoomBase {
  const code = parseRoomCode(access.code) ?? access.code;
  const path = `/api/rooms/${encodeURIComponent(code)}`;
  const withPin = (call: Call): Call => ({ ...call, headers: { 'X-Room-Pin': access.pin, ...call.headers } });
  const call = <T>(end: string, shape: Shape<T>, call: Call = {}) => wire.call(path + end, shape, withPin(call));

  async function text(call: Call): Promise<RoomText> {
    const { status, body, header } = await wire.ask(`${path}/content`, isContent, withPin(call));
    const version = versionIn(header('ETag'));
    if (version === undefined) throw notItsOwn(status);
    return { content: body.content, version, timestamp: body.timestamp };
  }

  const patch = (json: EditContentRequest, { signal }: CallOptions = {}) =>
    call('/content', isContentEdited, { method: 'PATCH', json, signal });

  const room: RoomBase = {
    code,
    link: `${wire.url}/r/${encodeURIComponent(code)}`,
    info: (options) => call('', isRoomInfo, options),
    read: (options = {}) => text(options),
    write: (content, { baseVersion, signal } = {}) => {
      const headers = { 'If-Match': baseVersion === undefined ? undefined : `"${baseVersion}"` };
      return text({ method: 'POST', json: { content }, headers, signal });
    },
    edit: (edits, { baseVersion, ...options } = {}) =>
      patch({ edits: [...edits], ...(baseVersion !== undefined && { baseVersion }) }, options),
    append: (text, options) => patch({ append: text }, options),
    history: async (options) => (await call('/history', isHistoryList, options)).history,
    historyText: (version, options) => call(`/history/${version}`, isHistoryText, options),
    restore: async (version, options) => room.write((await room.historyText(version, options)).content, options),
    clearHistory: (options) => call('/history', isConfirmation, { method: 'DELETE', ...options }),
    files: async (options) => (await call('/files', isFileList, options)).files,
    upload: (source, options = {}) => upload(wire, `${path}/upload`, source, { ...options, pin: access.pin }),
    download: async ({ fileUrl }, options) =>
      keptByBody(await wire.send(filePath(fileUrl), { ...options, isAnonymous: true })),
    removeFile: (fileId, options) =>
      call(`/files/${encodeURIComponent(fileId)}`, isConfirmation, { method: 'DELETE', ...options }),
    delete: (options) => call('', isConfirmation, { method: 'DELETE', ...options }),
    live: (options) => openLive(wire, path, access, options),
  };
  return room;
}

/** Something on the way may have marked it as weak, or as compressed. */
function versionIn(etag: string | null): number | undefined {
  const [digits] = /\d+/.exec(etag ?? '') ?? [];
  const version = Number(digits);
  return Number.isSafeInteger(version) ? version : undefined;
}

/**
 * A server hands out its files itself, also where their addresses are elsewhere. Those are for people: a program that
 * asks whatever address it is given could be led into the network of its device.
 */
function filePath(fileUrl: string): string {
  const [, file] = /\/([0-9a-f]{32}\/[^/\\?#]+)(?:[?#].*)?$/s.exec(fileUrl) ?? [];
  if (file === undefined) throw new PoproomError('INVALID_RESPONSE', 'This is not the address of a file of a room.');
  return `/files/${file}`;
}

const keptResponses = new WeakMap<object, Response>();

/** Node ends a body with the response that it is of: who keeps the one alone would find the bytes missing. */
function keptByBody(response: Response): Response {
  if (response.body) keptResponses.set(response.body, response);
  return response;
}
