/**
 * The keys in Redis, and how scripts of rooms name them. All keys of a room have one hash tag, together with the blobs
 * and the trash of rooms that share it, so that a script can use several of them on a cluster too.
 *
 * Each script is one atomic step. All its keys are in KEYS and have one hash tag. Times always come from the caller; the
 * expiry of Redis only removes what is no longer needed.
 */
import type { MissingReason } from '../../core/ports/basics.ts';
import type { GuardRules } from '../../core/ports/rooms.ts';
import type { LinkId, RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { type Script, script, scriptWhenFull } from '../../redis/script.ts';

/** How long Redis keeps a room that no sweep has removed, as a safety net. */
export const netMs = 7 * 86_400_000;

/** How long a node has to end the rooms and remove the blobs that it claimed. */
export const leaseMs = 60_000;

/** Few enough to query all of them, enough to spread over a cluster. */
const shardCount = 16;

export type Keys = ReturnType<typeof createKeys>;

/** `prefix` separates installations that share a Redis. */
export function createKeys(prefix: string) {
  const ofShard = (shard: number) => ({
    blobs: `${prefix}:{${shard}}:blobs`,
    trash: `${prefix}:{${shard}}:trash`,
    /** The owners of blobs in the trash, whose bytes count until they are removed. */
    trashOwners: `${prefix}:{${shard}}:trash-owners`,
    /** Removed files of these rooms by the time of their removal, and unfinished ones by their expiry. */
    removals: `${prefix}:{${shard}}:removals`,
    uploadEnds: `${prefix}:{${shard}}:upload-ends`,
    /** The owners of counted texts of rooms that have ended. */
    endedTexts: `${prefix}:{${shard}}:ended-texts`,
    /** The bytes of all files of these rooms. */
    storedBytes: `${prefix}:{${shard}}:stored-bytes`,
    /** The webhooks of each of these rooms. */
    webhooks: `${prefix}:{${shard}}:webhooks`,
  });

  const roomKey = (code: RoomCode) => `${prefix}:{${shardOf(code)}}:room:${code}`;

  return {
    /** All rooms by expiry. */
    rooms: `${prefix}:{rooms}`,
    /** Expired rooms that a node is about to end. */
    ending: `${prefix}:{rooms}:ending`,
    /** Blobs that a node is about to remove or has just removed. */
    claims: `${prefix}:{rooms}:claims`,
    /** Uploads with reserved bytes: the deadline and the bytes of each. */
    reservations: `${prefix}:{storage}:reservations`,
    reservedBytes: `${prefix}:{storage}:reserved-bytes`,
    /** Bytes of a client or network by blob, with their sum, and when each stops counting at the latest. */
    usage: (account: string) => [`${prefix}:usage:{${account}}`, `${prefix}:usage:{${account}}:ends`],
    apiKeys: ['by-id', 'by-hash', 'by-name'].map((what) => `${prefix}:{keys}:${what}`),
    /** The version of the data, and the running servers by the end of their leases. */
    format: `${prefix}:{format}`,
    servers: `${prefix}:{format}:servers`,
    /** The fingerprint of the secret of all nodes. */
    secretRecord: `${prefix}:{secret}`,
    /** For the admin interface. */
    blocks: `${prefix}:{admin}:blocks`,
    reports: `${prefix}:{admin}:reports`,
    activity: {
      /** When each interval starts. */
      intervals: `${prefix}:{admin}:intervals`,
      interval: (at: number) => `${prefix}:{admin}:interval:${at}`,
      nodes: `${prefix}:{admin}:nodes`,
      keyUse: `${prefix}:{admin}:key-use`,
      clients: (hour: number, field: string) => `${prefix}:{admin}:clients:${hour}:${field}`,
    },
    misses: (client: string) => `${prefix}:misses:{${client}}`,
    spending: (client: string) => `${prefix}:spending:{${client}}`,
    /** Requests with idempotency keys that changed a room, or claimed a code for a new one. */
    requests(code?: RoomCode) {
      const requests = `${prefix}:{${code === undefined ? 'rooms' : shardOf(code)}}:requests`;
      return {
        results: requests,
        /** By expiry, and by client and expiry. */
        order: `${requests}:order`,
        ofClients: `${requests}:of-clients`,
        /** The number of results of each client. */
        counts: `${requests}:counts`,
        lease: (key: string) => `${requests}:lease:${key}`,
      };
    },
    /** The room of a file. */
    roomOfFile: (fileId: string) => `${prefix}:file:{${fileId}}`,
    /** The room of a link. */
    roomOfLink: (id: LinkId) => `${prefix}:link:{${id}}`,
    shards: Array.from({ length: shardCount }, (_, i) => ofShard(i)),

    /** Only what an access uses: the room, guard, trusted, seen and edits. Making all keys would take longer. */
    toEnter(code: RoomCode): string[] {
      const room = roomKey(code);
      return [room, `${room}:guard`, `${room}:trusted`, `${room}:seen`, `${room}:edits`];
    },

    ofRoom(code: RoomCode) {
      const shard = shardOf(code);
      const room = roomKey(code);
      return {
        room,
        guard: `${room}:guard`,
        trusted: `${room}:trusted`,
        /** The links by id, and when each was last used. */
        links: `${room}:links`,
        seen: `${room}:seen`,
        channels: `${room}:channels`,
        colors: `${room}:colors`,
        files: `${room}:files`,
        /** Removed files until they are erased. */
        removed: `${room}:removed`,
        /** The last claim of each one-time file: the hash of its token, and when it expires. */
        claims: `${room}:claims`,
        /** Unfinished files, and what the blob store needs to continue them, which can be long. */
        uploads: `${room}:uploads`,
        uploadStates: `${room}:upload-states`,
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

/** Codes are random, so any function of them distributes evenly. */
function shardOf(code: string): number {
  let sum = 0;
  for (let i = 0; i < code.length; i++) sum = (sum * 31 + code.charCodeAt(i)) % 65_521;
  return sum % shardCount;
}

type RoomKey = keyof ReturnType<Keys['ofRoom']>;

export interface RoomScript<Reply = unknown> extends Script {
  keys: readonly RoomKey[];
  /** Only for its type. */
  reply?: Reply;
}

/** Runs scripts of rooms. Their last argument is `rememberExpiredMs`. */
export function createRunner(redis: Redis, keys: Keys, { rememberExpiredMs }: GuardRules) {
  return <Reply>(script: RoomScript<Reply>, code: RoomCode, ...args: readonly (string | number)[]) =>
    redis.run(script, keysFor(script, keys, code), [...args, rememberExpiredMs]) as Promise<Reply>;
}

export function keysFor({ keys: names }: RoomScript, keys: Keys, code: RoomCode): string[] {
  const all = keys.ofRoom(code);
  return names.map((name) => all[name]);
}

type NamesIn<List extends string> = List extends `${infer First}, ${infer Rest}` ? First | NamesIn<Rest> : List;
type KeyList<List extends string> = NamesIn<List> extends RoomKey ? List : never;

/** Defines a script by its keys and arguments, which are variables of these names in its Lua. */
export function onKeys<List extends string>(keys: List & KeyList<List>, args = '') {
  // Further arguments may be too many to unpack.
  const count = args.split(', ').length;
  const variables = `local ${keys} = unpack(KEYS)\n${args && `local ${args} = unpack(ARGV, 1, ${count})\n`}`;
  const names = keys.split(', ') as RoomKey[];
  return {
    script: <Reply>(text: string): RoomScript<Reply> => ({ ...script(variables + text), keys: names }),
    scriptWhenFull: <Reply>(text: string): RoomScript<Reply> => ({ ...scriptWhenFull(variables + text), keys: names }),
  };
}

/** The same for a script that needs a room: it returns a reason unless the room exists. `args` starts with `now`. */
export function inLiveRoom<List extends string>(keys: List & KeyList<List>, args: string) {
  const { script, scriptWhenFull } = onKeys<List>(keys, args);
  return {
    script: <Reply>(text: string) => script<Reply | MissingReason>(returnIfMissing + text),
    scriptWhenFull: <Reply>(text: string) => scriptWhenFull<Reply | MissingReason>(returnIfMissing + text),
  };
}

const returnIfMissing = `
do
  local expiresAt, rememberExpiredMs = tonumber(redis.call('HGET', room, 'expiresAt') or 0), tonumber(ARGV[#ARGV])
  local left = expiresAt - tonumber(now)
  if left <= 0 then return left > -rememberExpiredMs and 'expired' or 'gone' end
end
`;

/** Whether a room exists and has not expired. */
export const isLive = `
local function isLive(room, now)
  local expiresAt = redis.call('HGET', room, 'expiresAt')
  return expiresAt and tonumber(expiresAt) > tonumber(now)
end
`;

/**
 * Removes a key on another node of a cluster, which is harmless if it stays. The change itself has succeeded, so a
 * failure here must not fail the request.
 */
export async function clearUp(redis: Redis, key: string, command: readonly string[]): Promise<void> {
  await redis.send(key, command).catch(() => undefined);
}

/** For files and links that no longer exist. An entry that stays expires with its room, and leads nowhere. */
export async function dropIndexes(redis: Redis, indexes: readonly string[]): Promise<void> {
  await Promise.all(indexes.map((index) => clearUp(redis, index, ['DEL', index])));
}

/** From a flat list of fields and values. */
export const pairsOf = (list: readonly string[]): [string, string][] =>
  list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1] ?? '']] : []));

/** The ids in the fields of a list. Another field of each link has the time of its last use. */
export const linkIdsIn = (fields: readonly string[]): LinkId[] =>
  fields.filter((field) => !field.includes(':')) as LinkId[];
