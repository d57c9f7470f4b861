/** Rooms: create, get, change, delete. */
import { invalidField, PoproomError } from '../../core/errors.ts';
import { fileEntryOf } from '../../core/files/files.ts';
import { seenByLink } from '../../core/links.ts';
import type { CreatedRoom, RoomWithDevices } from '../../core/rooms.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import type { RoomLimits } from '../../protocol/limits.ts';
import * as schemas from '../../protocol/schemas.ts';
import type * as api from '../../protocol/types.ts';
import { readCaller, readJson } from '../request/parse-body.ts';
import { callerOf, header, type Request } from '../request/request.ts';
import { confirmation, json } from '../response/reply.ts';
import { fileAddresses, findOwnBase } from '../urls.ts';
import type { HandlerDeps, Handlers } from './handler.ts';
import { fingerprintOf, keyedRun, replayHeaders } from './idempotent.ts';

export const roomHandlers = (deps: HandlerDeps) => {
  const { rooms, creation, reports, limits, links, userOf } = deps;
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
