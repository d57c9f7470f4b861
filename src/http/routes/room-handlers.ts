/** Rooms: create, get, change, delete. */

import type { Applicant } from '../../core/creation.ts';
import { PoproomError } from '../../core/errors.ts';
import { fileEntryOf } from '../../core/files/files.ts';
import { seenByLink } from '../../core/links.ts';
import type { CreatedRoom, RoomWithDevices } from '../../core/rooms.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import type { RoomLimits } from '../../protocol/limits.ts';
import {
  createReportRequest,
  createRoomRequest,
  createTokenRequest,
  updateRoomRequest,
} from '../../protocol/schemas.ts';
import type {
  Confirmation,
  CreateReportRequest,
  CreateRoomRequest,
  CreateTokenIssued,
  CreateTokenRequest,
  RoomCreated,
  RoomDetails,
  RoomInfo,
  UpdateRoomRequest,
} from '../../protocol/types.ts';
import { readCaller, readJson, smallBody } from '../request/parse-body.ts';
import { callerOf, header, type Request } from '../request/request.ts';
import { json } from '../response/reply.ts';
import { fileAddresses, findOwnBase } from '../urls.ts';
import type { Handler, HandlerDeps } from './handler.ts';
import { fingerprintOf, keyedRun, replayHeaders } from './idempotent.ts';

export const roomHandlers = (deps: HandlerDeps) => ({
  createRoom: createRoom(deps),
  createToken: createToken(deps),
  getRoom: getRoom(deps),
  updateRoom: updateRoom(deps),
  deleteRoom: deleteRoom(deps),
  reportRoom: reportRoom(deps),
});

const createRoom =
  (deps: HandlerDeps): Handler =>
  async (request) => {
    const { rooms, limits, links } = deps;
    const createdBy = await deps.creation.authorize(applicantOf(request, deps));
    const body = await readJson<CreateRoomRequest>(request, createRoomRequest, smallBody);
    const { pin, expiresIn, extend, name, history = true, encryption } = body;
    const fingerprint = () => fingerprintOf(JSON.stringify([pin, expiresIn, name, history, encryption, extend]));
    const run = keyedRun<CreatedRoom>(deps, request, 'createRoom', fingerprint);
    const newRoom = { client: request.client, pin, expiresIn, extend, name, history, encryption, createdBy };
    const room = describe(await rooms.create(newRoom, run));
    const base = findOwnBase(request, links);
    const link = base === undefined ? {} : { link: `${base}/r/${room.roomId}` };
    const location = base === undefined ? {} : { Location: `${base}/api/rooms/${room.roomId}` };
    return json(201, { ...room, ...link, limits } satisfies RoomCreated, { ...location, ...replayHeaders(run) });
  };

const applicantOf = ({ raw, client, isCrossSite, keyName }: Request, { userOf }: HandlerDeps): Applicant => ({
  client,
  isCrossSite,
  keyName,
  user: userOf(raw),
  password: header(raw, 'x-create-password'),
});

const createToken =
  ({ creation }: HandlerDeps): Handler =>
  async (request) => {
    const { password } = await readJson<CreateTokenRequest>(request, createTokenRequest, smallBody);
    const { token, expiresAt } = await creation.issueToken(request, password);
    return json(200, { token, expiresAt: toTimestamp(expiresAt) } satisfies CreateTokenIssued);
  };

const getRoom =
  (deps: HandlerDeps): Handler =>
  async (request) => {
    const wantsDetails = parseDetails(request.query.get('details'));
    const info = infoOf(await deps.rooms.info(callerOf(request)), deps.limits);
    return json(200, wantsDetails ? await withDetails(deps, request, info) : info);
  };

async function withDetails(
  { rooms, files, links }: HandlerDeps,
  request: Request,
  info: RoomInfo,
): Promise<RoomDetails> {
  const { linkTo } = fileAddresses(request, links);
  const caller = callerOf(request);
  const [{ content, version, writtenAt }, stored] = await Promise.all([rooms.readContent(caller), files.list(caller)]);
  const text = { version, bytes: Buffer.byteLength(content), timestamp: toTimestamp(writtenAt) };
  return { ...info, text, files: stored.map((file) => fileEntryOf(file, linkTo)) };
}

function parseDetails(text: string | null | undefined): boolean {
  if (text === 'true') return true;
  if (text === null || text === undefined || text === 'false') return false;
  throw new PoproomError('VALIDATION_FAILED', '"details" must be true or false.', { details: { field: 'details' } });
}

const updateRoom =
  ({ rooms, limits }: HandlerDeps): Handler =>
  async (request) => {
    const changes = await readJson<UpdateRoomRequest>(request, updateRoomRequest, smallBody);
    return json(200, infoOf(await rooms.update(callerOf(request), changes), limits));
  };

const deleteRoom =
  ({ rooms }: HandlerDeps): Handler =>
  async (request) => {
    const caller = await readCaller(request);
    const code = await rooms.remove(caller);
    return json(200, { success: true, message: `Room ${code} was deleted.` } satisfies Confirmation);
  };

const reportRoom =
  ({ reports }: HandlerDeps): Handler =>
  async (request) => {
    if (!reports) throw new PoproomError('NOT_FOUND', 'The operator of this server takes no reports.');
    const report = await readJson<CreateReportRequest>(request, createReportRequest, smallBody);
    await reports.add(callerOf(request), report);
    return json(201, { success: true, message: 'The operator can see your report.' } satisfies Confirmation);
  };

/** For the holder of a link, its id replaces the code. */
function infoOf(room: RoomWithDevices, limits: RoomLimits): RoomInfo {
  const { link } = room;
  const seen = link ? seenByLink(room, link) : room;
  const { deviceCount, fileCount, fileBytes } = seen;
  const ofLink = link && { roomId: link.id, role: link.role };
  return { ...describe(seen), ...ofLink, deviceCount, fileCount, fileBytes, limits };
}

function describe({ code, expiresAt, hasPin, name, salt, extendMs }: CreatedRoom) {
  const encrypted = salt !== undefined && ({ encrypted: true } as const);
  const extend = extendMs !== undefined && ({ extend: true } as const);
  return {
    roomId: code,
    expiresAt: toTimestamp(expiresAt),
    ...extend,
    hasPin,
    ...encrypted,
    ...(name !== undefined && { name }),
  };
}
