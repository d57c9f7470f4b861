/** Checks whether the document allows a response. */
import assert from 'node:assert/strict';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { ApiResponse } from '../../support/api.ts';
import { assertError } from '../../support/assert-error.ts';
import { checkConformance } from '../../support/conformance.ts';
import type { FuzzResponse } from '../connection.ts';
import type { Operation } from './operations.ts';

/** Returns the operation of the request, if the document has it. */
export type ResponseCheck = (method: string, path: string, response: FuzzResponse) => Promise<Operation | undefined>;

export function createResponseCheck(operations: readonly Operation[]): ResponseCheck {
  return async (method, path, raw) => {
    const response = toApiResponse(raw);
    assert.ok(response.status < 500, `${response.status} ${response.text}`);
    if (response.status >= 400 && method !== 'HEAD') assertError(response, response.status, response.code ?? '');
    const here = operations.filter((operation) => matches(operation.path, path));
    const ofMethod = (name: string) => here.find((operation) => operation.method === name);
    const operation = ofMethod(method) ?? (method === 'HEAD' ? ofMethod('GET') : undefined);
    if (!operation && isRedirected(method, path, response)) return undefined;
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

/** Parses the body once, because it is read many times. */
function toApiResponse({ status, headers, body }: FuzzResponse): ApiResponse {
  const text = decode(body, headers.get('content-encoding')).toString('utf8');
  const isJson = text !== '' && headers.get('content-type')?.startsWith('application/json');
  const json = isJson ? JSON.parse(text) : undefined;
  return { status, headers: new Headers([...headers]), text, json, code: status < 400 ? undefined : json?.error?.code };
}

/** Long JSON is compressed if the request accepts it. The response to HEAD has no body. */
function decode(body: Buffer, encoding: string | undefined): Buffer {
  if (encoding === undefined || body.length === 0) return body;
  assert.ok(encoding === 'br' || encoding === 'gzip', `the encoding is ${encoding}`);
  return encoding === 'br' ? brotliDecompressSync(body) : gunzipSync(body);
}

/** Compares path segments literally, without decoding. */
function matches(pattern: string, path: string): boolean {
  const [expected, actual] = [pattern.split('/'), path.split('/')];
  const matchesSegment = (part: string, i: number) => (part.startsWith('{') ? actual[i] !== '' : part === actual[i]);
  return expected.length === actual.length && expected.every(matchesSegment);
}

/** For a path or a method that is not in the document. */
function assertNotServed(method: string, here: readonly Operation[], { status, code }: ApiResponse): void {
  if (status === 401) return;
  const expected = here.length === 0 ? 404 : method === 'OPTIONS' ? 204 : 405;
  assert.equal(status, expected);
  if (code) assert.equal(code, here.length === 0 ? 'NOT_FOUND' : 'METHOD_NOT_ALLOWED');
}

/** A trailing slash leads to the URL without it. */
function isRedirected(method: string, path: string, { status, headers }: ApiResponse): boolean {
  const [, target] = /^(\/docs|\/share|\/invite|\/r\/[^/]+)\/$/.exec(path) ?? [];
  if (target === undefined || (method !== 'GET' && method !== 'HEAD') || status !== 308) return false;
  assert.equal(headers.get('location')?.split('?')[0], target);
  return true;
}

/** Checks all headers, because the limits are enabled. */
function assertHeaders({ responses }: Operation, { status, headers }: ApiResponse): void {
  for (const [name, { type }] of responses.get(status) ?? []) {
    const value = headers.get(name);
    assert.ok(value !== null, `${status} lacks the header ${name}`);
    if (type === 'integer') assert.match(value, /^\d+$/, name);
  }
}
