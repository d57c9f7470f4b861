/** One room, from outside (requests) and from inside (the live channel). */
import { parseRoomCode } from '../protocol/room-code.ts';
import type {
  Confirmation,
  ContentEdited,
  ContentRead,
  ContentWritten,
  EditContentRequest,
  FileEntry,
  FileList,
  FileUploaded,
  HistoryEntry,
  HistoryList,
  HistoryText,
  RoomInfo,
  RoomText,
  TextEdit,
} from '../protocol/types.ts';
import { type LiveOptions, type LiveRoom, openLive } from './live.ts';
import { type UploadOptions, upload } from './upload.ts';
import type { UploadSource } from './upload-source.ts';
import type { Call, CallOptions, Wire } from './wire.ts';

export interface RoomAccess {
  code: string;
  pin: string | undefined;
  deviceId: string | undefined;
  deviceName: string | undefined;
}

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
  /** The bytes, as the body of a response. */
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
  const call = <T>(end: string, call: Call = {}) => wire.call<T>(path + end, withPin(call));

  async function text(call: Call): Promise<RoomText> {
    const { body, header } = await wire.ask<ContentRead | ContentWritten>(`${path}/content`, withPin(call));
    return { content: body.content, version: versionIn(header('ETag')), timestamp: body.timestamp };
  }

  const patch = (json: EditContentRequest, { signal }: CallOptions = {}) =>
    call<ContentEdited>('/content', { method: 'PATCH', json, signal });

  const room: RoomBase = {
    code,
    link: `${wire.url}/r/${encodeURIComponent(code)}`,
    info: (options) => call('', options),
    read: (options = {}) => text(options),
    write: (content, { baseVersion, signal } = {}) => {
      const headers = { 'If-Match': baseVersion === undefined ? undefined : `"${baseVersion}"` };
      return text({ method: 'POST', json: { content }, headers, signal });
    },
    edit: (edits, { baseVersion, ...options } = {}) =>
      patch({ edits: [...edits], ...(baseVersion !== undefined && { baseVersion }) }, options),
    append: (text, options) => patch({ append: text }, options),
    history: async (options) => (await call<HistoryList>('/history', options)).history,
    historyText: (version, options) => call(`/history/${version}`, options),
    restore: async (version, options) => room.write((await room.historyText(version, options)).content, options),
    clearHistory: (options) => call('/history', { method: 'DELETE', ...options }),
    files: async (options) => (await call<FileList>('/files', options)).files,
    upload: (source, options = {}) => upload(wire, `${path}/upload`, source, { ...options, pin: access.pin }),
    download: async ({ fileUrl }, options) => keptByBody(await wire.send(fileUrl, options)),
    removeFile: (fileId, options) => call(`/files/${encodeURIComponent(fileId)}`, { method: 'DELETE', ...options }),
    delete: (options) => call('', { method: 'DELETE', ...options }),
    live: (options) => openLive(wire, path, access, options),
  };
  return room;
}

const versionIn = (etag: string | null) => Number(etag?.replaceAll(/\D/g, ''));

const keptResponses = new WeakMap<object, Response>();

/** Node ends a body with the response that it is of: who keeps the one alone would find the bytes missing. */
function keptByBody(response: Response): Response {
  if (response.body) keptResponses.set(response.body, response);
  return response;
}
