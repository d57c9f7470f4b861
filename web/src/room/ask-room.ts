/** Asks for an encrypted room without its key: the refusal has the salt. This is sent before the code that needs it is loaded. */
import type { PoproomError } from '../../../src/client/error.ts';
import type { RoomCode } from '../../../src/protocol/room-code.ts';
import { toPoproomError, transport } from '../server.ts';

const answers = new Map<RoomCode, Promise<PoproomError | undefined>>();

/** Undefined if the server sends the room without a key. The request has nothing but the code. */
export async function askRoom(code: RoomCode): Promise<PoproomError | undefined> {
  const asked = answers.get(code) ?? transport.send(`/api/rooms/${code}`).then(() => undefined, toPoproomError);
  answers.set(code, asked);
  const answer = await asked;
  // The salt of a room never changes. Everything else may.
  if (answer?.code !== 'KEY_REQUIRED') answers.delete(code);
  return answer;
}
