/** The common format of errors. */
import assert from 'node:assert/strict';
import type { ApiResponse } from './api.ts';

/** Fails unless the response is an error with this status and code, in the common format. Returns its details. */
export function assertError(response: ApiResponse, status: number, code: string, about = ''): Record<string, unknown> {
  assert.equal(`${response.status} ${response.code}`, `${status} ${code}`, `${about} ${response.text.slice(0, 300)}`);
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const { success, error, requestId, ...rest } = response.json;
  assert.equal(success, false);
  assert.deepEqual(rest, {});
  assert.equal(requestId, response.headers.get('x-request-id'));
  const { code: _, message, details = {}, ...more } = error;
  assert.deepEqual(more, {});
  assert.match(message, /^[A-Z"].*\.$/s, 'the message is a sentence');
  assert.equal(typeof details, 'object');
  return details;
}
