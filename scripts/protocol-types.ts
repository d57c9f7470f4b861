/** The TypeScript types of all bodies and live messages, written out from their schemas: what an editor shows. */
import { clientMessages, serverMessages } from '../src/protocol/live.ts';
import { errorCode } from '../src/protocol/schemas.ts';
import { addedFields, nameOf, type Schema, schemasByName } from './protocol-schemas.ts';

/** The line width of the formatter. */
const width = 120;

/** The texts of the fields by their names. */
type Fields = ReadonlyMap<string, string>;

const bodies: ReadonlyMap<string, Fields> = new Map(
  Object.entries(schemasByName).map(([name, schema]) => [name, fieldsOf(schema, '  ')]),
);

export function protocolTypes(): string {
  const head = [
    '/** The types of all bodies and messages, written by `npm run generate` from the schemas beside this file. */',
    "import type { ErrorCode } from './error-codes.ts';\n",
  ];
  const unions = [unionOf('ClientMessage', clientMessages), unionOf('ServerMessage', serverMessages)];
  return [head.join('\n'), ...Object.keys(schemasByName).map(declarationOf), ...unions].join('\n');
}

function declarationOf(name: string): string {
  const { description } = schemasByName[name] as Schema;
  return `${description ? `/** ${description} */\n` : ''}${typeOnOneLine(name) ?? interfaceOf(name)}`;
}

/** For a short type that inherits nothing. The formatter would move the comment of a second field. */
function typeOnOneLine(name: string): string | undefined {
  const { inherited, own } = withBases(name);
  const line = `export type ${name} = { ${own.map((field) => field.trim().replace(/;$/, '')).join('; ')} };\n`;
  const isShort = inherited.length === 0 && line.length <= width && !/\n.|; \/\*/.test(line);
  return isShort ? line : undefined;
}

function interfaceOf(name: string): string {
  const { inherited, own } = withBases(name);
  const head = `export interface ${name}`;
  const clause = inherited.length > 0 ? ` extends ${inherited.join(', ')}` : '';
  const line = `${head}${clause} {`.length <= width ? `${head}${clause}` : `${head}\n ${clause}`;
  return `${line} {\n${own.join('\n')}\n}\n`;
}

/** A type inherits its fields from smaller types as far as they are the same, so that each is written once. */
function withBases(name: string): { inherited: readonly string[]; own: readonly string[] } {
  const own = new Map(bodies.get(name));
  const inherited: string[] = [];
  // From whole types first, then from types without one or two of their fields.
  for (const omitted of [0, 1, 2])
    for (const [base, fields] of smallerThan(name)) {
      const others = [...fields.keys()].filter((field) => own.get(field) !== fields.get(field));
      if (others.length !== omitted || fields.size < 2 + 2 * omitted) continue;
      inherited.push(omitted ? `Omit<${base}, '${others.join("' | '")}'>` : base);
      for (const field of new Set(fields.keys()).difference(new Set(others))) own.delete(field);
    }
  return { inherited, own: [...own.values()] };
}

/** The types with fewer fields, the largest one first: they cannot inherit from this one. */
function smallerThan(name: string): readonly (readonly [string, Fields])[] {
  const size = bodies.get(name)?.size ?? 0;
  return [...bodies].filter(([, fields]) => fields.size < size).sort(([, a], [, b]) => b.size - a.size);
}

function fieldsOf(schema: Schema, indent: string): Fields {
  const added = addedFields(schema);
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]): [string, string] => {
    const isRequired = schema.required?.includes(name) && !added.has(name);
    const line = `${name}${isRequired ? '' : '?'}: ${typeOf(field, indent)};`;
    return [name, withComment(line, nameOf(field) ? undefined : field.description, indent)];
  });
  return new Map(schema.additionalProperties === false ? fields : [...fields, ['', `${indent}[k: string]: unknown;`]]);
}

function withComment(line: string, comment: string | undefined, indent: string): string {
  if (!comment) return `${indent}${line}`;
  const together = `${indent}/** ${comment} */ ${line}`;
  return together.length <= width && !line.includes('\n') ? together : `${indent}/** ${comment} */\n${indent}${line}`;
}

function typeOf(schema: Schema, indent: string): string {
  const name = schema === errorCode ? 'ErrorCode' : nameOf(schema);
  if (name) return name;
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  if (schema.type === 'array') return arrayOf(typeOf(schema.items ?? {}, indent));
  if (schema.type === 'object') return objectOf(schema, indent);
  return [schema.type ?? 'unknown']
    .flat()
    .map((type) => (type === 'integer' ? 'number' : type))
    .join(' | ');
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function arrayOf(items: string): string {
  return items.includes(' | ') ? `(${items})[]` : `${items}[]`;
}

function objectOf(schema: Schema, indent: string): string {
  const { properties, additionalProperties } = schema;
  if (properties) return `{\n${[...fieldsOf(schema, `${indent}  `).values()].join('\n')}\n${indent}}`;
  return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown'}>`;
}

function unionOf(name: string, messages: Readonly<Record<string, unknown>>): string {
  const members = Object.values(messages).map(nameOf);
  const line = `export type ${name} = ${members.join(' | ')};\n`;
  return line.length <= width ? line : `export type ${name} =\n  | ${members.join('\n  | ')};\n`;
}
