/** The token with which a live channel resumes: opening it then does not count, and is not refused for a limit. */
import { liveProtocol, resumePrefix, tokenLastsMs } from '../protocol/resume.ts';
import type { ServerMessage } from '../protocol/types.ts';

/** A server that is there and refuses it so often in a row does not accept it. */
const mostRefusals = 3;

export interface ResumeToken {
  /** The WebSocket subprotocols that show it; undefined without a token that may still be valid. */
  protocols(): string[] | undefined;
  /** Keeps what a message has, and takes it out: programs log messages. */
  takeFrom(message: ServerMessage): void;
  /** Whether it is worth another try with it. */
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
      if (refusals >= mostRefusals) token = undefined;
      return token !== undefined;
    },
  };
}

/** A WebSocket cannot be opened with other characters. */
const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\w.-]{1,100}$/.test(value);
