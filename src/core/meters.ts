/** The events that the live channel reports to the metrics. */
import type { ClientMessage } from '../protocol/types.ts';

/** A poll is a request that waits for a change of the text. */
export type LiveTransport = 'websocket' | 'events' | 'poll';

/** Why a live channel ended: the client left, its room ended, or the server closed it. */
export type LeaveReason = 'left' | 'deleted' | 'expired' | 'shutdown' | 'too-slow' | 'no-heartbeat' | 'error';

export interface LiveMeter {
  opened(transport: LiveTransport): void;
  closed(transport: LiveTransport, reason: LeaveReason, seconds: number): void;
  /** A message was handled, successfully or not. */
  handled(type: ClientMessage['type'] | 'invalid', seconds: number): void;
  /** A message or a join was answered with an error, or the channel was closed because of too many messages. */
  refused(error: unknown): void;
  /** A client found that its text differs from that of the server. */
  diverged(): void;
}

const ignore = () => undefined;
/** For a server without metrics. */
export const noLiveMeter: LiveMeter = {
  opened: ignore,
  closed: ignore,
  handled: ignore,
  refused: ignore,
  diverged: ignore,
};
