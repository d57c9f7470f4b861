/** The common format of errors. */
import assert from 'node:assert/strict';
import type { Answer } from './api.ts';

/** Fails unless the answer is an error of this status and code, in the one shape; returns its details. */
export function assertError(answer: Answer, status: number, code: string, about = ''): Record<string, unknown> {
  assert.equal(`${answer.status} ${answer.code}`, `${status} ${code}`, `${about} ${answer.text.slice(0, 300)}`);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const { success, error, requestId, ...rest } = answer.json;
  assert.equal(success, false);
  assert.deepEqual(rest, {});
  assert.equal(requestId, answer.headers.get('x-request-id'));
  const { code: _, message, details = {}, ...more } = error;
  assert.deepEqual(more, {});
  assert.match(message, /^[A-Z"].*\.$/s, 'the message is a sentence');
  assert.equal(typeof details, 'object');
  return details;
}
