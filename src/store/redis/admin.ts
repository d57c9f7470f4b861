/** Data of the admin interface: the activity of all nodes, blocks of addresses, summaries of rooms. */
import type {
  ActivityInterval,
  ActivityStore,
  AddressBlock,
  BlockStore,
  ClientTraffic,
  KeyUse,
  ReportStore,
  RoomReport,
  RoomSummaries,
  RoomSummary,
} from '../../core/ports/admin.ts';
import type { CreatedBy } from '../../core/ports/basics.ts';
import type { Archive } from '../../core/ports/store.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import { script, scriptWhenFull } from '../../redis/script.ts';
import { type Keys, keysFor, onKeys, pairsOf } from './keys.ts';
import { roomFields, roomOf } from './rooms.ts';

const hourMs = 3600_000;
const fields = ['requests', 'refused', 'received', 'sent'] as const;
const intervalFields = [...fields, 'failed', 'roomsCreated', 'rooms', 'channels', 'storedBytes'] as const;

/** Old intervals and hours expire in Redis. */
export function createActivityStore(redis: Redis, { activity: keys }: Keys): ActivityStore {
  /** Pairs of member and score of each field, of an hour. */
  const hour = (at: number) =>
    Promise.all(fields.map((field) => redis.run(readScoresScript, [keys.clients(at, field)]) as Promise<string[]>));

  return {
    async report(report, limits, now) {
      const at = now - (now % limits.intervalMs);
      const ofHour = fields.map((field) => keys.clients(now - (now % hourMs), field));
      const { intervals, interval, nodes, keyUse } = keys;
      const args = [JSON.stringify(report), JSON.stringify(limits), now, at];
      await redis.run(addReportScript, [intervals, interval(at), nodes, keyUse, ...ofHour], args);
    },

    async intervals(since) {
      const range = ['ZRANGEBYSCORE', keys.intervals, String(since), '+inf'];
      const starts = (await redis.send(keys.intervals, range)) as string[];
      const read = (at: string) => redis.run(readHashScript, [keys.interval(Number(at))]) as Promise<string[]>;
      const replies = await Promise.all(starts.map(read));
      // Redis may have dropped some.
      return replies.flatMap((reply, i) => (reply.length === 0 ? [] : [intervalOf(Number(starts[i]), reply)]));
    },

    async clients(since) {
      const newest = (await redis.send(keys.intervals, ['ZRANGE', keys.intervals, '-1', '-1'])) as string[];
      const sums = new Map<string, ClientTraffic>();
      for (let at = since; at <= Number(newest[0] ?? -1); at += hourMs) addHour(sums, await hour(at));
      return [...sums.values()];
    },

    keyUse: async () => keyUseOf((await redis.run(readHashScript, [keys.keyUse])) as string[]),

    async nodes(since) {
      const pairs = (await redis.run(readHashScript, [keys.nodes])) as string[];
      return pairsOf(pairs)
        .map(([node, value]) => ({ node, ...(JSON.parse(value) as { seenAt: number; channels: number }) }))
        .filter(({ seenAt }) => seenAt >= since)
        .map(({ node, channels }) => ({ node, channels }));
    },
  };
}

/** Scripts, because their replies are flat lists with every version of the protocol. */
const readHashScript = script("return redis.call('HGETALL', KEYS[1])");
const readScoresScript = script("return redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')");

/**
 * KEYS: intervals, the interval, nodes, use of keys, and the clients of the hour by requests, refused, received and sent.
 * ARGV: report, limits, now, start of the interval.
 */
const addReportScript = scriptWhenFull(`
  local report, limits = cjson.decode(ARGV[1]), cjson.decode(ARGV[2])
  local now, at = tonumber(ARGV[3]), tonumber(ARGV[4])
  local whole = function (number) return string.format('%.0f', number) end
  redis.call('ZADD', KEYS[1], at, ARGV[4])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. whole(now - limits.keptMs))
  for name, count in pairs(report.totals) do redis.call('HINCRBY', KEYS[2], name, whole(count)) end

  redis.call('HDEL', KEYS[3], report.node)
  local gauges, channels = report.gauges, 0
  if gauges then
    redis.call('HSET', KEYS[3], report.node, cjson.encode({seenAt = now, channels = gauges.channels}))
    local nodes = redis.call('HGETALL', KEYS[3])
    for i = 1, #nodes, 2 do
      local node = cjson.decode(nodes[i + 1])
      if node.seenAt < now - limits.nodeSeenMs then redis.call('HDEL', KEYS[3], nodes[i])
      else channels = channels + node.channels end
    end
    local most = tonumber(redis.call('HGET', KEYS[2], 'channels') or 0)
    redis.call('HSET', KEYS[2], 'rooms', whole(gauges.rooms), 'storedBytes', whole(gauges.storedBytes),
      'channels', whole(math.max(most, channels)))
  end
  redis.call('PEXPIRE', KEYS[2], whole(limits.keptMs + limits.intervalMs))

  local fields = {'requests', 'refused', 'received', 'sent'}
  for _, traffic in ipairs(report.clients) do
    for i, field in ipairs(fields) do redis.call('ZINCRBY', KEYS[4 + i], whole(traffic[field]), traffic.client) end
    local key_id = string.match(traffic.client, '^key:(.+)$')
    if key_id then
      for _, field in ipairs(fields) do redis.call('HINCRBY', KEYS[4], key_id .. ' ' .. field, whole(traffic[field])) end
      redis.call('HSET', KEYS[4], key_id .. ' lastUsedAt', ARGV[3])
    end
  end
  local excess = redis.call('ZCARD', KEYS[5]) - limits.clientsPerHour
  if excess > 0 then
    for _, client in ipairs(redis.call('ZRANGE', KEYS[5], 0, excess - 1)) do
      for i = 1, 4 do redis.call('ZREM', KEYS[4 + i], client) end
    end
  end
  for i = 1, 4 do redis.call('PEXPIRE', KEYS[4 + i], whole(limits.clientsKeptMs + 3600000)) end
`);

function addHour(sums: Map<string, ClientTraffic>, hour: readonly string[][]): void {
  for (const [i, pairs] of hour.entries()) {
    for (const [client, count] of pairsOf(pairs)) {
      const sum = sums.get(client) ?? { client, requests: 0, refused: 0, received: 0, sent: 0 };
      sum[fields[i] as (typeof fields)[number]] += Number(count);
      sums.set(client, sum);
    }
  }
}

function intervalOf(at: number, reply: readonly string[]): ActivityInterval {
  const values = new Map(pairsOf(reply));
  const counts = intervalFields.map((name) => [name, Number(values.get(name) ?? 0)]);
  return { at, ...(Object.fromEntries(counts) as Omit<ActivityInterval, 'at'>) };
}

function keyUseOf(reply: readonly string[]): KeyUse[] {
  const all = new Map<string, KeyUse>();
  for (const [name, value] of pairsOf(reply)) {
    const [keyId = '', field = ''] = name.split(' ');
    const use = all.get(keyId) ?? { keyId, requests: 0, refused: 0, received: 0, sent: 0, lastUsedAt: 0 };
    all.set(keyId, { ...use, [field]: Number(value) });
  }
  return [...all.values()];
}

/** Blocks of addresses, the same for every node. */
export function createBlockStore(redis: Redis, { blocks: key }: Keys): BlockStore {
  return {
    async put(block, maximum) {
      const args = [block.range, JSON.stringify(block), block.createdAt, maximum];
      return (await redis.run(putBlockScript, [key], args)) === 1 ? 'stored' : 'full';
    },
    remove: async (id) => ((await removeFrom(redis, key, [id])) === 1 ? 'removed' : 'unknown'),
    async list(now) {
      const blocks = await newestFirst(redis, key, blockOf);
      return blocks.filter(({ endsAt }) => endsAt === undefined || endsAt > now);
    },
  };
}

/** All blocks or reports. Few enough to read all of them. */
async function newestFirst<T extends AddressBlock | RoomReport>(redis: Redis, key: string, parse: (json: string) => T) {
  const all = ((await redis.send(key, ['HVALS', key])) as string[]).map(parse);
  return all.sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? -1 : 1));
}

/** Returns the number of removed blocks or reports: those with one of the ids, and those from before a time. */
const removeFrom = async (redis: Redis, key: string, ids: readonly string[], before = 0): Promise<number> =>
  Number(await redis.run(removeScript, [key], [JSON.stringify(ids), before]));

/** ARGV: ids, and the time before which entries are removed too. */
const removeScript = scriptWhenFull(`
  local ids, removed = {}, 0
  for _, id in ipairs(cjson.decode(ARGV[1])) do ids[id] = true end
  local entries = redis.call('HGETALL', KEYS[1])
  for i = 1, #entries, 2 do
    local entry = cjson.decode(entries[i + 1])
    if ids[entry.id] or entry.createdAt < tonumber(ARGV[2]) then
      removed = removed + redis.call('HDEL', KEYS[1], entries[i])
    end
  end
  return removed
`);

/** By range. ARGV: range, block, now, maximum. */
const putBlockScript = scriptWhenFull(`
  local entries = redis.call('HGETALL', KEYS[1])
  for i = 1, #entries, 2 do
    local ends_at = cjson.decode(entries[i + 1]).endsAt
    if ends_at and ends_at <= tonumber(ARGV[3]) then redis.call('HDEL', KEYS[1], entries[i]) end
  end
  local others = redis.call('HLEN', KEYS[1]) - redis.call('HEXISTS', KEYS[1], ARGV[1])
  if others >= tonumber(ARGV[4]) then return 0 end
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  return 1
`);

const blockOf = (json: string): AddressBlock => ({ endsAt: undefined, ...JSON.parse(json) });

/** By room and client. */
export function createReportStore(redis: Redis, { reports: key }: Keys): ReportStore {
  return {
    async put(report, limits) {
      const { code, roomCreatedAt, client, createdAt } = report;
      const room = `${code} ${roomCreatedAt}`;
      const args = [room, client, JSON.stringify(report), createdAt - limits.keptMs, JSON.stringify(limits)];
      return (await redis.run(putReportScript, [key], args)) === 1 ? 'stored' : 'full';
    },
    list: async (since) => (await newestFirst(redis, key, reportOf)).filter(({ createdAt }) => createdAt >= since),
    remove: (ids) => removeFrom(redis, key, ids),
    async expire(before) {
      await removeFrom(redis, key, [], before);
    },
  };
}

/** ARGV: room, client, report, the time before which reports are dropped, limits. */
const putReportScript = script(`
  local limits = cjson.decode(ARGV[5])
  redis.call('HDEL', KEYS[1], ARGV[1] .. ' ' .. ARGV[2])
  local total, of_room, of_client = 0, 0, 0
  local entries = redis.call('HGETALL', KEYS[1])
  for i = 1, #entries, 2 do
    local report = cjson.decode(entries[i + 1])
    if report.createdAt < tonumber(ARGV[4]) then redis.call('HDEL', KEYS[1], entries[i])
    else
      total = total + 1
      if string.sub(entries[i], 1, #ARGV[1] + 1) == ARGV[1] .. ' ' then of_room = of_room + 1 end
      if report.client == ARGV[2] then of_client = of_client + 1 end
    end
  end
  if total >= limits.inTotal or of_room >= limits.perRoom or of_client >= limits.perClient then return 0 end
  redis.call('HSET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2], ARGV[3])
  return 1
`);

const reportOf = (json: string): RoomReport => ({ comment: undefined, ...JSON.parse(json) });

/** The maximum number of concurrent requests. */
const batchSize = 100;

export function createRoomSummaries(redis: Redis, keys: Keys, archive: Pick<Archive, 'codes'>): RoomSummaries {
  async function find(code: RoomCode, now: number): Promise<RoomSummary | undefined> {
    const reply = await redis.run(summarizeScript, keysFor(summarizeScript, keys, code), [now]);
    return reply === null ? undefined : summaryOf(code, reply as SummaryReply);
  }

  async function findAll(codes: readonly RoomCode[], now: number): Promise<RoomSummary[]> {
    const found = await Promise.all(codes.map((code) => find(code, now)));
    return found.filter((summary) => summary !== undefined);
  }

  return {
    async *list(now) {
      let codes: RoomCode[] = [];
      for await (const code of archive.codes(now)) {
        if (codes.push(code) < batchSize) continue;
        yield* await findAll(codes, now);
        codes = [];
      }
      yield* await findAll(codes, now);
    },

    find,
  };
}

type SummaryReply = [fields: string[], textBytes: number];

/** Names of rooms are not for operators. */
function summaryOf(code: RoomCode, [fields, textBytes]: SummaryReply): RoomSummary {
  const { name, extendMs, ...room } = roomOf(code, fields);
  const [client, createdBy] = fields.slice(8);
  return { ...room, textBytes, client: client || undefined, ...(createdBy && { createdBy: createdBy as CreatedBy }) };
}

/** No text leaves Redis. */
const summarizeScript = onKeys('room, edits, historyTexts', 'now').script<SummaryReply | null>(`
local fields = redis.call('HMGET', room, ${roomFields}, 'client', 'createdBy')
if not fields[1] or tonumber(fields[2]) <= tonumber(now) then return false end
local bytes = redis.call('HSTRLEN', room, 'content')
for _, entry in ipairs(redis.call('LRANGE', edits, 0, -1)) do bytes = bytes + #entry end
for _, version in ipairs(redis.call('HKEYS', historyTexts)) do
  bytes = bytes + redis.call('HSTRLEN', historyTexts, version)
end
return {fields, bytes}
`);
