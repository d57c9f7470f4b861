/** What is kept of every request: a line in the log, and its part in the figures. */
import type { Log } from '../core/ports.ts';

export interface Observation {
  method: string;
  /** The pattern, never the path: a path holds a room's code or a file's address. */
  route: string;
  status: number;
  seconds: number;
}

export interface Answered extends Pick<Observation, 'method' | 'route' | 'status'> {
  requestId: string;
  /** By `performance.now()`. */
  startedAt: number;
}

export type RecordRequest = (answered: Answered) => void;

export function createRequestRecord(log: Log, observe: (seen: Observation) => void): RecordRequest {
  return ({ requestId, method, route, status, startedAt }) => {
    const seconds = (performance.now() - startedAt) / 1000;
    const level = status < 400 ? 'debug' : 'info';
    log[level]({ requestId, method, route, status, ms: Math.round(seconds * 1e4) / 10 }, 'request');
    observe({ method, route, status, seconds });
  };
}
