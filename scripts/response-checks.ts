/** The checks of the SDK for everything that a server sends, written out from the schemas. */

import type { Success } from '../src/protocol/endpoints/endpoint.ts';
import { endpoints } from '../src/protocol/endpoints.ts';
import { linkRole, resumeToken, roomId } from '../src/protocol/fields.ts';
import { device, problem, serverMessages, textEdited } from '../src/protocol/live.ts';
import {
  contentWritten,
  createTokenIssued,
  fileClaimed,
  healthReport,
  roomDetails,
  ticketIssued,
} from '../src/protocol/schemas.ts';
import { nameOf, type Schema, unreliableFields } from './protocol-schemas.ts';

/** Fields whose schema does not say enough. */
const ownChecks = new Map<Schema, string>([
  [roomId, 'roomCode'],
  // Newer servers may know further roles.
  [linkRole, 'text'],
  [device.properties.role, 'text'],
  [resumeToken, 'isToken'],
  [fileClaimed.properties.claim, 'isToken'],
  [ticketIssued.properties.ticket, 'isToken'],
  [textEdited.properties.edits, 'areEdits'],
  [problem.properties.error, 'isError'],
]);

const isForRooms = ({ tag }: { tag: string }) => ['Rooms', 'Text', 'Files', 'Webhooks'].includes(tag);

/**
 * The JSON bodies that the SDK reads. It sends the password of a server, and no token, and reads of a text that was
 * written the same as of one that was read.
 */
function readBodies(): Schema[] {
  const schemas = Object.values(endpoints)
    .filter(isForRooms)
    .flatMap(({ successes }): readonly Success[] => successes)
    .flatMap(({ status, schema }) => (schema && status < 300 ? [schema as Schema] : []))
    .filter((schema) => schema !== createTokenIssued && schema !== contentWritten);
  // The details of a room extend the information about it.
  const withoutDetails = schemas.filter((schema) => schema !== roomDetails);
  return [...new Set([...withoutDetails, roomDetails, healthReport])];
}

export function responseChecks(): string {
  const writer = createWriter();
  const bodies = readBodies().map((schema) => {
    const name = nameOf(schema) ?? '';
    // A later body may contain this one.
    writer.variables.set(schema, `is${name}`);
    return writer.object(`export const is${name} = `, schema, name, name);
  });
  const messages = Object.entries(serverMessages).map(([type, schema]) =>
    writer.object(`  ${/-/.test(type) ? `'${type}'` : type}: `, schema, nameOf(schema) ?? '', undefined, ',\n'),
  );
  return `/** The checks of responses and messages, written by \`npm run generate\` from the schemas in src/protocol. */
import type * as types from '../protocol/types.ts';
import {${listed(writer.used)}} from './shapes.ts';

${writer.parts.join('')}
${bodies.join('')}
const messages: Readonly<Record<types.ServerMessage['type'], Check>> = {
${messages.join('')}};

/** By message type. Newer servers may send further types. */
export const messageChecks: ReadonlyMap<unknown, Check> = new Map(Object.entries(messages));
`;
}

/** One per line, sorted as the linter wants them. */
function listed(names: ReadonlySet<string>): string {
  const key = (name: string) => name.replace('type ', '').toLowerCase();
  const sorted = [...names].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return `\n${sorted.map((name) => `  ${name},\n`).join('')}`;
}

/** Writes each object that is part of others once. */
function createWriter() {
  const used = new Set(['object', 'type Check']);
  const parts: string[] = [];
  const variables = new Map<Schema, string>();
  const written: { variable: string; type: string; checks: ReadonlySet<string> }[] = [];

  const use = (name: string) => {
    used.add(name);
    return name;
  };

  /** `name` is for an object that has none. */
  function field(schema: Schema, name: string): string {
    const own = ownChecks.get(schema);
    if (own) return use(own);
    if (schema.properties) return part(schema, name);
    if (schema.items) return `${use('list')}(${field(schema.items, name)})`;
    if (schema.enum) return `${use('oneOf')}(${schema.enum.map((value) => `'${value}'`).join(', ')})`;
    return schema.const === true ? use('isTrue') : simple(schema);
  }

  function simple({ type, format }: Schema): string {
    if (type === 'string') return use(format === 'date-time' ? 'time' : 'text');
    if (type === 'integer') return use('isWhole');
    if (type === 'number') return 'Number.isFinite';
    if (type === 'boolean') return use('flag');
    throw new Error(`There is no check for ${JSON.stringify({ type, format })}.`);
  }

  function part(schema: Schema, name: string): string {
    const variable = variables.get(schema) ?? lowerFirst(nameOf(schema) ?? name);
    if (!variables.has(schema)) {
      variables.set(schema, variable);
      parts.push(object(`const ${variable} = `, schema, name, nameOf(schema)));
    }
    return variable;
  }

  /** On one line if the formatter leaves it there. The type of a message is known when it is checked. */
  function object(start: string, schema: Schema, name: string, type?: string, end = ';\n'): string {
    const reliable = new Set(schema.required).difference(unreliableFields(schema));
    const checks = Object.entries(schema.properties ?? {})
      .filter(([key]) => key !== 'type')
      .map(([key, value]) => {
        const isValid = field(value, name + upperFirst(key));
        return `${key}: ${reliable.has(key) ? isValid : `${use('optional')}(${isValid})`}`;
      });
    const base = baseOf(checks);
    const own = checks.filter((check) => !base?.checks.has(check));
    const variable = /const (\w+) =/.exec(start)?.[1];
    if (variable && type) written.push({ variable, type, checks: new Set(checks) });
    const types = [type ? `types.${type}` : 'object', ...(base ? [`types.${base.type}`] : [])].join(', ');
    // Bundlers drop the checks that a page does not use.
    const call = `${start}/* @__PURE__ */ object<${types}>(`;
    const extended = base ? `, ${base.variable}` : '';
    const line = `${call}{ ${own.join(', ')} }${extended})${end}`;
    if (line.trimEnd().length <= lineWidth) return line;
    const indent = /^ */.exec(start)?.[0];
    if (!base) return `${call}{\n${own.map((check) => `${indent}  ${check},\n`).join('')}${indent}})${end}`;
    return `${call}\n${indent}  { ${own.join(', ')} },\n${indent}  ${base.variable},\n${indent})${end}`;
  }

  /** The largest object with a type whose fields are a part of these. */
  const baseOf = (checks: readonly string[]) =>
    written
      .filter((base) => base.checks.size > 3 && base.checks.isSubsetOf(new Set(checks)))
      .sort((one, other) => other.checks.size - one.checks.size)
      .at(0);

  return { used, parts, variables, object };
}

const lineWidth = 120;
const lowerFirst = (name: string) => name.charAt(0).toLowerCase() + name.slice(1);
const upperFirst = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
