/** The requests of a room that have JSON bodies: its settings, its text, and the lists of what belongs to it. */
import { parseRoomCode } from '../protocol/room-code.ts';
import type * as types from '../protocol/types.ts';
import { unexpectedResponse } from './error.ts';
import * as checks from './response-checks.ts';
import { accessHeaders, type RoomAccess, roomPath } from './room-access.ts';
import type { Shape } from './shapes.ts';
import type { Call, CallOptions, Transport } from './transport.ts';

export interface WriteOptions extends CallOptions {
  /** Writes only if this is still the current version; otherwise fails with `VERSION_CONFLICT`. */
  baseVersion?: number | undefined;
}

export interface EditOptions extends CallOptions {
  /** The version that the positions of the edits refer to. Default: the current one. */
  baseVersion?: number | undefined;
}

/** The URL of a webhook, and its events; all of them by default. */
export type NewWebhook = Omit<types.CreateWebhookRequest, 'pin'>;

export interface JsonRequests {
  /** The room code, or the id of a link. */
  readonly code: string;
  /** URL of the room's page, to share with people. That of an encrypted room contains the key, after `#`. */
  readonly link: string;
  /** The PIN that requests send. Undefined after someone else has changed it while a live channel was open. */
  pin(): string | undefined;
  info(options?: CallOptions): Promise<types.RoomInfo>;
  /** The same with the version and size of the text, and the files, in one request. Older servers send neither. */
  details(options?: CallOptions): Promise<types.RoomDetails>;
  /**
   * Changes when the room expires (`expiresIn`, in seconds from now), its PIN or its name. `null` removes the PIN or the
   * name. This object and its live channels use the new PIN from then on.
   */
  update(changes: types.UpdateRoomRequest, options?: CallOptions): Promise<types.RoomInfo>;
  /** Reads the text and its version. */
  read(options?: CallOptions): Promise<types.RoomText>;
  /** Replaces the whole text. */
  write(content: string, options?: WriteOptions): Promise<types.RoomText>;
  /** Replaces ranges of the text. The server rebases edits of an older version over newer ones. */
  edit(edits: readonly types.TextEdit[], options?: EditOptions): Promise<types.ContentEdited>;
  /** Appends to the text. */
  append(text: string, options?: CallOptions): Promise<types.ContentEdited>;
  /** Lists the earlier texts of the room, newest first. In an encrypted room, `size` is that of the sealed text. */
  history(options?: CallOptions): Promise<types.HistoryEntry[]>;
  /** Reads one of the earlier texts. */
  historyText(version: number, options?: CallOptions): Promise<types.HistoryText>;
  /** Makes an earlier text the current one again, as a new version. */
  restore(version: number, options?: CallOptions): Promise<types.RoomText>;
  /** Deletes all earlier texts, but not the current one. */
  clearHistory(options?: CallOptions): Promise<types.Confirmation>;
  /** Lists the files of the room, oldest first. */
  files(options?: CallOptions): Promise<types.FileEntry[]>;
  /** Removes a file. It can be restored for 60 seconds. */
  removeFile(fileId: string, options?: CallOptions): Promise<types.Confirmation>;
  /** Restores a file that was removed. */
  restoreFile(fileId: string, options?: CallOptions): Promise<types.Confirmation>;
  /**
   * Sends events of the room to a URL, whose host the operator of the server must have allowed. The `secret` of the
   * signatures is not returned again.
   */
  createWebhook(webhook: NewWebhook, options?: CallOptions): Promise<types.WebhookCreated>;
  /** Lists the webhooks of the room, oldest first, with their last delivery and their last error. */
  webhooks(options?: CallOptions): Promise<types.WebhookEntry[]>;
  deleteWebhook(id: string, options?: CallOptions): Promise<types.Confirmation>;
  /** Deletes the room with everything in it, for all devices. */
  delete(options?: CallOptions): Promise<types.Confirmation>;
  /**
   * Creates a link with fewer rights than the room code: `read` to see the room, `drop` to add files without seeing
   * anything. Open it with `client.room(link)`. It ends with the room, or after `expiresIn` seconds.
   */
  createLink(request: types.CreateLinkRequest, options?: CallOptions): Promise<types.Link>;
  /** Lists the links of the room, oldest first. */
  links(options?: CallOptions): Promise<types.Link[]>;
  /** Ends a link for everyone who has it, and closes its live channels. */
  revokeLink(linkId: string, options?: CallOptions): Promise<types.Confirmation>;
  /** Reports the room to the operator of the server, if it takes reports. Sends nothing of the text or the files. */
  report(request: types.CreateReportRequest, options?: CallOptions): Promise<types.Confirmation>;
}

/** How to call a room: its code in its usual form, its path, and requests with its PIN or key, to a path below that. */
export function createRoomCalls(transport: Transport, access: RoomAccess) {
  const code = parseRoomCode(access.code) ?? access.code;
  const path = roomPath(code);
  const withAccess = async ({ headers, ...call }: Call): Promise<Call> => ({
    ...call,
    headers: { ...(await accessHeaders(access)), ...headers },
  });
  const call: RoomCall = async (end, shape, call = {}) => transport.call(path + end, shape, await withAccess(call));
  const post = <T>(end: string, shape: Shape<T>, options?: CallOptions, json?: unknown) =>
    call(end, shape, { method: 'POST', json, ...options });
  const confirm = (method: 'POST' | 'DELETE', end: string, options?: CallOptions) =>
    call(end, checks.isConfirmation, { method, ...options });
  return { code, path, withAccess, call, post, confirm };
}

export type RoomCall = <T>(end: string, shape: Shape<T>, call?: Call) => Promise<T>;

/** A change of the PIN also changes `access`. */
export function createJsonRequests(transport: Transport, access: RoomAccess): JsonRequests {
  const { code, path, withAccess, call, post, confirm } = createRoomCalls(transport, access);

  async function text(call: Call): Promise<types.RoomText> {
    const request = await withAccess(call);
    const { status, body, header } = await transport.request(`${path}/content`, checks.isContentRead, request);
    const version = body.version ?? parseVersion(header('ETag'));
    if (version === undefined) throw unexpectedResponse(status);
    return { content: body.content, version, timestamp: body.timestamp };
  }

  const patch = (json: types.EditContentRequest, { signal, timeoutSeconds }: CallOptions = {}) => {
    const headers = transport.newIdempotencyKey();
    return call('/content', checks.isContentEdited, { method: 'PATCH', json, headers, signal, timeoutSeconds });
  };

  const room: JsonRequests = {
    code,
    link: `${transport.url}/r/${encodeURIComponent(code)}`,
    pin: access.pin.current,
    info: (options) => call('', checks.isRoomInfo, options),
    details: (options) => call('?details=true', checks.isRoomDetails, options),
    async update(changes, options) {
      const request = call('', checks.isRoomInfo, { method: 'PATCH', json: changes, ...options });
      return changes.pin === undefined ? request : access.pin.change(changes.pin, request);
    },
    read: (options = {}) => text(options),
    write: (content, { baseVersion, ...options } = {}) => {
      const ifMatch = baseVersion === undefined ? undefined : `"${baseVersion}"`;
      const headers = { 'If-Match': ifMatch, ...transport.newIdempotencyKey() };
      return text({ ...options, method: 'POST', json: { content }, headers });
    },
    edit: (edits, { baseVersion, ...options } = {}) =>
      patch({ edits: [...edits], ...(baseVersion !== undefined && { baseVersion }) }, options),
    append: (text, options) => patch({ append: text }, options),
    history: async (options) => (await call('/history', checks.isHistoryList, options)).history,
    historyText: (version, options) => call(`/history/${version}`, checks.isHistoryText, options),
    restore: async (version, options) => room.write((await room.historyText(version, options)).content, options),
    clearHistory: (options) => confirm('DELETE', '/history', options),
    files: async (options) => (await call('/files', checks.isFileList, options)).files,
    removeFile: (fileId, options) => confirm('DELETE', `/files/${encodeURIComponent(fileId)}`, options),
    restoreFile: (fileId, options) => confirm('POST', `/files/${encodeURIComponent(fileId)}/restore`, options),
    createWebhook: (webhook, options) => post('/webhooks', checks.isWebhookCreated, options, webhook),
    webhooks: async (options) => (await call('/webhooks', checks.isWebhookList, options)).webhooks,
    deleteWebhook: (id, options) => confirm('DELETE', `/webhooks/${encodeURIComponent(id)}`, options),
    delete: (options) => confirm('DELETE', '', options),
    createLink: (request, options) => post('/links', checks.isLink, options, request),
    links: async (options) => (await call('/links', checks.isLinkList, options)).links,
    revokeLink: (linkId, options) => confirm('DELETE', `/links/${encodeURIComponent(linkId)}`, options),
    report: (request, options) => post('/reports', checks.isConfirmation, options, request),
  };
  return room;
}

/** Ignores what a proxy may add to the tag, such as `W/` or `-gzip`. */
function parseVersion(etag: string | null): number | undefined {
  const [digits] = /\d+/.exec(etag ?? '') ?? [];
  const version = Number(digits);
  return Number.isSafeInteger(version) ? version : undefined;
}
