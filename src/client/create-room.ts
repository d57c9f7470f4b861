/** Creates a room. The page needs this before the rest of the SDK. */
import type { CreateRoomRequest, RoomCreated } from '../protocol/types.ts';
import { isRoomCreated } from './shapes.ts';
import type { CallOptions, Transport } from './transport.ts';

export const requestRoom = (
  transport: Transport,
  request: CreateRoomRequest,
  options?: CallOptions,
): Promise<RoomCreated> => {
  const headers = transport.newIdempotencyKey();
  return transport.call('/api/rooms', isRoomCreated, { method: 'POST', json: request, headers, ...options });
};
