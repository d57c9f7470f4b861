/**
 * The message format between nodes: `NODE SEQ`, then ` {"entry": …}` for a small edit of the text, ` devices` if only
 * the devices changed, or ` received FILE` if a one-time file was received. Versions without a text log send and read only the first two words.
 */
import type { RoomChange, TextEntry } from '../core/ports.ts';

/** Bytes of JSON. Without an entry, a node reads the store. */
const maxEntryBytes = 8 * 1024;

const receivedPrefix = 'received ';

export function encodeMessage(node: string, change: RoomChange): string {
  const payload = payloadOf(change);
  return payload === undefined ? `${node} ${change.seq}` : `${node} ${change.seq} ${payload}`;
}

function payloadOf({ entry, devicesOnly, received }: RoomChange): string | undefined {
  if (devicesOnly) return 'devices';
  if (received !== undefined) return receivedPrefix + received;
  const json = entry && JSON.stringify(entry);
  return json && Buffer.byteLength(json) <= maxEntryBytes ? `{"entry":${json}}` : undefined;
}

/** A malformed payload or seq is ignored, so that listeners read the store. */
export function decodeMessage(message: string): { node: string; change: RoomChange } {
  const [node = '', seq] = message.split(' ', 2);
  const payload = message.slice(`${node} ${seq} `.length);
  const known = Number.isSafeInteger(Number(seq)) ? Number(seq) : 0;
  if (payload === 'devices') return { node, change: { seq: known, devicesOnly: true } };
  if (payload.startsWith(receivedPrefix)) {
    return { node, change: { seq: known, received: payload.slice(receivedPrefix.length) } };
  }
  const entry = entryIn(payload);
  return { node, change: entry ? { seq: known, entry } : { seq: known } };
}

function entryIn(payload: string): TextEntry | undefined {
  if (payload === '') return undefined;
  try {
    const { version, edits, sealed, deviceId, ref, writtenAt } = JSON.parse(payload).entry;
    const entry = { version, edits, deviceId, ref, writtenAt, ...(typeof sealed === 'string' && { sealed }) };
    return isEntry(entry) ? entry : undefined;
  } catch {
    return undefined;
  }
}

function isEntry({ version, edits, deviceId, ref, writtenAt }: Record<string, unknown>): boolean {
  const hasNumbers = Number.isSafeInteger(version) && Number.isFinite(writtenAt);
  return hasNumbers && isTextOrMissing(deviceId) && isTextOrMissing(ref) && Array.isArray(edits) && edits.every(isEdit);
}

function isEdit(edit: unknown): boolean {
  const { from, to, insert } = Object(edit);
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && typeof insert === 'string';
}

const isTextOrMissing = (value: unknown): boolean => value === undefined || typeof value === 'string';
