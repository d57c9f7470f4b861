/** The TypeScript types of all bodies and live messages, written out from their schemas: what an editor shows. */
import { compile } from 'json-schema-to-typescript';
import { clientMessages, serverMessages } from '../src/protocol/live.ts';
import { addedFields, nameOf, type Schema, schemasByName } from './protocol-schemas.ts';

export async function protocolTypes(): Promise<string> {
  const types = await Promise.all(Object.entries(schemasByName).map(([name, schema]) => interfaceOf(name, schema)));
  const unions = [unionOf('ClientMessage', clientMessages), unionOf('ServerMessage', serverMessages)];
  const head =
    '/** The types of all bodies and messages, written by `npm run generate` from the schemas beside this file. */\n';
  return [head, ...types, ...unions].join('\n');
}

async function interfaceOf(name: string, schema: Schema): Promise<string> {
  const style = { singleQuote: true, printWidth: 120 };
  const options = { bannerComment: '', style, ignoreMinAndMaxItems: true };
  const text = await compile(withNamesInside(schema) as Parameters<typeof compile>[0], name, options);
  return text.replaceAll(/\/\*\*\n\s*\* (.*)\n\s*\*\//g, '/** $1 */');
}

/** Where a shape that has a name stands within another, the name stands for it. */
function withNames(value: unknown): unknown {
  const name = nameOf(value);
  if (name !== undefined) return { tsType: name };
  if (Array.isArray(value)) return value.map(withNames);
  return typeof value === 'object' && value !== null ? withNamesInside(value) : value;
}

/** A field that was added later is optional to readers. */
function withNamesInside(schema: object): object {
  const inside = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withNames(value)]));
  const { required } = schema as Schema;
  const added = addedFields(schema);
  return { ...inside, ...(required && { required: required.filter((name) => !added.has(name)) }) };
}

function unionOf(name: string, messages: Readonly<Record<string, unknown>>): string {
  const members = Object.values(messages).map(nameOf);
  const line = `export type ${name} = ${members.join(' | ')};\n`;
  return line.length <= 120 ? line : `export type ${name} =\n  | ${members.join('\n  | ')};\n`;
}
