/** Rooms: create, get, delete. */

import { toTimestamp } from '../../core/timestamp.ts';
import { createRoomRequest, pinOnlyRequest } from '../../protocol/schemas.ts';
import type { Confirmation, CreateRoomRequest, RoomCreated, RoomInfo } from '../../protocol/types.ts';
import { readJson, smallBody } from '../request/json-body.ts';
import { callerOf } from '../request/request.ts';
import { json } from '../response/reply.ts';
import type { Handler, Service } from './handler.ts';

export const createRoom =
  ({ rooms, limits }: Service): Handler =>
  async (request) => {
    const { pin, expiresIn, history = true } = await readJson<CreateRoomRequest>(request, createRoomRequest, smallBody);
    const { code, expiresAt, hasPin } = await rooms.create({ client: request.client, pin, expiresIn, history });
    return json(201, { roomId: code, expiresAt: toTimestamp(expiresAt), hasPin, limits } satisfies RoomCreated);
  };

export const getRoom =
  ({ rooms, limits }: Service): Handler =>
  async (request) => {
    const { code, expiresAt, hasPin, deviceCount, fileCount, fileBytes } = await rooms.info(callerOf(request));
    const room = { roomId: code, expiresAt: toTimestamp(expiresAt), hasPin, deviceCount, fileCount, fileBytes, limits };
    return json(200, room satisfies RoomInfo);
  };

export const deleteRoom =
  ({ rooms }: Service): Handler =>
  async (request) => {
    const { pin } = await readJson<{ pin?: string }>(request, pinOnlyRequest, smallBody);
    const code = await rooms.remove(callerOf(request, pin));
    return json(200, { success: true, message: `Room ${code} was deleted.` } satisfies Confirmation);
  };
