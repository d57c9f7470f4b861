/** Validates values against the schemas of the protocol, and describes the first problem in one sentence. */
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { loadOnce } from '../../core/concurrency.ts';
import { PoproomError } from '../../core/errors.ts';
import type { MaybePromise } from '../../core/ports.ts';

export type Validator = (value: unknown) => PoproomError | undefined;

const compiled = new Map<object, Validator>();
const loadAjv = loadOnce(load);

/** Loads Ajv on first use, because loading it takes as long as the rest of the start. */
export function validatorOf(schema: object): MaybePromise<Validator> {
  return compiled.get(schema) ?? compile(schema);
}

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
