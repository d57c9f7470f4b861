/** Rooms: create, get, change, delete. */

import type { RoomLimits } from '../../core/limits.ts';
import type { RoomWithDevices } from '../../core/rooms.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import { createRoomRequest, pinOnlyRequest, updateRoomRequest } from '../../protocol/schemas.ts';
import type {
  Confirmation,
  CreateRoomRequest,
  RoomCreated,
  RoomInfo,
  UpdateRoomRequest,
} from '../../protocol/types.ts';
import { readJson, smallBody } from '../request/json-body.ts';
import { callerOf } from '../request/request.ts';
import { findOwnBase } from '../response/links.ts';
import { json } from '../response/reply.ts';
import type { Handler, Service } from './handler.ts';
import { fingerprintOf, runOnce } from './idempotent.ts';

export const createRoom =
  (service: Service): Handler =>
  async (request) => {
    const { rooms, limits, links } = service;
    const body = await readJson<CreateRoomRequest>(request, createRoomRequest, smallBody);
    const { pin, expiresIn, name, history = true, encryption } = body;
    const fingerprint = () => fingerprintOf(JSON.stringify([pin, expiresIn, name, history, encryption]));
    const { result: room, headers } = await runOnce(service, request, 'createRoom', {
      perform: async () =>
        describe(await rooms.create({ client: request.client, pin, expiresIn, name, history, encryption })),
      fingerprint,
      compare: async () => fingerprint(),
    });
    const base = findOwnBase(request, links);
    const link = base === undefined ? {} : { link: `${base}/r/${room.roomId}` };
    const location = base === undefined ? {} : { Location: `${base}/api/rooms/${room.roomId}` };
    return json(201, { ...room, ...link, limits } satisfies RoomCreated, { ...location, ...headers });
  };

export const getRoom =
  ({ rooms, limits }: Service): Handler =>
  async (request) =>
    json(200, infoOf(await rooms.info(callerOf(request)), limits));

export const updateRoom =
  ({ rooms, limits }: Service): Handler =>
  async (request) => {
    const changes = await readJson<UpdateRoomRequest>(request, updateRoomRequest, smallBody);
    return json(200, infoOf(await rooms.update(callerOf(request), changes), limits));
  };

export const deleteRoom =
  ({ rooms }: Service): Handler =>
  async (request) => {
    const { pin } = await readJson<{ pin?: string }>(request, pinOnlyRequest, smallBody);
    const code = await rooms.remove(callerOf(request, pin));
    return json(200, { success: true, message: `Room ${code} was deleted.` } satisfies Confirmation);
  };

function infoOf(room: RoomWithDevices, limits: RoomLimits): RoomInfo {
  const { deviceCount, fileCount, fileBytes } = room;
  return { ...describe(room), deviceCount, fileCount, fileBytes, limits };
}

type Described = Pick<RoomWithDevices, 'code' | 'expiresAt' | 'hasPin' | 'name' | 'salt'>;

function describe({ code, expiresAt, hasPin, name, salt }: Described) {
  const encrypted = salt !== undefined && ({ encrypted: true } as const);
  return { roomId: code, expiresAt: toTimestamp(expiresAt), hasPin, ...encrypted, ...(name !== undefined && { name }) };
}
