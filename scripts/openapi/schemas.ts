/** The schemas of the protocol as OpenAPI components, and examples built from them. */
import * as adminBodies from '../../src/protocol/admin-schemas.ts';
import * as bodies from '../../src/protocol/schemas.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

interface Schema {
  readonly examples?: readonly Json[];
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly items?: Schema;
  readonly properties?: Record<string, Schema>;
}

/** In alphabetical order, as the document has them. */
const schemas = Object.entries({ ...bodies, ...adminBodies }).sort(([a], [b]) => (a < b ? -1 : 1));
const names = new Map<unknown, string>(schemas.map(([name, schema]) => [schema, pascal(name)]));

/** Responses may gain fields, so their schemas allow additional properties. Requests may not. */
export function schemaComponents(): Record<string, object> {
  return Object.fromEntries(
    schemas.map(([name, schema]) => [pascal(name), isRequest(name) ? inner(schema) : open(inner(schema))]),
  );
}

/** A reference to a schema of the protocol, or the schema with references for its named parts. */
export function refer(schema: object): object {
  const name = names.get(schema);
  return name ? { $ref: `#/components/schemas/${name}` } : inner(schema);
}

/** An example value built from the examples of its parts; undefined if there are none. */
export function exampleOf(schema: Schema): Json | undefined {
  if (schema.examples) return schema.examples[0];
  if ('const' in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.items) return [exampleOf(schema.items)].filter((item) => item !== undefined);
  if (!schema.properties) return undefined;
  const parts = Object.entries(schema.properties).map(([name, part]) => [name, exampleOf(part)] as const);
  return Object.fromEntries(parts.filter((part): part is [string, Json] => part[1] !== undefined));
}

function inner(schema: object): object {
  return mapValues(portable(schema), (value) => refer(value));
}

/**
 * Without the two combinations that break generated clients: openapi-generator for Python applies `pattern` to a parsed
 * `date-time`, and compares a boolean with the text of its `const`. The server validates with the full schemas.
 */
function portable(schema: object): object {
  const { pattern, ...withoutPattern } = schema as { pattern?: unknown; format?: unknown };
  if (withoutPattern.format === 'date-time') return withoutPattern;
  const { const: value, ...withoutConst } = schema as { const?: unknown };
  return typeof value === 'boolean' ? { ...withoutConst, examples: [value] } : schema;
}

/** The schema without the ban on further properties. */
export function open(schema: object): object {
  const { additionalProperties, ...rest } = schema as { additionalProperties?: unknown };
  return mapValues(additionalProperties === false ? rest : schema, open);
}

function mapValues(value: object, change: (value: object) => object): object {
  const changed = (item: unknown) => (typeof item === 'object' && item !== null ? change(item) : item);
  if (Array.isArray(value)) return value.map(changed);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, changed(item)]));
}

const isRequest = (name: string) => name.endsWith('Request') || name === 'uploadForm';

function pascal(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
