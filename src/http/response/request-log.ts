/** Records every request: a log line and an observation for the metrics. */
import type { ClientLog } from '../../core/clients.ts';
import { hasCode } from '../../core/errors.ts';
import type { ClientId } from '../../core/ports/basics.ts';
import { causeOf, codeOf } from './reply.ts';

export interface Observation {
  method: string;
  /** The route pattern, never the path: a path contains a room code or a file id. */
  route: string;
  status: number;
  /** Until the start of the response. */
  seconds: number;
  /** Why the request was rejected or failed, if it was. */
  error?: unknown;
}

export interface Answered extends Pick<Observation, 'method' | 'route' | 'status'> {
  requestId: string;
  /** The id of the distributed trace that the request belongs to. */
  traceId: string | undefined;
  client: ClientId;
  /** Why the request was rejected or failed, if it was. */
  error: unknown;
  /** From `performance.now()`. */
  startedAt: number;
}

export interface RequestLog {
  /** Call this before the response is sent. Logs a failed request with its cause. */
  failed(answered: Answered): void;
  /** Call this before the response is sent, so that the metrics do not include how long the client reads. */
  observe(answered: Answered): void;
  /** Call this after the response is sent. Logs all other requests. */
  answered(answered: Answered): void;
  /** Call this if the response could not be finished. */
  broken(requestId: string, client: ClientId, err: unknown): void;
}

interface RequestEvents {
  /** For the metrics; undefined without them. */
  observe: ((seen: Observation) => void) | undefined;
  /** Called when a request fails because of the server. */
  onFailure: () => void;
  /** Called when a response could not be finished. */
  onBroken: () => void;
}

export function createRequestLog(lines: ClientLog, { observe, onFailure, onBroken }: RequestEvents): RequestLog {
  return {
    failed(answered) {
      const { client, error } = answered;
      onFailure();
      const fields = { ...fieldsOf(answered), ...explain(error) };
      lines.refused({ client, code: codeOf(error), level: 'error', fields, message: 'request failed' });
    },

    observe({ method, route, status, error, startedAt }) {
      observe?.({ method, route, status, error, seconds: secondsSince(startedAt) });
    },

    answered(answered) {
      const { status, client, error } = answered;
      if (status < 400) {
        if (lines.isDebug) lines.debug(client, fieldsOf(answered), 'request');
      } else if (!isFailure(answered)) {
        const code = error === undefined ? String(status) : codeOf(error);
        lines.refused({ client, code, fields: fieldsOf(answered), message: 'request' });
      }
    },

    broken(requestId, client, err) {
      onBroken();
      const fields = { requestId, err };
      lines.refused({ client, code: 'RESPONSE_FAILED', level: 'error', fields, message: 'response failed' });
    },
  };
}

/** A store that is unavailable or full is not a bug, so a stack for each request would only hide the reason. */
function explain(error: unknown): { reason: string } | { err: unknown } {
  const err = causeOf(error);
  const isExpected = hasCode(error, 'UNAVAILABLE', 'STORAGE_FULL') && err instanceof Error;
  return isExpected ? { reason: err.message } : { err };
}

/** Whether the server failed. Such requests are logged with their cause. */
export const isFailure = ({ status, error }: Pick<Answered, 'status' | 'error'>) =>
  status >= 500 && error !== undefined;

function fieldsOf({ requestId, traceId, method, route, status, startedAt }: Answered) {
  const ids = traceId === undefined ? { requestId } : { requestId, traceId };
  return { ...ids, method, route, status, ms: Math.round(secondsSince(startedAt) * 1e4) / 10 };
}

const secondsSince = (startedAt: number) => (performance.now() - startedAt) / 1000;
