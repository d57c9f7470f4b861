/** The interface between a live channel and a shared text. */
import type { EditText, Join, ServerMessage } from '../../protocol/types.ts';
import type { ChannelCodec, SealedStart } from '../encryption.ts';
import type { PoproomError } from '../error.ts';
import type { SharedText } from './shared-text.ts';

/** A live channel that has joined the room. */
export interface TextLink {
  send(message: EditText): void;
  /** Closes the connection and rejoins. */
  reconnect(): void;
}

export interface TextChannel {
  /** The room is encrypted: creates the codec that continues the versions of this text. */
  bindCodec(create: (start: SealedStart) => ChannelCodec): ChannelCodec;
  /** Returns the fields for a join. A text without a device id uses that of the client, or a random one. */
  join(clientDeviceId: string | undefined): TextJoin;
  /** The server has admitted the session. */
  onConnected(link: TextLink): void;
  onMessage(message: ServerMessage): void;
  onDisconnected(): void;
  /** Joining failed permanently, or the room has ended. */
  onFailed(error: PoproomError): void;
}

export type TextJoin = Pick<Join, 'version' | 'timestamp' | 'diverged'> & {
  deviceId: string;
  edits: true;
  /** Whether the text needs a snapshot even if the channel does not. */
  needsSnapshot: boolean;
};

const channels = new WeakMap<SharedText, TextChannel>();

export function bindChannel(text: SharedText, channel: TextChannel): void {
  channels.set(text, channel);
}

export function channelOf(text: SharedText): TextChannel {
  const channel = channels.get(text);
  if (!channel) throw new TypeError('A text must be created by createSharedText() or room.text().');
  return channel;
}
