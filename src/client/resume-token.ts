/** The token that resumes a live channel. A resumed channel does not count as a request. */
import { liveProtocol, resumePrefix, tokenLastsMs } from '../protocol/resume.ts';
import type { ServerMessage } from '../protocol/types.ts';

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
  let token = isToken(given) ? given : undefined;
  let receivedAt = Date.now();
  let refusals = 0;

  return {
    protocols() {
      if (Date.now() - receivedAt > tokenLastsMs) token = undefined;
      return token === undefined ? undefined : [liveProtocol, resumePrefix + token];
    },

    takeFrom(message) {
      if (!('resumeToken' in message)) return;
      const { resumeToken } = message;
      delete message.resumeToken;
      if (!isToken(resumeToken)) return;
      receivedAt = Date.now();
      refusals = 0;
      token = resumeToken;
      onNew(resumeToken);
    },

    onRefused() {
      refusals += 1;
      if (refusals >= maxRefusals) token = undefined;
      return token !== undefined;
    },
  };
}

/** A WebSocket subprotocol allows no other characters. */
const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\w.-]{1,100}$/.test(value);
