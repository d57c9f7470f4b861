/** The OpenAPI document, built from the table of endpoints, the schemas and the error codes. */
import packageJson from '../../package.json' with { type: 'json' };
import { fillPhrases } from '../../src/http/page/server-limits.ts';
import {
  type Endpoint,
  type Parameter,
  type Success,
  sharedParameters,
  tags,
} from '../../src/protocol/endpoints/endpoint.ts';
import { endpoints } from '../../src/protocol/endpoints.ts';
import { type LinkRole, linkRights } from '../../src/protocol/link-rights.ts';
import { uploadForm } from '../../src/protocol/schemas.ts';
import { defaultLimits, defaultPhrases } from '../default-limits.ts';
import type * as document from './document.ts';
import { errorExampleComponents, errorResponseComponents, errorResponses } from './errors.ts';
import { guide } from './guide.ts';
import { headers, headersOf } from './headers.ts';
import { exampleOf, refer, schemaComponents } from './schemas.ts';

/** With the default limits. */
export function openapiDocument(): document.OpenApiDocument {
  const inJson = (phrase: string) => JSON.stringify(phrase).slice(1, -1);
  return JSON.parse(fillPhrases(JSON.stringify(openapiTemplate()), defaultPhrases, inJson));
}

/** With limits as `{{textSize}}`. */
export function openapiTemplate(): document.OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Poproom',
      version: packageJson.version,
      summary: 'One text and some files, shared between devices through short-lived rooms.',
      description: guide,
      contact: { name: 'The Poproom contributors' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The server that provides this document.' }],
    security: [{}, { bearer: [] }, { apiKey: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: paths(),
    components: {
      schemas: schemaComponents(),
      responses: errorResponseComponents(),
      parameters: Object.fromEntries(Object.entries(sharedParameters).map(([name, it]) => [name, parameter(it)])),
      examples: errorExampleComponents(),
      headers: responseHeaders,
      securitySchemes,
    },
    'x-limits': defaultLimits,
  };
}

/** No operation returns `Allow`: it belongs to methods that are not described. */
const { Allow: _, ...responseHeaders } = headers;

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key: `pop_` and 32 letters or digits. Optional.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The same key in a separate header.' },
  adminToken: { type: 'http', scheme: 'bearer', description: 'The value of `POPROOM_ADMIN_TOKEN`, for `/api/admin`.' },
};

function paths(): document.OpenApiDocument['paths'] {
  const all: document.OpenApiDocument['paths'] = {};
  for (const [name, endpoint] of Object.entries(endpoints)) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
    all[path] = { ...all[path], [endpoint.method.toLowerCase()]: operation(name, endpoint) };
  }
  return all;
}

function operation(operationId: string, endpoint: Endpoint): document.Operation {
  const { tag, summary, description, parameters, body, successes, counted, free, isAdmin } = endpoint;
  const isTokenNeeded = isAdmin && endpoint.path.startsWith('/api/');
  return {
    operationId,
    tags: [tag],
    summary,
    description: [free ? `${description} Does not count as a request.` : description, accessLine(endpoint)]
      .filter(Boolean)
      .join('\n\n'),
    ...(endpoint.operation && { 'x-link-roles': linkRights[endpoint.operation].roles }),
    ...(!counted && { security: isTokenNeeded ? [{ adminToken: [] }] : [] }),
    ...(parameters.length > 0 && { parameters: parameters.map(parameterOrRef) }),
    ...(body && { requestBody: requestBodyOf(body) }),
    responses: {
      ...Object.fromEntries(successes.map((success) => [String(success.status), response(success)])),
      ...errorResponses(endpoint),
    },
  };
}

/** The roles that may use an endpoint, from the table that the server checks. */
function accessLine({ operation }: Endpoint): string | undefined {
  if (operation === undefined) return undefined;
  const roles: readonly LinkRole[] = linkRights[operation].roles;
  return `**Access:** ${['room code', ...roles.map((role) => `${role} link`)].join(', ')}.`;
}

function requestBodyOf(body: NonNullable<Endpoint['body']>): document.RequestBody {
  if (body === 'file') return fileBody;
  if (body === 'raw-file') return rawFileBody;
  return body === 'bytes' ? uploadBody : jsonBody(body);
}

function parameterOrRef(it: Parameter): document.OrRef<document.Parameter> {
  const shared = Object.entries(sharedParameters).find(([, candidate]) => candidate === it);
  return shared ? { $ref: `#/components/parameters/${shared[0]}` } : parameter(it);
}

function parameter(it: Parameter): document.Parameter {
  const { name, required, description, pattern, enum: values, example } = it;
  const schema = { type: 'string', ...(pattern && { pattern }), ...(values && { enum: values }) };
  return { name, in: it.in, required: required ?? false, description, schema, example };
}

function jsonBody({
  schema,
  required,
  plainText,
}: Exclude<Endpoint['body'], string | undefined>): document.RequestBody {
  const json = { 'application/json': { schema: refer(schema), example: exampleOf(schema) } };
  return { required, content: { ...json, ...textContent(plainText), ...formContent(plainText) } };
}

/** The default type of `curl -d`. The server takes the body as it is, but tools parse it as a form before they check it. */
const formContent = (plainText: string | undefined) =>
  plainText === undefined
    ? {}
    : { 'application/x-www-form-urlencoded': { schema: { type: 'object' }, example: { hello: '' } } };

const textContent = (example: string | undefined) =>
  example === undefined ? {} : { 'text/plain': { schema: { type: 'string' }, example } };

const bytes = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' };

/** Most code generators use the first type of a body. The raw bytes are described too, for gateways that validate. */
const fileBody: document.RequestBody = {
  description: 'A form with one file. Instead of it, the raw bytes with their `Content-Type` and a name are accepted.',
  required: true,
  content: {
    'multipart/form-data': { schema: refer(uploadForm), example: { pin: '0427', file: '(the bytes)' } },
    '*/*': { schema: bytes, example: '(the bytes)' },
  },
};

const rawFileBody: document.RequestBody = {
  description: 'The bytes of the file, of any type.',
  required: false,
  content: { 'application/octet-stream': { schema: bytes, example: '(the bytes)' } },
};

const uploadBody: document.RequestBody = {
  description: 'Bytes of the file.',
  required: true,
  content: { 'application/offset+octet-stream': { schema: bytes, example: '(the bytes)' } },
};

function response({ description, headers = [], ...rest }: Success): document.Response {
  const content = contentOf(rest);
  return { description, headers: headersOf(headers), ...(content && { content }) };
}

function contentOf({ schema, mediaType, example, plainText }: Omit<Success, 'description' | 'headers'>) {
  if (schema) {
    const json = { 'application/json': { schema: refer(schema), example: example ?? exampleOf(schema) } };
    return { ...json, ...textContent(plainText) };
  }
  if (mediaType === undefined) return undefined;
  return {
    [mediaType]: { schema: mediaType === '*/*' ? bytes : { type: 'string' }, example: example ?? '(the bytes)' },
  };
}
