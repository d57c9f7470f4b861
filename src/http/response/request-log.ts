/** What is kept of every request: a line in the log, and its part in the figures. */
import type { ClientLog } from '../../core/client-log.ts';
import type { ClientId } from '../../core/ports.ts';
import { causeOf, codeOf } from './error-reply.ts';

export interface Observation {
  method: string;
  /** The pattern, never the path: a path holds a room's code or a file's address. */
  route: string;
  status: number;
  seconds: number;
}

export interface Answered extends Pick<Observation, 'method' | 'route' | 'status'> {
  requestId: string;
  client: ClientId;
  /** Why it was refused or failed, if it was. */
  error: unknown;
  /** By `performance.now()`. */
  startedAt: number;
}

export interface RequestLog {
  /** Before the response is sent: the line of a request that failed, with its cause. */
  failed(answered: Answered): void;
  /** After the response is sent: the line of any other request, and the figures. */
  answered(answered: Answered): void;
}

export function createRequestLog(lines: ClientLog, observe: (seen: Observation) => void): RequestLog {
  return {
    failed(answered) {
      const { client, error } = answered;
      const fields = { ...fieldsOf(answered), err: causeOf(error) };
      lines.refused({ client, code: codeOf(error), level: 'error', fields, message: 'request failed' });
    },

    answered(answered) {
      const { method, route, status, client, error } = answered;
      if (status < 400) {
        if (lines.isDebug) lines.debug(client, fieldsOf(answered), 'request');
      } else if (!isFailure(answered)) {
        const code = error === undefined ? String(status) : codeOf(error);
        lines.refused({ client, code, fields: fieldsOf(answered), message: 'request' });
      }
      observe({ method, route, status, seconds: secondsSince(answered.startedAt) });
    },
  };
}

/** The service's own failure, whose line has its cause. */
export const isFailure = ({ status, error }: Pick<Answered, 'status' | 'error'>) =>
  status >= 500 && error !== undefined;

function fieldsOf({ requestId, method, route, status, startedAt }: Answered) {
  return { requestId, method, route, status, ms: Math.round(secondsSince(startedAt) * 1e4) / 10 };
}

const secondsSince = (startedAt: number) => (performance.now() - startedAt) / 1000;
