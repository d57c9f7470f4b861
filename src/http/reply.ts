/** What a handler answers, before it becomes bytes. */
import type { Readable } from 'node:stream';

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  /** A stream must come with its Content-Length among the headers. */
  body?: string | Uint8Array | Readable;
}

export function json(status: number, value: unknown, headers?: Record<string, string>): Reply {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store', ...headers },
    body: JSON.stringify(value),
  };
}
