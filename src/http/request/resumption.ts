/** Live channels that resume: reads their token, and decides which of them do not count as a request. */
import type { IncomingMessage } from 'node:http';
import type { ClientId, Clock } from '../../core/ports.ts';
import { createResumeTokens } from '../../core/tokens.ts';
import { resumeHeader, resumePrefix } from '../../protocol/resume.ts';
import { header } from './request.ts';
import { TokenBudget } from './token-budget.ts';

export interface Resumption {
  /** The token in a request, if it is genuine and belongs to a room with this code. */
  tokenIn(raw: IncomingMessage, roomId: string): string | undefined;
  /** Whether this client may open one more channel without using its limit. Counts it. */
  take(client: ClientId): boolean;
}

export function createResumption(secret: string, clock: Clock): Resumption {
  const tokens = createResumeTokens(secret, clock);
  const budget = new TokenBudget();
  return {
    tokenIn(raw, roomId) {
      const token = tokenOf(raw);
      return token !== undefined && tokens.isGenuine(token, roomId) ? token : undefined;
    },
    take: (client) => budget.take(client, performance.now()),
  };
}

function tokenOf(raw: IncomingMessage): string | undefined {
  const offered = raw.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  const inProtocol = offered.find((name) => name.startsWith(resumePrefix))?.slice(resumePrefix.length);
  return inProtocol ?? header(raw, resumeHeader.toLowerCase());
}
