/** Holds an answer against openapi.json: status, headers, media type and body are as the document says. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Answer } from './api.ts';

const rateHeaders = [
  'ratelimit-policy',
  'ratelimit',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];

// biome-ignore lint/suspicious/noExplicitAny: the document is looked into at many depths
const document: any = JSON.parse(await readFile(new URL('../../openapi.json', import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: false });
ajv.addSchema(document, 'openapi');

export async function checkConformance(method: string, url: string, answer: Answer): Promise<void> {
  assert.ok(answer.headers.get('x-request-id'), 'every response has a request id');
  if (answer.headers.has('ratelimit')) {
    for (const name of rateHeaders) assert.ok(answer.headers.has(name), `the response has the header ${name}`);
  }
  const path = new URL(url, 'http://host').pathname;
  const pattern = Object.keys(document.paths).find((candidate) => matches(candidate, path));
  const operation = pattern && document.paths[pattern][method === 'HEAD' ? 'get' : method.toLowerCase()];
  if (!operation || answer.code === 'METHOD_NOT_ALLOWED' || answer.code === 'NOT_FOUND') return;
  const response = resolve(operation.responses[answer.status]);
  assert.ok(response, `${method} ${pattern} may answer ${answer.status}: ${answer.text.slice(0, 200)}`);
  const schema = response.content?.['application/json']?.schema;
  if (!schema || method === 'HEAD') return;
  const pointer = schemaPointer(pattern, method.toLowerCase(), answer.status, operation.responses[answer.status]);
  const validate = ajv.getSchema(pointer) ?? ajv.compile({ $ref: pointer });
  assert.ok(
    validate(answer.json),
    `${method} ${pattern} ${answer.status}: ${ajv.errorsText(validate.errors)}\n${answer.text}`,
  );
}

function matches(pattern: string, path: string): boolean {
  const source = pattern.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '[^/]+');
  return new RegExp(`^${source}$`).test(path);
}

function resolve<T>(node: T): T {
  const { $ref } = (node ?? {}) as { $ref?: string };
  if (!$ref) return node;
  return $ref
    .slice(2)
    .split('/')
    .reduce((at, key) => at[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);
}

function schemaPointer(pattern: string, method: string, status: number, response: { $ref?: string }): string {
  const encode = (key: string) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
  const at = response.$ref ?? `#/paths/${encode(pattern)}/${method}/responses/${status}`;
  return `openapi${at}/content/${encode('application/json')}/schema`;
}
