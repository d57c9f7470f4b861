/** The endpoints under /api/admin. Each checks the token before anything else. */
import type {
  ClientOrder,
  ListedClient,
  ListedKey,
  ListedReport,
  ListedRoom,
  Page,
  RoomOrder,
} from '../../core/admin/admin.ts';
import { PoproomError } from '../../core/errors.ts';
import type { ActivityInterval, AddressBlock } from '../../core/ports/admin.ts';
import type { CreatedBy } from '../../core/ports/basics.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import { createBlockRequest } from '../../protocol/admin-schemas.ts';
import type {
  AdminBlock,
  AdminBlockList,
  AdminClient,
  AdminClientList,
  AdminKey,
  AdminKeyList,
  AdminNumbers,
  AdminPoint,
  AdminReport,
  AdminReportList,
  AdminRoom,
  AdminRoomList,
  AdminRoomRevealed,
  Confirmation,
  CreateBlockRequest,
} from '../../protocol/types.ts';
import type { AdminOperations } from '../admin/admin-interface.ts';
import {
  type AddressRange,
  containsLoopback,
  createMatcher,
  formatRange,
  parseRange,
} from '../admin/connection-use.ts';
import { readJson, smallBody } from '../request/parse-body.ts';
import type { Request } from '../request/request.ts';
import { json } from '../response/reply.ts';
import type { Handler } from './handler.ts';

type AdminHandler = (request: Request, operations: AdminOperations) => Promise<{ status?: number; body: object }>;

export const adminHandlers = (operations: AdminOperations | undefined) => ({
  adminNumbers: guard(operations, numbers),
  adminRooms: guard(operations, listRooms),
  adminRevealRoom: guard(operations, revealRoom),
  adminRemoveRoom: guard(operations, removeRoom),
  adminReports: guard(operations, listReports),
  adminDismissReport: guard(operations, dismissReport),
  adminClients: guard(operations, listClients),
  adminBlocks: guard(operations, listBlocks),
  adminBlock: guard(operations, block),
  adminUnblock: guard(operations, unblock),
  adminKeys: guard(operations, listKeys),
  adminRevokeKey: guard(operations, revokeKey),
});

function guard(operations: AdminOperations | undefined, handle: AdminHandler): Handler {
  return async (request) => {
    if (!operations) throw new PoproomError('NOT_FOUND', 'The admin interface is disabled.');
    await operations.checkToken(request);
    const { status = 200, body } = await handle(request, operations);
    return json(status, body);
  };
}

const numbers: AdminHandler = async (request, { admin }) => {
  const hours = numberIn(request, 'hours', { least: 1, most: 168, standard: 24 });
  const { intervalMs, intervals, ...current } = await admin.numbers(hours);
  const body = { intervalSeconds: intervalMs / 1000, ...current, points: intervals.map(pointOf) };
  return { body: body satisfies AdminNumbers };
};

const pointOf = ({ at, ...counts }: ActivityInterval): AdminPoint => ({ at: toTimestamp(at), ...counts });

const listRooms: AdminHandler = async (request, { admin }) => {
  const order = choiceIn<RoomOrder>(request, 'sort', ['size', 'age']);
  const client = request.query.get('client') ?? undefined;
  if (client !== undefined && !/^[0-9a-f]{12}$/.test(client)) throw invalid('client', 'must be 12 hexadecimal digits');
  const { total, rooms } = await admin.listRooms(order, client, pageIn(request));
  return { body: { total, rooms: rooms.map(roomOf) } satisfies AdminRoomList };
};

/** Field by field, so that nothing else of a room can get into the response. */
function roomOf(room: ListedRoom): AdminRoom {
  return {
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
  };
}

function creatorOf(createdBy: CreatedBy): NonNullable<AdminRoom['createdBy']> {
  const [type, name] = [createdBy.slice(0, createdBy.indexOf(':')), createdBy.slice(createdBy.indexOf(':') + 1)];
  return { type: type === 'key' ? 'key' : 'user', name };
}

const revealRoom: AdminHandler = async ({ id, params }, { admin }) => {
  return { body: { roomId: await admin.revealRoom(params.room ?? '', id) } satisfies AdminRoomRevealed };
};

const removeRoom: AdminHandler = async ({ id, params }, { admin }) => {
  const masked = await admin.removeRoom(params.room ?? '', id);
  return { body: confirmation(`Room ${masked} was removed.`) };
};

const listReports: AdminHandler = async (request, { admin }) => {
  const { total, reports } = await admin.listReports(pageIn(request));
  return { body: { total, reports: reports.map(reportOf) } satisfies AdminReportList };
};

const reportOf = ({ id, handle, maskedCode, reason, comment, createdAt, client }: ListedReport): AdminReport => ({
  id,
  ...(handle !== undefined && { room: handle }),
  code: maskedCode,
  reason,
  ...(comment !== undefined && { comment }),
  createdAt: toTimestamp(createdAt),
  clientHash: client,
});

const dismissReport: AdminHandler = async ({ id, params }, { admin }) => {
  await admin.dismissReport(params.reportId ?? '', id);
  return { body: confirmation('The report was removed.') };
};

const listClients: AdminHandler = async (request, { admin }) => {
  const order = choiceIn<ClientOrder>(request, 'sort', ['requests', 'refused', 'bytes']);
  const hours = numberIn(request, 'hours', { least: 1, most: 24, standard: 2 });
  const { total, clients } = await admin.listClients(order, hours, pageIn(request));
  return { body: { total, clients: clients.map(clientOf) } satisfies AdminClientList };
};

const clientOf = ({ hash, ...client }: ListedClient): AdminClient => ({ ...client, clientHash: hash });

const listBlocks: AdminHandler = async (_, { admin }) => {
  const blocks = await admin.blocks.list();
  return { body: { maximum: admin.blocks.maximum, blocks: blocks.map(blockOf) } satisfies AdminBlockList };
};

const block: AdminHandler = async (request, { admin, addressOf, clock, log }) => {
  const body = await readJson<CreateBlockRequest>(request, createBlockRequest, smallBody);
  const range = parseRange(body.range);
  if (!range) throw invalid('range', 'must be an IP address or a CIDR range, for example 198.51.100.0/24');
  if (!body.force) refuseOwn(range, addressOf(request.raw));
  const endsAt = body.expiresIn === undefined ? undefined : clock() + body.expiresIn * 1000;
  const made = await admin.blocks.add({ range: formatRange(range), reason: body.reason, endsAt });
  log.info({ requestId: request.id, block: made.id }, 'an admin blocked addresses');
  return { status: 201, body: blockOf(made) };
};

/** A typing error must not lock out the operator, or everyone behind a proxy on this machine. */
function refuseOwn(range: AddressRange, own: string): void {
  if (containsLoopback(range)) {
    throw invalid('range', `contains this machine. If you mean it, ${forceHint}`, { reason: 'loopback' });
  }
  if (createMatcher([range])(own)) {
    throw invalid('range', `contains your own address, ${own}. If you mean it, ${forceHint}`, {
      reason: 'own-address',
    });
  }
}

const forceHint = 'set "force" to true';

const unblock: AdminHandler = async ({ id, params }, { admin, log }) => {
  await admin.blocks.remove(params.blockId ?? '');
  log.info({ requestId: id, block: params.blockId }, 'an admin removed a block');
  return { body: confirmation('The block was removed.') };
};

function blockOf({ id, range, reason, createdAt, endsAt }: AddressBlock): AdminBlock {
  const ends = endsAt === undefined ? {} : { endsAt: toTimestamp(endsAt) };
  return { id, range, reason, createdAt: toTimestamp(createdAt), ...ends };
}

const listKeys: AdminHandler = async (request, { admin }) => {
  const { total, keys } = await admin.listKeys(pageIn(request));
  return { body: { total, keys: keys.map(keyOf) } satisfies AdminKeyList };
};

const revokeKey: AdminHandler = async ({ id, params }, { admin }) => {
  return { body: keyOf(await admin.revokeKey(params.keyId ?? '', id)) };
};

function keyOf({ id, name, tier, createdAt, revokedAt, use }: ListedKey): AdminKey {
  return {
    id,
    name,
    tier,
    createdAt: toTimestamp(createdAt),
    ...(revokedAt !== undefined && { revokedAt: toTimestamp(revokedAt) }),
    ...(use && { lastUsedAt: toTimestamp(use.lastUsedAt) }),
    requests: use?.requests ?? 0,
    refused: use?.refused ?? 0,
    received: use?.received ?? 0,
    sent: use?.sent ?? 0,
  };
}

const confirmation = (message: string): Confirmation => ({ success: true, message });

const pageIn = (request: Request): Page => ({
  limit: numberIn(request, 'limit', { least: 1, most: 200, standard: 50 }),
  offset: numberIn(request, 'offset', { least: 0, most: 9800, standard: 0 }),
});

interface NumberRule {
  least: number;
  most: number;
  standard: number;
}

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

function invalid(field: string, rule: string, details: object = {}): PoproomError {
  return new PoproomError('VALIDATION_FAILED', `"${field}" ${rule}.`, { details: { field, ...details } });
}
