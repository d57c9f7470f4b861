/** Rooms, their links with a role, their webhooks, and their live channels over HTTP. */
import { invalidField, PoproomError } from '../../core/errors.ts';
import { fileEntryOf } from '../../core/files/files.ts';
import { seenByLink } from '../../core/links.ts';
import type { StoredLink } from '../../core/ports/rooms.ts';
import type { CreatedRoom, RoomWithDevices } from '../../core/rooms.ts';
import { deviceNameTooLong, maxDeviceNameLength } from '../../core/sealed.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import type { WebhookInfo } from '../../core/webhooks/webhooks.ts';
import type { RoomLimits } from '../../protocol/limits.ts';
import * as schemas from '../../protocol/schemas.ts';
import type * as api from '../../protocol/types.ts';
import { foreignOrigin, isForeignOrigin } from '../request/authorize.ts';
import { readCaller, readJson } from '../request/parse-body.ts';
import { callerOf, header, type Request } from '../request/request.ts';
import { confirmation, json } from '../response/reply.ts';
import { fileAddresses, findOwnBase, ownBase } from '../urls.ts';
import { confirmed, fingerprintOf, type HandlerDeps, type Handlers, keyedRun, replayHeaders } from './handler.ts';

export const roomHandlers = (deps: HandlerDeps) => {
  const { rooms, creation, roomLinks, webhooks, reports, live, limits, links, origins, userOf } = deps;
  return {
    async createRoom(request) {
      const { raw, client, isCrossSite, keyName } = request;
      const password = header(raw, 'x-create-password');
      const createdBy = await creation.authorize({ client, isCrossSite, keyName, user: userOf(raw), password });
      const body = await readJson<api.CreateRoomRequest>(request, schemas.createRoomRequest);
      const { pin, expiresIn, extend, name, history = true, encryption } = body;
      const fingerprint = () => fingerprintOf(JSON.stringify([pin, expiresIn, name, history, encryption, extend]));
      const run = keyedRun<CreatedRoom>(deps, request, 'createRoom', fingerprint);
      const newRoom = { client, pin, expiresIn, extend, name, history, encryption, createdBy };
      const room = describe(await rooms.create(newRoom, run));
      const base = findOwnBase(request, links);
      const link = base === undefined ? {} : { link: `${base}/r/${room.roomId}` };
      const location = base === undefined ? {} : { Location: `${base}/api/rooms/${room.roomId}` };
      return json(201, { ...room, ...link, limits } satisfies api.RoomCreated, { ...location, ...replayHeaders(run) });
    },

    async createToken(request) {
      const { password } = await readJson<api.CreateTokenRequest>(request, schemas.createTokenRequest);
      const { token, expiresAt } = await creation.issueToken(request, password);
      return json(200, { token, expiresAt: toTimestamp(expiresAt) } satisfies api.CreateTokenIssued);
    },

    async getRoom(request) {
      const wantsDetails = parseDetails(request.query.get('details'));
      const info = infoOf(await rooms.info(callerOf(request)), limits);
      return json(200, wantsDetails ? await withDetails(deps, request, info) : info);
    },

    async updateRoom(request) {
      const changes = await readJson<api.UpdateRoomRequest>(request, schemas.updateRoomRequest);
      return json(200, infoOf(await rooms.update(callerOf(request), changes), limits));
    },

    async deleteRoom(request) {
      const code = await rooms.remove(await readCaller(request));
      return confirmation(`Room ${code} was deleted.`);
    },

    async reportRoom(request) {
      if (!reports) throw new PoproomError('NOT_FOUND', 'The operator of this server takes no reports.');
      const report = await readJson<api.CreateReportRequest>(request, schemas.createReportRequest);
      await reports.add(callerOf(request), report);
      return confirmation('The operator can see your report.', 201);
    },

    async createLink(request) {
      const newLink = await readJson<api.CreateLinkRequest>(request, schemas.createLinkRequest);
      const created = await roomLinks.create(callerOf(request), newLink);
      return json(201, linkOf(created, findOwnBase(request, links)));
    },

    async listLinks(request) {
      const base = findOwnBase(request, links);
      const listed = await roomLinks.list(callerOf(request));
      return json(200, { links: listed.map((link) => linkOf(link, base)) } satisfies api.LinkList);
    },

    revokeLink: confirmed('The link was revoked.', (caller, { linkId = '' }) => roomLinks.revoke(caller, linkId)),

    async createWebhook(request) {
      const base = ownBase(request, links);
      const { url, events, pin } = await readJson<api.CreateWebhookRequest>(request, schemas.createWebhookRequest);
      const { secret, ...created } = await webhooks.create(callerOf(request, pin), { url, events, base });
      return json(201, { ...webhookOf(created), secret } satisfies api.WebhookCreated);
    },

    async listWebhooks(request) {
      const list = await webhooks.list(callerOf(request));
      return json(200, { webhooks: list.map(webhookOf) } satisfies api.WebhookList);
    },

    deleteWebhook: confirmed('The webhook was deleted.', (caller, { webhookId = '' }) =>
      webhooks.remove(caller, webhookId),
    ),

    async roomEvents(request) {
      const { raw, query, client, resumeToken } = request;
      const caller = callerOf(request);
      const visitor = {
        caller: { ...caller, deviceId: caller.deviceId ?? query.get('deviceId') ?? undefined },
        deviceName: deviceName(query.get('deviceName')),
        carets: query.get('carets') === 'true',
        seq: lastSeq(request),
        edits: false,
        version: undefined,
        timestamp: undefined,
        resumeToken,
        ...fileAddresses(request, links),
      };
      if (raw.method === 'HEAD') {
        await rooms.access(visitor.caller, 'followRoom');
        return { status: 200, headers: streamHeaders };
      }
      // Clients of an event stream send nothing, so only TCP keepalive detects a lost one, before a heartbeat resets it.
      raw.socket.setKeepAlive(true, 10_000);
      return { status: 200, headers: streamHeaders, body: await live.openEvents(client, visitor) };
    },

    /**
     * Requests without an upgrade, for example from the address bar of a browser. Browsers hide from a page why a
     * WebSocket was refused, so a page of another origin learns it here.
     */
    liveChannel({ raw }): never {
      if (isForeignOrigin(raw, origins)) throw foreignOrigin();
      const message = 'This endpoint requires a WebSocket. Use /events to follow a room over plain HTTP.';
      throw new PoproomError('UPGRADE_REQUIRED', message);
    },
  } satisfies Partial<Handlers>;
};

async function withDetails(
  { rooms, files, links }: HandlerDeps,
  request: Request,
  info: api.RoomInfo,
): Promise<api.RoomDetails> {
  const { linkTo } = fileAddresses(request, links);
  const caller = callerOf(request);
  const [{ content, version, writtenAt }, stored] = await Promise.all([rooms.readContent(caller), files.list(caller)]);
  const text = { version, bytes: Buffer.byteLength(content), timestamp: toTimestamp(writtenAt) };
  return { ...info, text, files: stored.map((file) => fileEntryOf(file, linkTo)) };
}

function parseDetails(text: string | null): boolean {
  if (text === 'true') return true;
  if (text === null || text === 'false') return false;
  throw invalidField('details', '"details" must be true or false.');
}

/** For the holder of a link, its id replaces the code. */
function infoOf(room: RoomWithDevices, limits: RoomLimits): api.RoomInfo {
  const { link } = room;
  const seen = link ? seenByLink(room, link) : room;
  const { deviceCount, fileCount, fileBytes } = seen;
  const ofLink = link && { roomId: link.id, role: link.role };
  return { ...describe(seen), ...ofLink, deviceCount, fileCount, fileBytes, limits };
}

const describe = ({ code, expiresAt, hasPin, name, salt, extendMs }: CreatedRoom) => ({
  roomId: code,
  expiresAt: toTimestamp(expiresAt),
  ...(extendMs !== undefined && { extend: true as const }),
  hasPin,
  ...(salt !== undefined && { encrypted: true as const }),
  ...(name !== undefined && { name }),
});

function linkOf({ id, role, name, createdAt, expiresAt, lastUsed }: StoredLink, base: string | undefined): api.Link {
  return {
    linkId: id,
    role,
    ...(base !== undefined && { link: `${base}/r/${id}` }),
    ...(name !== undefined && { name }),
    createdAt: toTimestamp(createdAt),
    ...(expiresAt !== undefined && { expiresAt: toTimestamp(expiresAt) }),
    ...(lastUsed !== undefined && { lastUsed: toTimestamp(lastUsed) }),
  };
}

function webhookOf({ id, host, events, createdAt, lastDeliveredAt, lastError }: WebhookInfo): api.WebhookEntry {
  return {
    ...{ id, host, events: [...events], createdAt: toTimestamp(createdAt) },
    ...(lastDeliveredAt !== undefined && { lastDelivery: toTimestamp(lastDeliveredAt) }),
    ...(lastError && { lastError: errorOf(lastError) }),
  };
}

/** A document of an earlier version has no code. */
function errorOf({ at, code = 'CONNECTION', message, status }: NonNullable<WebhookInfo['lastError']>) {
  return { timestamp: toTimestamp(at), code, message, ...(status !== undefined && { status }) };
}

const streamHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Proxies that buffer responses would delay events.
  'X-Accel-Buffering': 'no',
  Connection: 'close',
};

function lastSeq({ raw, query }: Request): number | undefined {
  const text = header(raw, 'last-event-id') ?? query.get('lastEventId');
  return text && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function deviceName(text: string | null): string | undefined {
  if (!text) return undefined;
  if (text.length <= maxDeviceNameLength) return text;
  throw deviceNameTooLong();
}
