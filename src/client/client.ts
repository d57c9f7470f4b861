/** The client of the SDK: a server, and its rooms with their shared texts. */
import { withArgumentChecks } from './arguments.ts';
import { type BaseClient, type ClientOptions, type Creation, createBaseClient } from './base-client.ts';
import type { LiveOptions } from './live-channel.ts';
import { type LiveRoom, withLiveEnd } from './live-end.ts';
import type { RoomBase } from './room-base.ts';
import { createRoomText, type LiveText, type LiveTextOptions } from './text/live-text.ts';

export interface Room extends RoomBase {
  /** Joins the room and receives its changes; see {@link LiveRoom}. */
  live(options?: LiveOptions): LiveRoom;
  /** Joins the room and returns its text, which this and other devices can edit at the same time. */
  text(options?: LiveTextOptions): LiveText;
}

export interface CreatedRoom extends Room, Creation {}

export interface Client extends BaseClient<Room> {}

/** Creates a client for a server. It sends no request yet. */
export function createClient(options: ClientOptions): Client {
  return createBaseClient(options, (room) => {
    const openLive = room.live;
    return Object.assign(withArgumentChecks(room), {
      live: (liveOptions?: LiveOptions) => withLiveEnd(openLive(liveOptions)),
      text: (textOptions: LiveTextOptions = {}) => createRoomText(openLive, options.deviceId, textOptions),
    });
  });
}
