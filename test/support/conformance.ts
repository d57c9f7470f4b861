/** Compares a response with openapi.json: status, headers, media type and body. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ApiResponse } from './api.ts';

const rateHeaders = [
  'ratelimit-policy',
  'ratelimit',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];

// biome-ignore lint/suspicious/noExplicitAny: the document is accessed at many depths
type Node = any;

const document: Node = JSON.parse(await readFile(new URL('../../openapi.json', import.meta.url), 'utf8'));
const formats = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  uri: (text: string) => URL.canParse(text),
  binary: /^/,
};
const ajv = new Ajv2020({ strict: false, formats });
ajv.addSchema(document, 'openapi');

export async function checkConformance(method: string, url: string, response: ApiResponse): Promise<void> {
  assert.ok(response.headers.get('x-request-id'), 'every response has a request id');
  if (response.headers.has('ratelimit')) {
    for (const name of rateHeaders) assert.ok(response.headers.has(name), `the response has the header ${name}`);
  }
  const path = new URL(url, 'http://host').pathname;
  const pattern = Object.keys(document.paths).find((candidate) => matches(candidate, path));
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const operation = pattern && document.paths[pattern][verb];
  if (!operation) return;
  const about = `${method} ${pattern} ${response.status}`;
  const documented = resolve(operation.responses[response.status]);
  assert.ok(documented, `${about} is not documented: ${response.text.slice(0, 200)}`);
  assertHeaders(documented, response, about);
  assertMediaType(documented, response, about);
  const at = operation.responses[response.status].$ref ?? pointer('paths', pattern, verb, 'responses', response.status);
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  if (method !== 'HEAD' && isJson && documented.content?.['application/json']) assertBody(at, response, about);
}

/** Checks all headers except rate limits, which may be disabled. */
function assertHeaders(response: Node, { headers }: ApiResponse, about: string): void {
  for (const [name, described] of Object.entries<Node>(response.headers ?? {})) {
    if (rateHeaders.includes(name.toLowerCase())) continue;
    const value = headers.get(name);
    assert.ok(value !== null, `${about} lacks the header ${name}`);
    if (resolve(described).schema.type === 'integer') assert.match(value, /^\d+$/, `${about}: ${name}`);
  }
}

/** A response without documented content has no body. A `304` may still have a content type. */
function assertMediaType({ content = {} }: Node, { headers, text }: ApiResponse, about: string): void {
  const type = headers.get('content-type')?.split(';')[0];
  const allowed = Object.keys(content);
  if (allowed.length === 0) assert.equal(text, '', `${about} has content that is not documented`);
  else assert.ok(type && (allowed.includes('*/*') || allowed.includes(type)), `${about} is ${type}, not ${allowed}`);
}

function assertBody(at: string, response: ApiResponse, about: string): void {
  const schema = `openapi${at}${pointer('content', 'application/json', 'schema').slice(1)}`;
  const validate = ajv.getSchema(schema) ?? ajv.compile({ $ref: schema });
  assert.ok(validate(response.json), `${about}: ${ajv.errorsText(validate.errors)}\n${response.text}`);
  const { success } = response.json;
  assert.ok(success === undefined || success === response.status < 400, `${about}: success is ${success}`);
}

function matches(pattern: string, path: string): boolean {
  const source = pattern.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '[^/]+');
  return new RegExp(`^${source}$`).test(path);
}

function resolve(node: Node): Node {
  if (!node?.$ref) return node;
  return node.$ref
    .slice(2)
    .split('/')
    .reduce((at: Node, key: string) => at[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);
}

function pointer(...keys: (string | number)[]): string {
  const encode = (key: string | number) => encodeURIComponent(`${key}`.replaceAll('~', '~0').replaceAll('/', '~1'));
  return `#/${keys.map(encode).join('/')}`;
}
