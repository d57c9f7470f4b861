/** Reads bodies that are JSON or text: limited in size, in UTF-8, and valid against their schema. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import type { Caller } from '../../core/admission.ts';
import { chain, loadOnce } from '../../core/concurrency.ts';
import { isLarge } from '../../core/defence/work.ts';
import { invalidField, PoproomError } from '../../core/errors.ts';
import type { MaybePromise } from '../../core/ports/basics.ts';
import type { Endpoint } from '../../protocol/endpoints/endpoint.ts';
import { endpoints } from '../../protocol/endpoints.ts';
import { hasMoreValues, maxRequestValues } from '../../protocol/json-values.ts';
import { pinOnlyRequest } from '../../protocol/schemas.ts';
import { type BodyRules, type ReceivedBody, readBody } from './body.ts';
import { callerOf, mediaTypeOf, type Request } from './request.ts';

/** The limit for bodies without a room's text. */
const smallBody = 16 * 1024;

/** A text may consist of `\u0000` escapes, with six bytes for each character. */
export const largestContentBody = (largestContent: number): number => 6 * largestContent + smallBody;

/** A missing body is read as an empty object, so that the error names the missing fields. */
export const readJson = <T>(request: Request, schema: object): MaybePromise<T> =>
  withJson(request, schema, { maxBytes: smallBody }, (value: T) => value);

/** The caller of a request whose body may contain a PIN and nothing else. */
export async function readCaller(request: Request): Promise<Caller> {
  const { pin } = await readJson<{ pin?: string }>(request, pinOnlyRequest);
  return callerOf(request, pin);
}

/** Parses a body in its turn, and handles its value. */
export const withJson = <T, R>(
  request: Request,
  schema: object,
  rules: BodyRules,
  handle: (value: T) => MaybePromise<R>,
): MaybePromise<R> =>
  inTurn(request, rules, refuseUnlessJson, (body) =>
    chain(validatorOf(schema), (validate) => chain(parsed<T>(request, body, validate), handle)),
  );

/** Handles a body when its turn comes. Small bodies are handled immediately, unless the client causes much work. */
function inTurn<R>(
  request: Request,
  rules: BodyRules,
  checkType: (raw: IncomingMessage) => void,
  handle: (body: ReceivedBody) => MaybePromise<R>,
): MaybePromise<R> {
  const { client, turns } = request;
  return chain(turns.budget.admit(client), () =>
    chain(readBody(request, rules, checkType), (body) => turns.run(client, body.bytes.length, () => handle(body))),
  );
}

/** Runs after the start, so that the first request does not wait for it. */
export async function compileBodySchemas(): Promise<void> {
  for (const { body } of Object.values(endpoints) as Endpoint[]) {
    if (typeof body === 'object') await validatorOf(body.schema);
  }
}

/** The value does not reference the bytes of the body, so they are released. */
function parsed<T>(request: Request, body: ReceivedBody, validate: Validator): MaybePromise<T> {
  const { client, turns } = request;
  if (isLarge(body.bytes.length)) return parsedInSteps(request, body, validate);
  try {
    return turns.budget.measure(client, () => validated<T>(parseJson(decodedJson(body.bytes)), validate));
  } finally {
    body.release();
  }
}

async function parsedInSteps<T>({ client, turns }: Request, body: ReceivedBody, validate: Validator): Promise<T> {
  try {
    const json = turns.budget.measure(client, () => decodedJson(body.bytes));
    await nextTurn();
    const value = turns.budget.measure(client, () => validated<T>(parseJson(json), validate));
    await nextTurn();
    return value;
  } finally {
    body.release();
  }
}

function validated<T>(value: unknown, validate: Validator): T {
  const problem = validate(value);
  if (problem) throw problem;
  return value as T;
}

function refuseUnlessJson(raw: IncomingMessage): void {
  if (raw.headers['content-type'] === 'application/json') return;
  const { type, isUtf8Text } = mediaTypeOf(raw);
  if (type === 'application/json' && isUtf8Text) return;
  throw new PoproomError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as JSON with Content-Type: application/json.');
}

function decodedJson(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new PoproomError('INVALID_JSON', 'The body is not valid UTF-8.');
  if (hasMoreValues(bytes, maxRequestValues))
    throw new PoproomError('INVALID_JSON', 'The body contains too many JSON values.');
  return bytes.toString('utf8');
}

function parseJson(json: string): unknown {
  if (json === '') return {};
  try {
    // Clients that are generated for Go send `null` instead of an optional body.
    return JSON.parse(json) ?? {};
  } catch {
    throw new PoproomError('INVALID_JSON', 'The body is not well-formed JSON.');
  }
}

/** Whether the body is a text as it is, such as that of `curl -d`. */
export const isTextBody = (raw: IncomingMessage): boolean =>
  raw.headers['content-type'] !== 'application/json' && textTypes.has(mediaTypeOf(raw).type);

/** The second one is the default of `curl -d`. Nobody else sends a text in it. */
const textTypes: ReadonlySet<string> = new Set(['text/plain', 'application/x-www-form-urlencoded']);

/** The same for a body that is a text. */
export const withText = <R>(request: Request, rules: BodyRules, handle: (text: string) => Promise<R>) =>
  inTurn(request, rules, refuseUnlessUtf8, (body) =>
    handle(request.turns.budget.measure(request.client, () => decodedText(body))),
  );

function refuseUnlessUtf8(raw: IncomingMessage): void {
  if (mediaTypeOf(raw).isUtf8Text) return;
  throw new PoproomError('UNSUPPORTED_MEDIA_TYPE', 'Send the text in UTF-8.');
}

function decodedText(body: ReceivedBody): string {
  try {
    if (isUtf8(body.bytes)) return body.bytes.toString('utf8');
    throw invalidField('content', 'The text is not valid UTF-8.');
  } finally {
    body.release();
  }
}

/** Checks a value, and describes the first problem in one sentence. */
type Validator = (value: unknown) => PoproomError | undefined;

const compiled = new Map<object, Validator>();
const loadAjv = loadOnce(load);

/** The validator of a schema of the protocol. Loads Ajv on first use, because loading it takes as long as the rest of the start. */
export const validatorOf = (schema: object): MaybePromise<Validator> => compiled.get(schema) ?? compile(schema);

async function compile(schema: object): Promise<Validator> {
  const validator = toValidator((await loadAjv()).compile(schema));
  compiled.set(schema, validator);
  return validator;
}

async function load(): Promise<Ajv> {
  const { Ajv } = await import('ajv');
  // Our own schemas need no validation against the meta-schema, which would be most of the work.
  // Formats are for readers of the documents. Patterns check the values.
  return new Ajv({ verbose: true, meta: false, validateSchema: false, validateFormats: false });
}

function toValidator(check: ValidateFunction): Validator {
  return (value) => (check(value) ? undefined : toError(check.errors?.[0] as ErrorObject));
}

function toError({ keyword, instancePath, params, parentSchema }: ErrorObject): PoproomError {
  const field = nameOf(params.missingProperty ?? params.additionalProperty ?? instancePath.slice(1));
  const { description, properties = {} } = parentSchema as { description?: string; properties?: object };
  const message =
    keyword === 'minProperties' ? atLeastOneOf(Object.keys(properties)) : sentence(keyword, field, description);
  return new PoproomError('VALIDATION_FAILED', message, { ...(field && { details: { field } }) });
}

function atLeastOneOf(fields: readonly string[]): string {
  const names = fields.map((field) => `"${field}"`);
  return `Send at least one of ${names.slice(0, -1).join(', ')} and ${names.at(-1)}.`;
}

function sentence(keyword: string, field: string, expected: string | undefined): string {
  if (keyword === 'required') return `"${field}" is required.`;
  if (keyword === 'additionalProperties') return `"${field}" is not a known field of this request.`;
  if (field === '') return 'The body must be a JSON object.';
  return `"${field}" must be ${expected ?? 'of a different type'}.`;
}

/** The client chose this name, so it is shortened. */
function nameOf(field: unknown): string {
  const text = String(field);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
