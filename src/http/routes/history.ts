/** Earlier texts of a room. */
import type { CheckpointInfo } from '../../core/ports.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import { pinOnlyRequest } from '../../protocol/schemas.ts';
import type { Confirmation, HistoryEntry, HistoryList, HistoryText } from '../../protocol/types.ts';
import { readJson, smallBody } from '../request/json-body.ts';
import { callerOf, limitIn } from '../request/request.ts';
import { compress, variesByEncoding } from '../response/compression.ts';
import { json } from '../response/reply.ts';
import type { Handler, Service } from './handler.ts';

export const listHistory =
  ({ rooms }: Service): Handler =>
  async (request) => {
    const limit = limitIn(request);
    const history = (await rooms.listHistory(callerOf(request))).slice(0, limit);
    return compress(request.raw, json(200, { history: history.map(entryOf) } satisfies HistoryList, variesByEncoding));
  };

export const readHistory =
  ({ rooms }: Service): Handler =>
  async (request) => {
    const checkpoint = await rooms.readHistory(callerOf(request), versionIn(request.params.version));
    const text = { content: checkpoint.content, ...entryOf(checkpoint) } satisfies HistoryText;
    return compress(request.raw, json(200, text, variesByEncoding));
  };

export const clearHistory =
  ({ rooms }: Service): Handler =>
  async (request) => {
    const { pin } = await readJson<{ pin?: string }>(request, pinOnlyRequest, smallBody);
    await rooms.clearHistory(callerOf(request, pin));
    return json(200, { success: true, message: 'The history was deleted.' } satisfies Confirmation);
  };

function entryOf({ version, writtenAt, size, deviceId }: CheckpointInfo): HistoryEntry {
  return { version, timestamp: toTimestamp(writtenAt), size, ...(deviceId !== undefined && { deviceId }) };
}

/** Invalid text becomes -1, which no history contains. */
const versionIn = (text = ''): number => (/^\d{1,15}$/.test(text) ? Number(text) : -1);
