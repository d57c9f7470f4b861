/** Checks whether the document allows a response. */
import assert from 'node:assert/strict';
import type { ApiResponse } from '../../support/api.ts';
import { assertError } from '../../support/assert-error.ts';
import { checkConformance } from '../../support/conformance.ts';
import type { RawAnswer } from '../connection.ts';
import type { Operation } from './operations.ts';

/** Answers the operation that it was, if any. */
export type Judge = (method: string, path: string, answer: RawAnswer) => Promise<Operation | undefined>;

export function createJudge(operations: readonly Operation[]): Judge {
  return async (method, path, raw) => {
    const response = answerOf(raw);
    assert.ok(response.status < 500, `${response.status} ${response.text}`);
    if (response.status >= 400 && method !== 'HEAD') assertError(response, response.status, response.code ?? '');
    const here = operations.filter((operation) => matches(operation.path, path));
    const operation = here.find((it) => it.method === (method === 'HEAD' ? 'GET' : method));
    if (!operation) return void assertNotServed(method, here, response);
    assert.ok(
      operation.responses.has(response.status),
      `${response.status} is not documented: ${response.text.slice(0, 300)}`,
    );
    assertHeaders(operation, response);
    await checkConformance(method, operation.path.replaceAll(/[{}]/g, ''), response);
    return operation;
  };
}

/** Looked at many times, and parsed once. */
function answerOf({ status, headers, body }: RawAnswer): ApiResponse {
  const text = body.toString('utf8');
  const isJson = text !== '' && headers.get('content-type')?.startsWith('application/json');
  const json = isJson ? JSON.parse(text) : undefined;
  return { status, headers: new Headers([...headers]), text, json, code: status < 400 ? undefined : json?.error?.code };
}

/** No room for cleverness: a path is what stands between the slashes, as it stands there. */
function matches(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  const fits = (part: string, i: number) => (part.startsWith('{') ? given[i] !== '' : part === given[i]);
  return wanted.length === given.length && wanted.every(fits);
}

/** Whatever is asked of a path or with a method that is not in the document. */
function assertNotServed(method: string, here: readonly Operation[], { status, code }: ApiResponse): void {
  if (status === 401) return;
  const wanted = here.length === 0 ? 404 : method === 'OPTIONS' ? 204 : 405;
  assert.equal(status, wanted);
  if (code) assert.equal(code, here.length === 0 ? 'NOT_FOUND' : 'METHOD_NOT_ALLOWED');
}

/** All of them, for the limits are on. */
function assertHeaders({ responses }: Operation, { status, headers }: ApiResponse): void {
  for (const [name, { type }] of responses.get(status) ?? []) {
    const value = headers.get(name);
    assert.ok(value !== null, `${status} comes without ${name}`);
    if (type === 'integer') assert.match(value, /^\d+$/, name);
  }
}
