/**
 * The names under which things lie in Redis. What a room has lies under one hash tag, with the blobs and the trash of
 * the rooms that share its tag: so a step that touches several of them is one step on a cluster too.
 */
import type { RoomCode } from '../../core/room-code.ts';

/** How long Redis keeps a room that no sweep has met: a net under the sweep, which forgets nothing. */
export const netMs = 7 * 86_400_000;

/** For a node to end the rooms, and remove the blobs, that it took on. */
export const leaseMs = 60_000;

/** Few enough to look through all of them, many enough to spread over a cluster. */
const shardCount = 16;

export type Keys = ReturnType<typeof createKeys>;

/** `prefix` sets installations apart that share a Redis. */
export function createKeys(prefix: string) {
  const ofShard = (shard: number) => ({
    blobs: `${prefix}:{${shard}}:blobs`,
    trash: `${prefix}:{${shard}}:trash`,
    /** Whose the blobs in the trash are: their bytes count until they are removed. */
    trashOwners: `${prefix}:{${shard}}:trash-owners`,
    /** Whose texts counted in rooms that have ended. */
    endedTexts: `${prefix}:{${shard}}:ended-texts`,
    /** How many bytes the files of these rooms have. */
    storedBytes: `${prefix}:{${shard}}:stored-bytes`,
  });

  return {
    /** Every room by its expiry. */
    rooms: `${prefix}:{rooms}`,
    /** Those past their time that a node is about to end. */
    ending: `${prefix}:{rooms}:ending`,
    /** Blobs in the trash that a node is about to remove, or just removed. */
    claims: `${prefix}:{rooms}:claims`,
    /** Uploads that have bytes reserved: when each of them must be over, and how many bytes. */
    reservations: `${prefix}:{storage}:reservations`,
    reservedBytes: `${prefix}:{storage}:reserved-bytes`,
    /** Bytes of a client or a network by blob, with their sum, and until when each counts at the latest. */
    usage: (account: string) => [`${prefix}:usage:{${account}}`, `${prefix}:usage:{${account}}:ends`],
    apiKeys: ['by-id', 'by-hash', 'by-name'].map((what) => `${prefix}:{keys}:${what}`),
    misses: (client: string) => `${prefix}:misses:{${client}}`,
    spending: (client: string) => `${prefix}:spending:{${client}}`,
    /** The room of a file. */
    roomOfFile: (fileId: string) => `${prefix}:file:{${fileId}}`,
    shards: Array.from({ length: shardCount }, (_, i) => ofShard(i)),

    ofRoom(code: RoomCode) {
      const shard = shardOf(code);
      const room = `${prefix}:{${shard}}:room:${code}`;
      return {
        room,
        guard: `${room}:guard`,
        trusted: `${room}:trusted`,
        seen: `${room}:seen`,
        channels: `${room}:channels`,
        files: `${room}:files`,
        /** The log of the text, newest entry last. */
        edits: `${room}:edits`,
        /** The checkpoints of the text without their content, by version. */
        history: `${room}:history`,
        /** The content of each checkpoint. */
        historyTexts: `${room}:history-texts`,
        ...ofShard(shard),
      };
    },
  };
}

/** Codes are random, so any function of them spreads evenly. */
function shardOf(code: string): number {
  let sum = 0;
  for (let i = 0; i < code.length; i++) sum = (sum * 31 + code.charCodeAt(i)) % 65_521;
  return sum % shardCount;
}
