/** Converts database rows to records of the ports. */
import type {
  ApiKey,
  Checkpoint,
  CheckpointInfo,
  Owner,
  Room,
  RoomRecord,
  StoredFile,
  UnfinishedFile,
} from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { type Compressed, decompress } from './compression.ts';
import type { CachedRoom } from './room-cache.ts';

type Row = Record<string, unknown>;

export function cachedRoomOf(row: Row): CachedRoom {
  return {
    room: roomOf(row),
    pinMac: row.pin_mac as Uint8Array | null,
    content: undefined,
  };
}

// By name, never *, because room ids may not fit into a JavaScript number.
export const roomColumns = 'code, created_at, expires_at, pin_mac, salt, name, file_count, file_bytes';
export const recordColumns = `${roomColumns}, seq, pin_attempts, version, written_at, keeps_history, revision`;
/** Separate, because not every query needs them. */
export const ownerColumns = 'client, network, text_charge';
export const fileColumns =
  'files.id, blob, files.name, type, size, uploaded_at, files.client, files.network, folder, device, once, meta';
export const uploadColumns = 'received, blob_state, ends_at';
/** A condition for files that are neither removed nor unfinished. */
export const isListed = 'removed_at IS NULL AND received IS NULL';

export function roomOf(row: Row): Room {
  return {
    code: row.code as RoomCode,
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number,
    hasPin: row.pin_mac !== null && row.salt === null,
    ...saltOf(row),
    name: (row.name as string | null) ?? undefined,
    fileCount: row.file_count as number,
    fileBytes: row.file_bytes as number,
  };
}

/** Only for encrypted rooms. */
const saltOf = ({ salt }: Row) => (salt === null ? {} : { salt: salt as string });

/** A row of `recordColumns` and `ownerColumns`. */
export interface RecordRow extends Row {
  salt: string | null;
  seq: number;
  pin_attempts: number;
  version: number;
  written_at: number;
  keeps_history: number;
  revision: number;
  text_charge: number | null;
}

export function recordOf(
  row: RecordRow,
): Omit<RoomRecord, 'content' | 'entries' | 'lastRefs' | 'history' | 'files' | 'trusted'> {
  return {
    code: row.code as RoomCode,
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number,
    pinMac: (row.pin_mac as Uint8Array | null) ?? undefined,
    ...saltOf(row),
    name: (row.name as string | null) ?? undefined,
    seq: row.seq,
    pinAttempts: row.pin_attempts,
    keepsHistory: row.keeps_history === 1,
    revision: row.revision,
    owner: ownerOf(row),
    textCharge: row.text_charge ?? undefined,
  };
}

export function checkpointInfoOf(row: Row): CheckpointInfo {
  return {
    version: row.version as number,
    writtenAt: row.written_at as number,
    deviceId: (row.device as string | null) ?? undefined,
    size: row.size as number,
  };
}

export const checkpointOf = (row: Row): Checkpoint => ({
  ...checkpointInfoOf(row),
  content: decompress(row.content as Compressed),
});

export function fileOf(row: Row): StoredFile {
  return {
    id: row.id as string,
    blob: row.blob as string,
    name: row.name as string,
    type: row.type as string,
    size: row.size as number,
    uploadedAt: row.uploaded_at as number,
    owner: ownerOf(row),
    folder: row.folder as string,
    deviceId: (row.device as string | null) ?? undefined,
    once: row.once === 1,
    ...(row.meta !== null && { meta: row.meta as string }),
  };
}

/** A row of `fileColumns` and `uploadColumns`. */
export const unfinishedFileOf = (row: Row): UnfinishedFile => ({
  ...fileOf(row),
  received: row.received as number,
  state: row.blob_state as string,
  expiresAt: row.ends_at as number,
});

/** Undefined for data from versions without quotas. */
export function ownerOf({ client, network }: Row): Owner | undefined {
  if (client === null) return undefined;
  return { client: client as string, network: (network as string | null) ?? undefined };
}

export function keyOf(row: Row): ApiKey {
  return {
    id: row.id as string,
    name: row.name as string,
    tier: row.tier as ApiKey['tier'],
    createdAt: row.created_at as number,
    revokedAt: (row.revoked_at as number | null) ?? undefined,
  };
}
