/** What a handler answers, before it becomes bytes. */
import type { Readable } from 'node:stream';

/** Every response has these. */
export const fixedHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  /** A stream that has an end comes with its Content-Length among the headers. */
  body?: string | Uint8Array | Readable;
}

export function json(status: number, value: unknown, headers?: Record<string, string>): Reply {
  return jsonText(status, JSON.stringify(value), headers);
}

/** JSON that is text already. */
export function jsonText(status: number, body: string, headers?: Record<string, string>): Reply {
  const common = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' };
  return { status, headers: headers ? Object.assign(common, headers) : common, body };
}
