/** The way in: a server, and its rooms with their shared texts. */
import { type BaseClient, type ClientOptions, type Creation, createBaseClient } from './base-client.ts';
import type { RoomBase } from './room.ts';
import { createRoomText, type LiveText, type LiveTextOptions } from './text/live-text.ts';

export interface Room extends RoomBase {
  /** Joins the room for its text, which can be edited here and elsewhere at the same time. */
  text(options?: LiveTextOptions): LiveText;
}

export interface CreatedRoom extends Room, Creation {}

export interface Client extends BaseClient<Room> {}

export function createClient(options: ClientOptions): Client {
  return createBaseClient(options, (room) => ({
    ...room,
    text: (textOptions = {}) => createRoomText(room.live, options.deviceId, textOptions),
  }));
}
