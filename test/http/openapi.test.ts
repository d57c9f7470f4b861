import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type MediaType, type OrRef, type Response, resolveRef } from '../../scripts/openapi/document.ts';
import { openapiDocument } from '../../scripts/openapi/index.ts';
import { statusOf } from '../../src/http/response/reply.ts';
import type { Endpoint } from '../../src/protocol/endpoints/endpoint.ts';
import { endpoints } from '../../src/protocol/endpoints.ts';
import { type ErrorCode, errorCodes } from '../../src/protocol/error-codes.ts';
import { assertError } from '../support/assert-error.ts';
import { sharedServer, startTestServer } from '../support/server.ts';

const committed = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
const document: ReturnType<typeof openapiDocument> = JSON.parse(committed);
const operations = Object.entries(document.paths).flatMap(([path, byMethod]) =>
  Object.entries(byMethod).map(([method, operation]) => ({ path, method, ...operation })),
);
const rateHeaders = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];

describe('the OpenAPI document', () => {
  it('[API-11] matches the code', () => {
    assert.equal(committed, `${JSON.stringify(openapiDocument(), null, 2)}\n`, 'run "npm run generate"');
  });

  it('[API-11] is OpenAPI 3.1, with the title Poproom and the licence MIT', () => {
    assert.match(document.openapi, /^3\.1\.\d+$/);
    assert.equal(document.info.title, 'Poproom');
    assert.match(document.info.version, /^\d+\.\d+\.\d+/);
    assert.deepEqual(document.info.license, { name: 'MIT', identifier: 'MIT' });
  });

  it('[API-11] has only references that resolve', () => {
    const targets = valuesAt(document, '$ref') as string[];
    assert.ok(targets.length > 100);
    for (const $ref of targets) assert.ok(resolveRef(document, { $ref }), $ref);
  });

  it('[API-11] has no unused component', () => {
    const used = new Set(valuesAt(document, '$ref'));
    const unused = Object.entries(document.components)
      .filter(([kind]) => kind !== 'securitySchemes')
      .flatMap(([kind, parts]) => Object.keys(parts).map((name) => `#/components/${kind}/${name}`))
      .filter((target) => !used.has(target));
    assert.deepEqual(unused, []);
  });

  it('[API-11] has an operation for every endpoint, by its name', () => {
    const found = operations.map(({ operationId, method, path }) => `${operationId} ${method.toUpperCase()} ${path}`);
    const wanted = Object.entries(endpoints).map(
      ([name, { method, path }]) => `${name} ${method} ${path.replace(/:(\w+)/g, '{$1}')}`,
    );
    assert.deepEqual(found.toSorted(), wanted.toSorted());
  });

  for (const { operationId, path, tags, summary, description, parameters = [], responses } of operations) {
    it(`[API-11] describes ${operationId} in full`, () => {
      assert.ok(summary && description);
      assert.ok(tags.every((tag) => document.tags.some(({ name }) => name === tag)) && tags.length === 1);
      const taken = parameters.map((parameter) => resolveRef(document, parameter));
      const inPath = taken.filter((parameter) => parameter.in === 'path').map(({ name }) => `{${name}}`);
      assert.deepEqual(inPath, path.match(/\{\w+\}/g) ?? []);
      const declared = (endpoints[operationId as keyof typeof endpoints] as Endpoint).parameters ?? [];
      for (const { name, required, ...parameter } of taken) {
        const isRequired = declared.find((one) => one.name === name)?.required ?? false;
        assert.equal(required, parameter.in === 'path' || isRequired, name);
      }

      const { successes, errors }: Endpoint = endpoints[operationId as keyof typeof endpoints];
      const statuses = new Set([...successes.map(({ status }) => status), ...errors.map((code) => statusOf(code))]);
      assert.deepEqual(Object.keys(responses), [...statuses].toSorted((a, b) => a - b).map(String));
      assert.deepEqual(codesOf(Object.values(responses)).toSorted(), [...new Set<string>(errors)].toSorted());
    });
  }

  it('[API-11] gives every response the rate headers and the request id', () => {
    for (const response of everyResponse()) {
      for (const name of rateHeaders)
        assert.deepEqual(response.headers[name], { $ref: `#/components/headers/${name}` });
    }
  });

  it('[API-11] describes the headers that say what to do next: Retry-After on 429 and 503', () => {
    const { RateLimited, RateLimitedOrPinLockedOrKeyLocked, Unavailable } = document.components.responses;
    for (const response of [RateLimited, RateLimitedOrPinLockedOrKeyLocked, Unavailable]) {
      assert.ok(response?.headers['Retry-After'], response?.description ?? 'missing');
    }
  });

  it('[API-11] shows every error code of an operation in a response, under its status', () => {
    const ofOperations = Object.keys(errorCodes).filter((code) => code !== 'METHOD_NOT_ALLOWED');
    assert.deepEqual(Object.keys(document.components.examples), ofOperations);
    assert.deepEqual(
      [...new Set(codesOf(Object.values(document.components.responses)))].toSorted(),
      ofOperations.toSorted(),
    );
    for (const { responses } of operations) {
      for (const [status, response] of Object.entries(responses)) {
        for (const code of codesOf([response])) assert.equal(statusOf(code as ErrorCode), Number(status));
      }
    }
  });

  it('[API-11] allows a key on counted endpoints, and requires none elsewhere', () => {
    assert.deepEqual(document.security, [{}, { bearer: [] }, { apiKey: [] }]);
    for (const { operationId, security } of operations) {
      const { counted, tag } = endpoints[operationId as keyof typeof endpoints];
      const ofUncounted = tag === 'Admin' ? [{ adminToken: [] }] : [];
      assert.deepEqual(security, counted ? undefined : ofUncounted, operationId);
    }
  });

  it('[API-11] describes an upload as a form first, because most code generators use only that, and as bytes', () => {
    const typesOf = (path: string, method: string) =>
      Object.keys(document.paths[path]?.[method]?.requestBody?.content ?? {});
    assert.deepEqual(typesOf('/api/rooms/{roomId}/upload', 'post'), ['multipart/form-data', '*/*']);
    assert.deepEqual(typesOf('/api/rooms/{roomId}/upload/{name}', 'put'), ['application/octet-stream']);
  });

  it('[API-11] has what linters and code generators ask for', () => {
    for (const { operationId, responses } of operations) {
      assert.ok(
        Object.keys(responses).some((status) => status.startsWith('2')),
        operationId,
      );
    }
    assert.ok(document.info.contact);
    assert.deepEqual(valuesAt(document, 'allOf'), [], 'error schemas are flat');
    const { ErrorCode } = document.components.schemas as Record<string, { enum?: unknown }>;
    assert.deepEqual(ErrorCode?.enum, Object.keys(errorCodes));
    for (const [name, format] of [
      ['timestamp', 'date-time'],
      ['expiresAt', 'date-time'],
      ['fileUrl', 'uri'],
      ['link', 'uri'],
    ] as const) {
      const fields = valuesAt(document.components.schemas, name) as { format?: string }[];
      assert.ok(
        fields.length > 0 && fields.every((field) => field.format === format || typeof field === 'string'),
        name,
      );
    }
  });
});

describe('clients that are generated from the OpenAPI document', () => {
  const schemas = schemasOf(document);

  it('[API-13] find no pattern beside date-time, which openapi-generator for Python matches against a parsed date', () => {
    assert.ok(schemas.filter(({ format }) => format === 'date-time').length > 20);
    assert.deepEqual(
      schemas.filter(({ format, pattern }) => format === 'date-time' && pattern),
      [],
    );
  });

  it('[API-13] find no constant boolean, which openapi-generator for Python compares with a string', () => {
    assert.deepEqual(
      schemas.filter((schema) => typeof schema.const === 'boolean' || (schema.type === 'boolean' && schema.enum)),
      [],
    );
  });
});

describe('the OpenAPI document of a request', () => {
  it('[API-13] lets clients for Go send null for an optional body, and names the fields of a required one', async (t) => {
    const { api } = await sharedServer(t);
    const none = { body: 'null', headers: { 'content-type': 'application/json' } };
    const created = await api.post('/api/rooms', none);
    assert.equal(created.status, 201);
    const room = `/api/rooms/${created.json.roomId}`;
    assertError(await api.post(`${room}/content`, none), 400, 'VALIDATION_FAILED');
    assertError(await api.patch(room, none), 400, 'VALIDATION_FAILED');
    assert.equal((await api.delete(room, none)).status, 200);
  });

  it('[API-13] says that a change of a room needs a field, and which versions of tus there are', () => {
    const { UpdateRoomRequest } = document.components.schemas as Record<string, { minProperties?: number }>;
    assert.equal(UpdateRoomRequest?.minProperties, 1);
    const versions = operations
      .flatMap(({ parameters = [] }) => parameters.map((it) => resolveRef(document, it)))
      .filter(({ name }) => name === 'Tus-Resumable');
    assert.deepEqual(
      versions.map(({ schema }) => schema),
      Array(4).fill({ type: 'string', enum: ['1.0.0'] }),
    );
  });

  it('[API-13] has no optional body of bytes for a resumable upload, which clients for Go and Python always send', () => {
    const { post } = document.paths['/api/rooms/{roomId}/uploads'] ?? {};
    const { patch } = document.paths['/api/rooms/{roomId}/uploads/{fileId}'] ?? {};
    assert.deepEqual([post?.requestBody, patch?.requestBody?.required], [undefined, true]);
  });
});

describe('the served OpenAPI document', () => {
  it('[API-11] is the committed one, with the limits of the server', async (t) => {
    const env = { POPROOM_CONTENT_MAX: '2MiB', POPROOM_FREE_LIMIT: '0', POPROOM_REQUIRE_API_KEY: 'false' };
    const { api } = await startTestServer(t, env);
    const limits = { ...document['x-limits'], textBytes: 2_097_152, freeRequestsPerHour: null };
    assert.deepEqual((await api.get('/api/openapi.json')).json, { ...document, 'x-limits': limits });
  });

  it('[API-11] names the public URL of the server, if there is one', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_PUBLIC_URL: 'https://pop.example.org/rooms/' });
    const { servers } = (await api.get('/api/openapi.json')).json;
    assert.deepEqual(servers, [{ ...document.servers[0], url: 'https://pop.example.org/rooms' }]);
  });
});

describe('the examples of the OpenAPI document', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'openapi.json');

  function assertValid(schema: object, value: unknown, where: string): void {
    const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/'));
    assert.ok(ajv.validate(absolute, value), `${where}: ${ajv.errorsText()}`);
  }

  function assertMedia(content: Record<string, MediaType> | undefined, where: string): void {
    for (const [type, { schema, example, examples = {} }] of Object.entries(content ?? {})) {
      assert.ok(example !== undefined || Object.keys(examples).length > 0, `${where} has no example`);
      if (type !== 'application/json') continue;
      if (example !== undefined) assertValid(schema, example, where);
      for (const [name, it] of Object.entries(examples))
        assertValid(schema, resolveRef(document, it).value, `${where} ${name}`);
    }
  }

  it('[API-11] match the schemas of the requests', () => {
    for (const { operationId, requestBody } of operations) assertMedia(requestBody?.content, operationId);
  });

  it('[API-11] match the schemas of the responses', () => {
    for (const { description, content } of everyResponse()) assertMedia(content, description);
  });

  it('[API-11] match the parameters and headers', () => {
    const parameters = operations
      .flatMap((operation) => operation.parameters ?? [])
      .map((it) => resolveRef(document, it));
    for (const { name, schema, example } of parameters) assertValid(schema, example, name);
    for (const [name, { schema, example }] of Object.entries(document.components.headers))
      assertValid(schema, example, name);
  });

  it('[API-11] in the schemas are valid, too', () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      for (const part of schemasWithin(schema)) {
        for (const example of part.examples) assertValid(part, example, name);
      }
    }
  });
});

function everyResponse(): Response[] {
  const own = operations.flatMap(({ responses }) => Object.values(responses)).map((it) => resolveRef(document, it));
  return [...own, ...Object.values(document.components.responses)];
}

function codesOf(responses: OrRef<Response>[]): string[] {
  return responses.flatMap((it) => {
    const { schema, examples = {} } = resolveRef(document, it).content?.['application/json'] ?? { schema: {} };
    const codes = Object.keys(examples);
    if (codes.length > 0) assert.deepEqual(schema, { $ref: '#/components/schemas/ErrorBody' });
    return codes;
  });
}

/** All that stands under a key, at any depth. */
function valuesAt(value: unknown, wanted: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => (key === wanted ? [item] : valuesAt(item, wanted)));
}

interface AnySchema {
  type?: unknown;
  format?: unknown;
  pattern?: unknown;
  const?: unknown;
  enum?: unknown;
}

/** Every object that can be a schema, at any depth. */
function schemasOf(value: unknown): AnySchema[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(schemasOf)];
}

function schemasWithin(value: unknown): { examples: unknown[] }[] {
  if (typeof value !== 'object' || value === null) return [];
  const nested = Object.values(value).flatMap(schemasWithin);
  return 'examples' in value && Array.isArray(value.examples) ? [value as { examples: unknown[] }, ...nested] : nested;
}
