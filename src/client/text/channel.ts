/** How a live channel and a shared text talk to each other. */
import type { EditText, Join, ServerMessage } from '../../protocol/types.ts';
import type { PoproomError } from '../error.ts';
import type { SharedText } from './shared-text.ts';

/** A live channel that has entered the room. */
export interface TextLink {
  send(message: EditText): void;
  /** Drops the connection and joins again. */
  reconnect(): void;
}

export interface TextChannel {
  /** What a join says of the text. A text without a device id takes that of the client, and else a random one. */
  join(clientDeviceId: string | undefined): TextJoin;
  /** The server has admitted the session. */
  onConnected(link: TextLink): void;
  /** Returns whether the message was an answer to an edit of the text. */
  onMessage(message: ServerMessage): boolean;
  onDisconnected(): void;
  /** Entering failed for good, or the room has ended. */
  onFailed(error: PoproomError): void;
}

export type TextJoin = Pick<Join, 'version' | 'timestamp'> & {
  deviceId: string;
  edits: true;
  /** Whether the text needs a snapshot, whatever else the channel has. */
  needsSnapshot: boolean;
};

const channels = new WeakMap<SharedText, TextChannel>();

export function bindChannel(text: SharedText, channel: TextChannel): void {
  channels.set(text, channel);
}

export function channelOf(text: SharedText): TextChannel {
  const channel = channels.get(text);
  if (!channel) throw new TypeError('A text must be made by createSharedText() or room.text().');
  return channel;
}
