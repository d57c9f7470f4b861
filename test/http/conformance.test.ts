/** All tests compare responses with the OpenAPI document. This tests that comparison. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apiResponseOf } from '../support/api.ts';
import { checkConformance } from '../support/conformance.ts';

const json = { 'content-type': 'application/json; charset=utf-8' };
const html = { 'content-type': 'text/html; charset=utf-8' };
const etag = { etag: '"1"' };
const stored = '{"success":true,"content":"hello","timestamp":"2026-11-15T09:30:00.000Z","version":1}';

interface Given {
  method?: string;
  path?: string;
  status?: number;
  headers: Record<string, string>;
  text?: string;
}

const check = ({ method = 'GET', path = '/api/rooms/ABCDEF/content', status = 200, headers, text = '' }: Given) =>
  checkConformance(method, path, apiResponseOf(status, new Headers({ 'x-request-id': 'a', ...headers }), text));

describe('a response', () => {
  it('[API-11] is accepted if the document describes it, as JSON, as a page, of any type and without content', async () => {
    await check({ method: 'POST', headers: { ...json, ...etag }, text: stored });
    await check({ path: '/r/ABCDEF', headers: { ...html, ...etag }, text: '<!doctype html>' });
    const modified = { 'last-modified': 'Sun, 15 Nov 2026 09:30:00 GMT' };
    const file = { ...etag, ...modified, 'content-type': 'image/png', 'content-disposition': 'inline' };
    await check({ path: '/files/abc/a.png', headers: file, text: 'any' });
    await check({ status: 304, headers: etag });
    await check({ method: 'HEAD', headers: { ...json, ...etag } });
  });

  const refused: [description: string, given: Given, message: RegExp][] = [
    ['a status', { status: 418, headers: json }, /418 is not documented/],
    ['JSON of another type', { headers: { ...html, ...etag }, text: stored }, /is text\/html, not application\/json/],
    ['no type', { headers: etag }, /is undefined, not application\/json/],
    [
      'a page of another type',
      { path: '/metrics', headers: json, text: '{}' },
      /is application\/json, not text\/plain/,
    ],
    ['a stream of another type', { path: '/api/rooms/A/events', headers: html }, /not text\/event-stream/],
    ['the type of a HEAD', { method: 'HEAD', headers: { ...html, ...etag } }, /is text\/html/],
    ['content where there is none', { status: 304, headers: etag, text: 'x' }, /has content/],
    ['a missing header', { headers: json, text: stored }, /lacks the header ETag/],
    ['a header of another form', { status: 429, headers: { ...json, 'retry-after': 'soon' } }, /Retry-After/],
    ['a body of another form', { headers: { ...json, ...etag }, text: '{}' }, /must have required property/],
  ];
  for (const [description, given, message] of refused) {
    it(`[API-11] is rejected for ${description}, which the document does not allow`, async () => {
      await assert.rejects(check(given), message);
    });
  }
});
