/** The reply of a handler. */
import type { Readable } from 'node:stream';

/** Sent with every response. */
export const fixedHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  /** A stream of known length needs a Content-Length in the headers. */
  body?: string | Uint8Array | Readable;
  /** Whether these bytes are in memory only for this reply. Others are shared between clients. */
  isOwnBody?: true;
  /** How long the client asked to wait. It is not part of the duration of the request. */
  waitedMs?: number;
}

export function json(status: number, value: unknown, headers?: Record<string, string>): Reply {
  return jsonText(status, JSON.stringify(value), headers);
}

/** A reply with serialized JSON. */
export function jsonText(status: number, body: string, headers?: Record<string, string>): Reply {
  const common = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' };
  return { status, headers: headers ? Object.assign(common, headers) : common, body };
}
