/** Sends requests as bytes, including malformed ones. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type ApiResponse, apiResponseOf } from './api.ts';
import { openRawSocket, type RawResponse } from './raw-socket.ts';

/**
 * Sends bytes (Latin-1 if it is a string) and returns all responses after the server has closed the connection. A
 * well-formed request should contain `Connection: close`.
 */
export async function sendRaw(t: TestContext, port: number, bytes: string | Uint8Array): Promise<ApiResponse[]> {
  const socket = await openRawSocket(t, port);
  void socket.send(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  await socket.closed();
  const responses: ApiResponse[] = [];
  while (socket.unread() !== '') responses.push(fromRawResponse(await socket.response()));
  return responses;
}

/** Like `sendRaw`, for exactly one response. */
export async function requestRaw(t: TestContext, port: number, bytes: string | Uint8Array): Promise<ApiResponse> {
  const responses = await sendRaw(t, port, bytes);
  assert.equal(responses.length, 1, `expected one response to ${JSON.stringify(String(bytes).slice(0, 100))}`);
  return responses[0] as ApiResponse;
}

/** A request without a body, from its unchanged lines. */
export function requestLines(...lines: string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Converts a response from a raw socket to the type that most tests use. */
export function fromRawResponse({ status, headers, text }: RawResponse): ApiResponse {
  return apiResponseOf(status, new Headers(headers), text);
}
