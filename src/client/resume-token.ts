/** The token that resumes a live channel. A resumed channel does not count as a request. */
import { liveProtocol, resumePrefix, resumeTokenTtlMs } from '../protocol/resume.ts';
import type { ServerMessage } from '../protocol/types.ts';
import { isToken } from './shapes.ts';

/** After this many refusals in a row by a reachable server, the token is considered invalid. */
const maxRefusals = 3;

export interface ResumeToken {
  /** The WebSocket subprotocols that present the token; undefined if there is none that may be valid. */
  protocols(): string[] | undefined;
  /** Stores the token of a message and removes it from the message, because programs log messages. */
  takeFrom(message: ServerMessage): void;
  /** Returns whether to try again with the token. */
  onRefused(): boolean;
}

export function createResumeToken(given: string | undefined, onNew: (token: string) => void = () => {}): ResumeToken {
  let usable: UsableToken | undefined;
  if (isToken(given)) keep(given);

  function keep(token: string): void {
    usable = { token, receivedAt: Date.now(), refusals: 0 };
  }

  return {
    protocols() {
      if (usable && Date.now() - usable.receivedAt > resumeTokenTtlMs) usable = undefined;
      return usable && [liveProtocol, resumePrefix + usable.token];
    },

    takeFrom(message) {
      if (!('resumeToken' in message)) return;
      const { resumeToken } = message;
      delete message.resumeToken;
      if (resumeToken === undefined) return;
      keep(resumeToken);
      onNew(resumeToken);
    },

    onRefused() {
      if (usable && ++usable.refusals >= maxRefusals) usable = undefined;
      return usable !== undefined;
    },
  };
}

/** A token that the server may still accept. */
interface UsableToken {
  token: string;
  receivedAt: number;
  /** In a row. */
  refusals: number;
}
