/** One room: its requests and its live channel. */
import { parseRoomCode } from '../protocol/room-code.ts';
import { PoproomError, unexpectedResponse } from './error.ts';
import { openLive } from './live.ts';
import type { receive } from './receive.ts';
import {
  isConfirmation,
  isFileClaimed,
  isFileList,
  isHistoryList,
  isHistoryText,
  isRoomDetails,
  isTicketIssued,
} from './response-shapes.ts';
import { accessHeaders, type RoomAccess, roomPath } from './room-access.ts';
import type { DownloadOptions, RoomBase } from './room-base.ts';
import { isRoomInfo, type Shape } from './shapes.ts';
import type { Call, CallOptions, Transport } from './transport.ts';
import type { upload } from './upload.ts';

/** The requests that read and write the text, which a page does with its live channel; see room-text.ts. */
export type TextRequests = Pick<RoomBase, 'read' | 'write' | 'edit' | 'append' | 'restore'>;

/** A room without the requests for its text. */
export type FileRoom = Omit<RoomBase, keyof TextRequests>;

/** The code that transfers files, which a page can load on demand. */
export interface FileTransfer {
  upload: typeof upload;
  receive: typeof receive;
}

/** A change of the PIN also changes `access`. */
export function createRoomHandle(transport: Transport, access: RoomAccess, transfer: FileTransfer): FileRoom {
  const code = parseRoomCode(access.code) ?? access.code;
  const path = roomPath(code);
  const withAccess = accessAdder(access);
  const call = async <T>(end: string, shape: Shape<T>, call: Call = {}) =>
    transport.call(path + end, shape, await withAccess(call));

  const room: FileRoom = {
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
    clearHistory: (options) => call('/history', isConfirmation, { method: 'DELETE', ...options }),
    files: async (options) => (await call('/files', isFileList, options)).files,
    upload: async (source, options = {}) =>
      transfer.upload({ transport, path, headers: await senderHeaders(access) }, source, options),
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
      return transfer.receive(calls, fileSize, { ...options, timeoutSeconds, onRetry });
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
  { range, signal, timeoutSeconds, reload }: DownloadOptions = {},
): Promise<Response> {
  const headers = { Range: range && `bytes=${range.from}-${range.to - 1}` };
  const response = await transport.send(filePath(fileUrl), {
    headers,
    signal,
    timeoutSeconds,
    reload,
    omitsApiKey: true,
  });
  if (range && response.status !== 206) throw unexpectedResponse(response.status);
  return retainResponse(response);
}

/** Adds the PIN or the key to a request. */
export const accessAdder =
  (access: RoomAccess) =>
  async (call: Call): Promise<Call> => ({ ...call, headers: { ...(await accessHeaders(access)), ...call.headers } });

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
