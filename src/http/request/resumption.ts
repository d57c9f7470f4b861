/** Live channels that resume: reads their token, and decides which of them do not count as a request. */
import type { IncomingMessage } from 'node:http';
import type { ClientId, Clock } from '../../core/ports.ts';
import { createResumeTokens } from '../../core/resume-token.ts';
import { resumeHeader, resumePrefix } from '../../protocol/resume.ts';
import { header } from './request.ts';

export interface Resumption {
  /** The token in a request, if it is genuine and belongs to a room with this code. */
  tokenIn(raw: IncomingMessage, roomId: string): string | undefined;
  /** Whether this client may open one more channel without using its limit. Counts it. */
  take(client: ClientId): boolean;
}

export function createResumption(secret: string, clock: Clock): Resumption {
  const tokens = createResumeTokens(secret, clock);
  const budget = new ResumeBudget();
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

/** Enough for all devices behind one address to reconnect three times in a row. One more is added every second. */
const burst = 60;
const refillMs = 1_000;

/** Limits free resumptions per client: a token can be reused, and each use makes the server read a room. */
class ResumeBudget {
  /** Least recently used first. */
  readonly #clients = new Map<ClientId, { left: number; at: number }>();

  take(client: ClientId, now: number): boolean {
    this.#dropRefilled(now);
    const { left, at } = this.#clients.get(client) ?? { left: burst, at: now };
    const refilled = Math.min(burst, left + (now - at) / refillMs);
    const isTaken = refilled >= 1;
    this.#clients.delete(client);
    this.#clients.set(client, { left: isTaken ? refilled - 1 : refilled, at: now });
    return isTaken;
  }

  #dropRefilled(now: number): void {
    for (const [client, { at }] of this.#clients) {
      if (now - at < burst * refillMs) return;
      this.#clients.delete(client);
    }
  }
}
