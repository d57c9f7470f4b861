/** The client of the SDK: a server, and its rooms with their shared texts. */
import { type BaseClient, type ClientOptions, type Creation, createBaseClient } from './base-client.ts';
import type { RoomBase } from './room-base.ts';
import { createRoomText, type LiveText, type LiveTextOptions } from './text/live-text.ts';

export interface Room extends RoomBase {
  /** Joins the room and returns its text, which this and other devices can edit at the same time. */
  text(options?: LiveTextOptions): LiveText;
}

export interface CreatedRoom extends Room, Creation {}

export interface Client extends BaseClient<Room> {}

/** Creates a client for a server. It sends no request yet. */
export function createClient(options: ClientOptions): Client {
  return createBaseClient(options, (room) =>
    Object.assign(room, {
      text: (textOptions: LiveTextOptions = {}) => createRoomText(room.live, options.deviceId, textOptions),
    }),
  );
}
