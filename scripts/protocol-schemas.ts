/** The schemas of the protocol by the names of their types, and the fields of each that earlier versions did not send. */
import { readdirSync, readFileSync } from 'node:fs';
import * as adminBodies from '../src/protocol/admin-schemas.ts';
import * as fields from '../src/protocol/fields.ts';
import * as live from '../src/protocol/live.ts';
import * as bodies from '../src/protocol/schemas.ts';

export interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
}

/** Types that do not have the names of their schemas. */
const otherNames: Readonly<Record<string, string>> = { device: 'RoomDevice', text: 'RoomText' };

const typeName = (name: string) => otherNames[name] ?? name.charAt(0).toUpperCase() + name.slice(1);

/** All schemas of objects that a module exports. */
export const schemasByName: Readonly<Record<string, Schema>> = Object.fromEntries(
  [fields, bodies, adminBodies, live].flatMap((module) =>
    Object.entries(module as Readonly<Record<string, Schema>>)
      .filter(([, { type }]) => type === 'object')
      .map(([name, schema]) => [typeName(name), schema]),
  ),
);

const names = new Map<unknown, string>(Object.entries(schemasByName).map(([name, schema]) => [schema, name]));

/** Undefined for a schema that is not exported. */
export const nameOf = (schema: unknown): string | undefined => names.get(schema);

/** The responses of one version of the server, stored by `scripts/store-responses.ts`. */
export interface StoredResponses {
  /** `development` stands for servers before the first release. */
  version: string;
  /** By the names of their types, each in one or several forms. */
  bodies: Readonly<Record<string, readonly unknown[]>>;
  /** By their `type`. */
  messages: Readonly<Record<string, readonly unknown[]>>;
}

const folder = new URL('../test/client/stored-responses/', import.meta.url);

export const storedResponses: readonly StoredResponses[] = readdirSync(folder)
  .sort()
  .map((file) => ({
    version: file.replace(/\.json$/, ''),
    ...JSON.parse(readFileSync(new URL(file, folder), 'utf8')),
  }));

/**
 * Returns the fields of an object of the schemas that are required now, and that one of these versions did not send. A
 * reader must not rely on them.
 */
export function fieldsMissingIn(versions: readonly StoredResponses[]): (schema: object) => ReadonlySet<string> {
  const missing = new Map<object, Set<string>>();

  function compare(schema: Schema | undefined, value: unknown): void {
    if (schema?.items && Array.isArray(value)) for (const item of value) compare(schema.items, item);
    if (!schema?.properties || typeof value !== 'object' || value === null) return;
    const absent = (schema.required ?? []).filter((name) => !Object.hasOwn(value, name));
    missing.set(schema, (missing.get(schema) ?? new Set<string>()).union(new Set(absent)));
    for (const [name, field] of Object.entries(schema.properties))
      compare(field, (value as Readonly<Record<string, unknown>>)[name]);
  }

  const messages: Readonly<Record<string, Schema>> = live.serverMessages;
  for (const stored of versions) {
    for (const [name, values] of Object.entries(stored.bodies))
      for (const value of values) compare(schemasByName[name], value);
    for (const [type, values] of Object.entries(stored.messages))
      for (const value of values) compare(messages[type], value);
  }
  return (schema) => missing.get(schema) ?? new Set();
}

const released = storedResponses.filter(({ version }) => version !== 'development');

/** Fields that were added after the first release. They are optional in the types. */
export const addedFields = fieldsMissingIn(released);

/** Fields that the SDK does not require of a server. */
export const unreliableFields = fieldsMissingIn(storedResponses);
