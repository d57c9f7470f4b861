/** Creates a room. The page needs this before the rest of the SDK. */
import { isEncryptedCode, type RoomCode } from '../protocol/room-code.ts';
import type { CreateRoomRequest, RoomCreated } from '../protocol/types.ts';
import { PoproomError } from './error.ts';
import { isRoomCreated } from './shapes.ts';
import type { CallOptions, Transport } from './transport.ts';

/** Refuses a code of an encrypted room for another one: everyone would be asked for a key that does not exist. */
export async function requestRoom(
  transport: Transport,
  request: CreateRoomRequest,
  options?: CallOptions,
): Promise<RoomCreated> {
  const headers = transport.newIdempotencyKey();
  const call = { method: 'POST', json: request, headers, ...options };
  const created = await transport.call('/api/rooms', isRoomCreated, call);
  if (!request.encryption && isEncryptedCode(created.roomId as RoomCode))
    throw new PoproomError('INVALID_RESPONSE', 'The server gave the new room a code of an encrypted room.');
  return created;
}
