/** The endpoints under /api/admin. Each checks the token before anything else. */
import type { ListedClient, ListedKey, ListedReport, ListedRoom, Page } from '../../core/admin/admin.ts';
import { invalidField, PoproomError } from '../../core/errors.ts';
import type { ActivityInterval, AddressBlock } from '../../core/ports/admin.ts';
import type { CreatedBy } from '../../core/ports/basics.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import { createBlockRequest } from '../../protocol/admin-schemas.ts';
import type { EndpointName } from '../../protocol/endpoints.ts';
import type * as api from '../../protocol/types.ts';
import {
  type AddressRange,
  type AdminOperations,
  containsLoopback,
  createMatcher,
  formatRange,
  parseRange,
} from '../admin/admin-interface.ts';
import { readJson } from '../request/parse-body.ts';
import type { Request } from '../request/request.ts';
import { confirmation, json, type Reply } from '../response/reply.ts';
import type { Handler, HandlerDeps } from './handler.ts';

type AdminHandler = (request: Request, operations: AdminOperations) => Promise<Reply>;

export function adminHandlers({ admin: operations }: Pick<HandlerDeps, 'admin'>) {
  const guarded = Object.entries<AdminHandler>(handlers).map(([name, handle]) => [name, guard(operations, handle)]);
  return Object.fromEntries(guarded) as Record<keyof typeof handlers, Handler>;
}

function guard(operations: AdminOperations | undefined, handle: AdminHandler): Handler {
  return async (request) => {
    if (!operations) throw new PoproomError('NOT_FOUND', 'The admin interface is disabled.');
    await operations.checkToken(request);
    return handle(request, operations);
  };
}

const handlers = {
  async adminNumbers(request, { admin }) {
    const hours = numberIn(request, 'hours', { least: 1, most: 168, standard: 24 });
    const { intervalMs, intervals, ...current } = await admin.numbers(hours);
    const body = { intervalSeconds: intervalMs / 1000, ...current, points: intervals.map(pointOf) };
    return json(200, body satisfies api.AdminNumbers);
  },

  async adminRooms(request, { admin }) {
    const order = choiceIn(request, 'sort', ['size', 'age']);
    const client = request.query.get('client') ?? undefined;
    if (client !== undefined && !/^[0-9a-f]{12}$/.test(client))
      throw invalid('client', 'must be 12 hexadecimal digits');
    const { total, rooms } = await admin.listRooms(order, client, pageIn(request));
    return json(200, { total, rooms: rooms.map(roomOf) } satisfies api.AdminRoomList);
  },

  async adminRevealRoom({ id, params }, { admin }) {
    return json(200, { roomId: await admin.revealRoom(params.room ?? '', id) } satisfies api.AdminRoomRevealed);
  },

  async adminRemoveRoom({ id, params }, { admin }) {
    const masked = await admin.removeRoom(params.room ?? '', id);
    return confirmation(`Room ${masked} was removed.`);
  },

  async adminReports(request, { admin }) {
    const { total, reports } = await admin.listReports(pageIn(request));
    return json(200, { total, reports: reports.map(reportOf) } satisfies api.AdminReportList);
  },

  async adminDismissReport({ id, params }, { admin }) {
    await admin.dismissReport(params.reportId ?? '', id);
    return confirmation('The report was removed.');
  },

  async adminClients(request, { admin }) {
    const order = choiceIn(request, 'sort', ['requests', 'refused', 'bytes']);
    const hours = numberIn(request, 'hours', { least: 1, most: 24, standard: 2 });
    const { total, clients } = await admin.listClients(order, hours, pageIn(request));
    return json(200, { total, clients: clients.map(clientOf) } satisfies api.AdminClientList);
  },

  async adminBlocks(_, { admin: { blocks } }) {
    const listed = await blocks.list();
    return json(200, { maximum: blocks.maximum, blocks: listed.map(blockOf) } satisfies api.AdminBlockList);
  },

  async adminBlock(request, { admin, addressOf, clock, log }) {
    const body = await readJson<api.CreateBlockRequest>(request, createBlockRequest);
    const range = parseRange(body.range);
    if (!range) throw invalid('range', 'must be an IP address or a CIDR range, for example 198.51.100.0/24');
    if (!body.force) refuseOwn(range, addressOf(request.raw));
    const endsAt = body.expiresIn === undefined ? undefined : clock() + body.expiresIn * 1000;
    const made = await admin.blocks.add({ range: formatRange(range), reason: body.reason, endsAt });
    log.info({ requestId: request.id, block: made.id }, 'an admin blocked addresses');
    return json(201, blockOf(made));
  },

  async adminUnblock({ id, params }, { admin, log }) {
    await admin.blocks.remove(params.blockId ?? '');
    log.info({ requestId: id, block: params.blockId }, 'an admin removed a block');
    return confirmation('The block was removed.');
  },

  async adminKeys(request, { admin }) {
    const { total, keys } = await admin.listKeys(pageIn(request));
    return json(200, { total, keys: keys.map(keyOf) } satisfies api.AdminKeyList);
  },

  async adminRevokeKey({ id, params }, { admin }) {
    return json(200, keyOf(await admin.revokeKey(params.keyId ?? '', id)));
  },
} satisfies Partial<Record<EndpointName, AdminHandler>>;

const pointOf = ({ at, ...counts }: ActivityInterval): api.AdminPoint => ({ at: toTimestamp(at), ...counts });

/** Field by field, so that nothing else of a room can get into the response. */
const roomOf = (room: ListedRoom): api.AdminRoom => ({
  id: room.handle,
  code: room.maskedCode,
  createdAt: toTimestamp(room.createdAt),
  expiresAt: toTimestamp(room.expiresAt),
  hasPin: room.hasPin,
  ...(room.salt !== undefined && { encrypted: true as const }),
  fileCount: room.fileCount,
  fileBytes: room.fileBytes,
  textBytes: room.textBytes,
  deviceCount: room.deviceCount,
  ...(room.client !== undefined && { clientHash: room.client }),
  ...(room.createdBy !== undefined && { createdBy: creatorOf(room.createdBy) }),
});

function creatorOf(createdBy: CreatedBy): NonNullable<api.AdminRoom['createdBy']> {
  const colon = createdBy.indexOf(':');
  return { type: createdBy.slice(0, colon) === 'key' ? 'key' : 'user', name: createdBy.slice(colon + 1) };
}

const reportOf = ({ id, handle, maskedCode, reason, comment, createdAt, client }: ListedReport): api.AdminReport => ({
  id,
  ...(handle !== undefined && { room: handle }),
  code: maskedCode,
  reason,
  ...(comment !== undefined && { comment }),
  createdAt: toTimestamp(createdAt),
  clientHash: client,
});

const clientOf = ({ hash, ...client }: ListedClient): api.AdminClient => ({ ...client, clientHash: hash });

/** A typing error must not lock out the operator, or everyone behind a proxy on this machine. */
function refuseOwn(range: AddressRange, own: string): void {
  const hint = 'If you mean it, set "force" to true';
  if (containsLoopback(range)) throw invalid('range', `contains this machine. ${hint}`, { reason: 'loopback' });
  if (createMatcher([range])(own))
    throw invalid('range', `contains your own address, ${own}. ${hint}`, { reason: 'own-address' });
}

function blockOf({ id, range, reason, createdAt, endsAt }: AddressBlock): api.AdminBlock {
  const ends = endsAt === undefined ? {} : { endsAt: toTimestamp(endsAt) };
  return { id, range, reason, createdAt: toTimestamp(createdAt), ...ends };
}

const keyOf = ({ id, name, tier, createdAt, revokedAt, use }: ListedKey): api.AdminKey => ({
  ...{ id, name, tier, createdAt: toTimestamp(createdAt) },
  ...(revokedAt !== undefined && { revokedAt: toTimestamp(revokedAt) }),
  ...(use && { lastUsedAt: toTimestamp(use.lastUsedAt) }),
  requests: use?.requests ?? 0,
  refused: use?.refused ?? 0,
  received: use?.received ?? 0,
  sent: use?.sent ?? 0,
});

const pageIn = (request: Request): Page => ({
  limit: numberIn(request, 'limit', { least: 1, most: 200, standard: 50 }),
  offset: numberIn(request, 'offset', { least: 0, most: 9800, standard: 0 }),
});

type NumberRule = Record<'least' | 'most' | 'standard', number>;

function numberIn({ query }: Request, name: string, { least, most, standard }: NumberRule): number {
  const text = query.get(name);
  if (text === null) return standard;
  const number = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw invalid(name, `must be a whole number from ${least} to ${most}`);
}

/** The first one is the default. */
function choiceIn<T extends string>({ query }: Request, name: string, choices: readonly [T, ...T[]]): T {
  const text = query.get(name) ?? choices[0];
  const found = choices.find((choice) => choice === text);
  if (found) return found;
  throw invalid(name, `must be ${choices.join(' or ')}`);
}

const invalid = (field: string, rule: string, details?: object): PoproomError =>
  invalidField(field, `"${field}" ${rule}.`, details);
