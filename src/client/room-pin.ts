/** The PIN that a client sends. When someone else changes the PIN, the client forgets the earlier one. */
import type { ServerMessage } from '../protocol/types.ts';

export interface RoomPin {
  /** Undefined if the room has no PIN or the client does not know it. */
  readonly current: string | undefined;
  /** Uses the new PIN once the request has succeeded. */
  change<T>(pin: string | null, request: Promise<T>): Promise<T>;
  /** The message may report a change of the PIN, by this client or by another one. */
  onMessage(message: ServerMessage): void;
}

export function createRoomPin(given: string | undefined): RoomPin {
  let current = given;
  /** The latest reported change. Several live channels of one client report the same one. */
  let latestSeq = 0;
  /** The response to our own change can arrive before its message. */
  let expectsOwnChange = false;

  return {
    get current() {
      return current;
    },

    async change(pin, request) {
      const seqBefore = latestSeq;
      const response = await request;
      current = pin ?? undefined;
      expectsOwnChange = latestSeq === seqBefore;
      return response;
    },

    onMessage(message) {
      if (message.type === 'snapshot') expectsOwnChange = false;
      if (message.type !== 'room' || !message.pinChanged || message.seq <= latestSeq) return;
      latestSeq = message.seq;
      // The server would count the earlier PIN as a wrong one.
      if (!expectsOwnChange) current = undefined;
      expectsOwnChange = false;
    },
  };
}
