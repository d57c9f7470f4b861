/** One room: its requests and its live channel. */
import { parseRoomCode } from '../protocol/room-code.ts';
import type { EditContentRequest, RoomText } from '../protocol/types.ts';
import { PoproomError, unexpectedResponse } from './error.ts';
import { openLive } from './live.ts';
import { receive } from './receive.ts';
import { accessHeaders, type RoomAccess } from './room-access.ts';
import type { DownloadOptions, RoomBase } from './room-base.ts';
import {
  isConfirmation,
  isContent,
  isContentEdited,
  isFileClaimed,
  isFileList,
  isHistoryList,
  isHistoryText,
  isRoomInfo,
  isTicketIssued,
  type Shape,
} from './shapes.ts';
import type { Call, CallOptions, Transport } from './transport.ts';
import { upload } from './upload.ts';

/** A change of the PIN also changes `access`. */
export function createRoomHandle(transport: Transport, access: RoomAccess): RoomBase {
  const code = parseRoomCode(access.code) ?? access.code;
  const path = `/api/rooms/${encodeURIComponent(code)}`;
  const withAccess = async (call: Call): Promise<Call> => ({
    ...call,
    headers: { ...(await accessHeaders(access)), ...call.headers },
  });
  const call = async <T>(end: string, shape: Shape<T>, call: Call = {}) =>
    transport.call(path + end, shape, await withAccess(call));

  async function text(call: Call): Promise<RoomText> {
    const { status, body, header } = await transport.request(`${path}/content`, isContent, await withAccess(call));
    const version = body.version ?? parseVersion(header('ETag'));
    if (version === undefined) throw unexpectedResponse(status);
    return { content: body.content, version, timestamp: body.timestamp };
  }

  const patch = (json: EditContentRequest, { signal }: CallOptions = {}) =>
    call('/content', isContentEdited, { method: 'PATCH', json, signal });

  const room: RoomBase = {
    code,
    link: `${transport.url}/r/${encodeURIComponent(code)}`,
    key: undefined,
    seen: undefined,
    info: (options) => call('', isRoomInfo, options),
    async update(changes, options) {
      const info = await call('', isRoomInfo, { method: 'PATCH', json: changes, ...options });
      if (changes.pin !== undefined) access.pin = changes.pin ?? undefined;
      return info;
    },
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
    upload: async (source, options = {}) =>
      upload({ transport, path, headers: await senderHeaders(access) }, source, options),
    download: ({ fileUrl }, options) => download(transport, fileUrl, options),
    receive: ({ fileId, fileUrl, fileSize }, options = {}) => {
      const calls = {
        claim: (options: CallOptions) => room.claim(fileId, options),
        download: (claim: string, offset: number, { signal }: CallOptions) => {
          const headers = { Range: offset > 0 ? `bytes=${offset}-` : undefined };
          const url = `${filePath(fileUrl)}?claim=${encodeURIComponent(claim)}`;
          return transport.send(url, { headers, signal, omitsApiKey: true });
        },
        confirm: room.confirmClaim,
        release: room.releaseClaim,
      };
      return receive(calls, fileSize, options);
    },
    claim: (fileId, options) =>
      call(`/files/${encodeURIComponent(fileId)}/claim`, isFileClaimed, { method: 'POST', ...options }),
    confirmClaim: (claim, options) =>
      call(`/claims/${encodeURIComponent(claim)}/done`, isConfirmation, { method: 'POST', ...options }),
    releaseClaim: (claim, options) =>
      call(`/claims/${encodeURIComponent(claim)}`, isConfirmation, { method: 'DELETE', ...options }),
    downloadZip: async ({ files, signal } = {}) =>
      retainResponse(await transport.send(zipPath(path, files), await withAccess({ signal }))),
    zipUrl: async ({ files, signal } = {}) => {
      const { ticket } = await call('/tickets', isTicketIssued, { method: 'POST', signal });
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
    delete: (options) => call('', isConfirmation, { method: 'DELETE', ...options }),
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
  { range, signal }: DownloadOptions = {},
): Promise<Response> {
  const headers = { Range: range && `bytes=${range.from}-${range.to - 1}` };
  const response = await transport.send(filePath(fileUrl), { headers, signal, omitsApiKey: true });
  if (range && response.status !== 206) throw unexpectedResponse(response.status);
  return retainResponse(response);
}

/** Ignores what a proxy may add to the tag, such as `W/` or `-gzip`. */
function parseVersion(etag: string | null): number | undefined {
  const [digits] = /\d+/.exec(etag ?? '') ?? [];
  const version = Number(digits);
  return Number.isSafeInteger(version) ? version : undefined;
}

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
