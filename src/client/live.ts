/** The live channel of a room: an async iterator that reconnects automatically, and a way to write. */
import { createLiveChannel, type LiveOptions } from './live-channel.ts';
import type { Ended, LiveEvent } from './live-event.ts';
import { createResumeToken } from './resume-token.ts';
import type { RoomAccess } from './room-access.ts';
import { isWhole } from './shapes.ts';
import type { Transport } from './transport.ts';
import type { WriteAnswer } from './writes.ts';

/**
 * Iterating joins the room and reconnects after interruptions, until the room ends or `signal` aborts; the return value
 * says which. It throws errors that waiting does not resolve: an unknown room, a missing or wrong PIN, a server that
 * repeatedly sends malformed messages.
 */
export interface LiveRoom {
  [Symbol.asyncIterator](): AsyncGenerator<LiveEvent, Ended>;
  /** Writes a text based on a version. Resolves with `written` or `conflict`; fails with `OFFLINE` without a connection. */
  write(content: string, baseVersion: number): Promise<WriteAnswer>;
  /** Reconnects now if the connection may be dead. Call it when the device wakes up or the network returns. */
  wake(): void;
  /** Closes the connection and reconnects later. Call it when the network is known to be lost. */
  interrupt(): void;
  /** Changes the name of this device. Reconnects to do so. */
  rename(deviceName: string): void;
}

export function openLive(transport: Transport, path: string, access: RoomAccess, options: LiveOptions = {}): LiveRoom {
  const token = createResumeToken(options.resumeToken, options.onResumeToken);
  let { deviceName } = access;
  // Read for each connection: the PIN and the name of the device may change.
  const currentAccess = () => ({ ...access, deviceName });
  const openChannel = () => createLiveChannel(transport, path, currentAccess, token, options);
  let channel = openChannel();

  return {
    async *[Symbol.asyncIterator]() {
      // A new iterator starts with a snapshot.
      channel = openChannel();
      return yield* channel.run();
    },

    async write(content, baseVersion) {
      if (!isWhole(baseVersion)) throw new TypeError('A version is a whole number from 0.');
      return channel.write(content, baseVersion);
    },

    wake: () => channel.wake(),
    interrupt: () => channel.interrupt(),

    rename(name) {
      deviceName = name;
      channel.reconnect();
    },
  };
}
