/** Values that break a schema of the protocol in one place each. */
import { unreliableFields } from '../../scripts/protocol-schemas.ts';
import { linkRoles } from '../../src/protocol/link-rights.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

export interface Malformed {
  /** Such as `files.0.fileSize is "x"`. */
  description: string;
  value: unknown;
}

/** A valid value with all optional fields. */
export function validExample(schema: Schema): unknown {
  const { type, items, properties = {} } = schema;
  if (type === 'object')
    return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, validExample(field)]));
  if (items) return [validExample(items)];
  return schema.const ?? schema.enum?.[0] ?? schema.examples?.[0] ?? (type === 'string' ? 'x' : true);
}

/** Each field missing, null, and of other types. */
export function* malformedExamples(schema: Schema): Generator<Malformed> {
  const example = validExample(schema);
  if (schema.type === 'object') yield* malformedFields(schema, example as Record<string, unknown>);
  if (schema.items) {
    for (const { description, value } of malformedExamples(schema.items))
      yield { description: `0.${description}`, value: [value] };
  }
  for (const value of wrongValues(schema)) yield { description: ` is ${JSON.stringify(value)}`, value };
}

function* malformedFields(schema: Schema, example: Record<string, unknown>): Generator<Malformed> {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const { [name]: _, ...others } = example;
    if (schema.required?.includes(name) && !unreliableFields(schema).has(name))
      yield { description: `${name} is missing`, value: others };
    for (const { description, value } of malformedExamples(field)) {
      const inside = description.startsWith(' ') ? `${name}${description}` : `${name}.${description}`;
      yield { description: inside, value: { ...example, [name]: value } };
    }
  }
}

function wrongValues({ type, const: only, enum: values }: Schema): unknown[] {
  const wrong: unknown[] = [null, type === 'string' ? 7 : 'x', type === 'object' ? [] : {}];
  if (type === 'integer') wrong.push(1.5, -1, 2 ** 53);
  // An unknown `type` is not malformed, and neither is an unknown role.
  if ((values && values !== linkRoles) || only === true) wrong.push(type === 'string' ? 'other' : false);
  return wrong;
}
