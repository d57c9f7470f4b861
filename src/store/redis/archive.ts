/** Rooms and keys in Redis in full, for migration. */
import type { Archive, Checkpoint, GuardRules, RoomRecord } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import * as scripts from './archive-scripts.ts';
import { fileJson, filesOf } from './file-list.ts';
import { keyRecords } from './key-store.ts';
import { type Keys, netMs } from './keys.ts';
import type { RedisStorage } from './storage.ts';
import {
  checkpointFields,
  checkpointInfoOf,
  entryJson,
  keepsHistoryOf,
  type TextAndLogReply,
  textAndLogOf,
} from './text-log.ts';

const batchSize = '500';

export function createArchive(
  redis: Redis,
  keys: Keys,
  { rememberExpiredMs }: GuardRules,
  storage: Pick<RedisStorage, 'charge' | 'restoreTextCharge'>,
): Archive {
  const [byId = ''] = keys.apiKeys;

  async function scan(cursor: string): Promise<{ next: string; members: string[] }> {
    const reply = await redis.send(keys.rooms, ['ZSCAN', keys.rooms, cursor, 'COUNT', batchSize]);
    const [next, members] = reply as [string, string[]];
    return { next, members };
  }

  /** Runs before the room is created, so that it can be swept and its files can be downloaded. */
  async function prepare(record: RoomRecord, keepMs: number, now: number): Promise<boolean> {
    const { code, expiresAt, files } = record;
    const isOurs = await redis.run(scripts.claimRestored, [keys.rooms], [code, expiresAt]);
    if (isOurs !== 1) return false;
    const indexes = files.map(({ id }) => keys.roomOfFile(id));
    await Promise.all(indexes.map((index) => redis.send(index, ['SET', index, code, 'PX', String(keepMs)])));
    for (const { blob, owner, size } of files) {
      if (owner) await storage.charge({ blob, owner, size, expiresAt }, now);
    }
    await storage.restoreTextCharge(record, now);
    return true;
  }

  return {
    async *codes(now) {
      let cursor = '0';
      do {
        const { next, members } = await scan(cursor);
        for (let i = 0; i < members.length; i += 2) if (Number(members[i + 1]) > now) yield members[i] as RoomCode;
        cursor = next;
      } while (cursor !== '0');
    },

    async readRoom(code, now) {
      const { room, files, trusted, edits, history, historyTexts } = keys.ofRoom(code);
      const reply = await redis.run(scripts.readRecord, [room, files, trusted, edits, history, historyTexts], [now]);
      return reply === null ? undefined : recordOf(code, reply as RecordReply);
    },

    async restoreRoom(record, now) {
      const { room, trusted, files, edits, history, historyTexts, blobs, ...shard } = keys.ofRoom(record.code);
      const keepMs = record.expiresAt - now + rememberExpiredMs + netMs;
      // The record of a recently expired room has the same key.
      if (Number(await redis.send(room, ['EXISTS', room])) === 1) return 'taken';
      if (!(await prepare(record, keepMs, now))) return 'taken';
      const { trash, trashOwners, storedBytes } = shard;
      const touched = [room, trusted, files, edits, history, historyTexts, blobs, trash, trashOwners, storedBytes];
      const made = await redis.run(scripts.restoreRoom, touched, [keepMs, ...listsOf(record)]);
      return made === 1 ? 'restored' : 'taken';
    },

    async keys() {
      return keyRecords((await redis.send(byId, ['HVALS', byId])) as string[]);
    },

    async restoreKey(key) {
      const isInForce = key.revokedAt === undefined;
      const args = [key.id, key.hash, key.name, JSON.stringify(key), isInForce ? 1 : 0];
      return (await redis.run(scripts.restoreKey, keys.apiKeys, args)) === 1 ? 'restored' : 'taken';
    },
  };
}

type RecordReply = [
  fields: string[],
  files: string[],
  trusted: string[],
  text: TextAndLogReply,
  history: string[],
  historyTexts: string[],
];

function recordOf(code: RoomCode, [fields, files, trusted, text, history, historyTexts]: RecordReply): RoomRecord {
  const [createdAt, expiresAt, pinMac = '', seq, pinAttempts, keepsHistory = null, revision, ...owned] = fields;
  const [client, network, textCharge, name, salt] = owned;
  const { content, entries, fullTextVersion, lastRefs } = textAndLogOf(text);
  return {
    code,
    createdAt: Number(createdAt),
    expiresAt: Number(expiresAt),
    pinMac: pinMac === '' ? undefined : new Uint8Array(Buffer.from(pinMac, 'hex')),
    ...(salt && { salt, fullTextVersion }),
    name: name ?? undefined,
    seq: Number(seq),
    pinAttempts: Number(pinAttempts),
    content,
    entries,
    lastRefs,
    history: historyOf(history, historyTexts),
    keepsHistory: keepsHistoryOf(keepsHistory),
    revision: Number(revision ?? content.version),
    owner: client ? { client, network: network || undefined } : undefined,
    textCharge: textCharge ? Number(textCharge) : undefined,
    files: filesOf(files),
    trusted,
  };
}

/** `texts` alternates versions and texts. */
function historyOf(infos: string[], texts: string[]): Checkpoint[] {
  const contents = new Map<number, string>();
  for (let i = 0; i < texts.length; i += 2) contents.set(Number(texts[i]), texts[i + 1] ?? '');
  return infos.map(checkpointInfoOf).map((info) => ({ ...info, content: contents.get(info.version) ?? '' }));
}

/** The lists for the script, each preceded by its length. */
function listsOf(record: RoomRecord): (string | number)[] {
  const fields = Object.entries(fieldsOf(record));
  // Indexes replace the seqs of the uploads: they preserve the order, and later files follow them.
  const files = record.files.map((file, i) => [file.id, file.blob, file.size, `${i}:${fileJson(file)}`]);
  const entries = record.entries.map((entry) => [entryJson(entry)]);
  const history = record.history.map(checkpointFields);
  const trusted = record.trusted.map((client) => [client]);
  return [fields, trusted, entries, history, files].flatMap((list) => [list.length, ...list.flat()]);
}

function fieldsOf({ content, pinMac, files, history, ...record }: RoomRecord): Record<string, string | number> {
  return {
    createdAt: record.createdAt,
    expiresAt: record.expiresAt,
    pinMac: pinMac ? Buffer.from(pinMac).toString('hex') : '',
    seq: record.seq,
    ...content,
    textVersion: record.fullTextVersion ?? content.version,
    logVersion: content.version,
    lastRefs: JSON.stringify(record.lastRefs),
    keepsHistory: record.keepsHistory ? 1 : 0,
    revision: record.revision,
    fileCount: files.length,
    fileBytes: files.reduce((sum, { size }) => sum + size, 0),
    pinAttempts: record.pinAttempts,
    client: record.owner?.client ?? '',
    network: record.owner?.network ?? '',
    textCharge: record.textCharge ?? '',
    historyBytes: history.reduce((sum, { size }) => sum + size, 0),
    ...(record.name !== undefined && { name: record.name }),
    ...(record.salt !== undefined && { salt: record.salt }),
  };
}
