/** Requests that read and write the text of a room without a live channel. */
import type { EditContentRequest, RoomText } from '../protocol/types.ts';
import { unexpectedResponse } from './error.ts';
import { isContent, isContentEdited } from './response-shapes.ts';
import { accessAdder, type FileRoom, type TextRequests } from './room.ts';
import type { RoomAccess } from './room-access.ts';
import { roomPath } from './room-access.ts';
import type { Call, CallOptions, Transport } from './transport.ts';

export function createTextRequests(transport: Transport, access: RoomAccess, room: FileRoom): TextRequests {
  const path = `${roomPath(room.code)}/content`;
  const withAccess = accessAdder(access);

  async function text(call: Call): Promise<RoomText> {
    const { status, body, header } = await transport.request(path, isContent, await withAccess(call));
    const version = body.version ?? parseVersion(header('ETag'));
    if (version === undefined) throw unexpectedResponse(status);
    return { content: body.content, version, timestamp: body.timestamp };
  }

  const patch = async (json: EditContentRequest, { signal, timeoutSeconds }: CallOptions = {}) => {
    const call = { method: 'PATCH', json, headers: transport.newIdempotencyKey(), signal, timeoutSeconds };
    return transport.call(path, isContentEdited, await withAccess(call));
  };

  const requests: TextRequests = {
    read: (options = {}) => text(options),
    write: (content, { baseVersion, ...options } = {}) => {
      const ifMatch = baseVersion === undefined ? undefined : `"${baseVersion}"`;
      const headers = { 'If-Match': ifMatch, ...transport.newIdempotencyKey() };
      return text({ ...options, method: 'POST', json: { content }, headers });
    },
    edit: (edits, { baseVersion, ...options } = {}) =>
      patch({ edits: [...edits], ...(baseVersion !== undefined && { baseVersion }) }, options),
    append: (text, options) => patch({ append: text }, options),
    restore: async (version, options) => requests.write((await room.historyText(version, options)).content, options),
  };
  return requests;
}

/** Ignores what a proxy may add to the tag, such as `W/` or `-gzip`. */
function parseVersion(etag: string | null): number | undefined {
  const [digits] = /\d+/.exec(etag ?? '') ?? [];
  const version = Number(digits);
  return Number.isSafeInteger(version) ? version : undefined;
}
