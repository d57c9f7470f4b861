/**
 * Reports changes of the OpenAPI document that break existing clients, and then exits with 1.
 * Usage: node scripts/check-api-changes.ts [FILE or GIT TAG]; by default, compares with the last release before HEAD.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { MediaType, OpenApiDocument, Operation, OrRef, Parameter, Response } from './openapi/document.ts';
import { resolveRef } from './openapi/document.ts';

function main(earlier: string | undefined): void {
  if (earlier === undefined) {
    console.log('There is no earlier release, so there is no API to compare with.');
    return;
  }
  const before = existsSync(earlier) ? readFileSync(earlier, 'utf8') : git('show', `${earlier}:openapi.json`);
  const changes = breakingChanges(JSON.parse(before), JSON.parse(readFileSync('openapi.json', 'utf8')));
  for (const change of changes) console.error(change);
  if (changes.length > 0) {
    console.error(`These changes break clients of ${earlier}. Changes of the API may only add to it.`);
    process.exitCode = 1;
  } else console.log(`The API has everything that clients of ${earlier} use.`);
}

/** The tag of HEAD is the release that is being checked. */
function lastRelease(): string | undefined {
  const tags = git('tag', '--list', 'v*', '--merged', 'HEAD', '--no-contains', 'HEAD', '--sort=-version:refname');
  return tags.split('\n')[0] || undefined;
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}

/** One sentence for each change that a client can notice. */
export function breakingChanges(before: OpenApiDocument, after: OpenApiDocument): string[] {
  const found: string[] = [];
  for (const [path, methods] of Object.entries(before.paths)) {
    const kept = after.paths[path];
    if (!kept) found.push(`${path}: the path was removed.`);
    else
      for (const [method, operation] of Object.entries(methods)) {
        const where = `${method.toUpperCase()} ${path}`;
        const other = kept[method];
        if (!other) found.push(`${where}: the operation was removed.`);
        else found.push(...operationChanges({ before, after }, operation, other).map((text) => `${where}: ${text}`));
      }
  }
  return [...new Set(found)];
}

interface Documents {
  before: OpenApiDocument;
  after: OpenApiDocument;
}

function operationChanges(documents: Documents, before: Operation, after: Operation): string[] {
  return [
    ...parameterChanges(documents, before, after),
    ...bodyChanges(documents, before, after),
    ...responseChanges(documents, before, after),
  ];
}

function parameterChanges(documents: Documents, before: Operation, after: Operation): string[] {
  const [earlier, later] = [parametersOf(documents.before, before), parametersOf(documents.after, after)];
  const removed = [...earlier.keys()].filter((id) => !later.has(id));
  const changed = [...later].flatMap(([id, parameter]) => {
    const known = earlier.get(id);
    if (parameter.required && !known?.required) return [`the ${id} is now required.`];
    return known ? requestChanges(documents, known.schema, parameter.schema, `the ${id}`) : [];
  });
  return [...removed.map((id) => `the ${id} was removed.`), ...changed];
}

function parametersOf(document: OpenApiDocument, { parameters = [] }: Operation): Map<string, Parameter> {
  const resolved = parameters.map((parameter: OrRef<Parameter>) => resolveRef(document, parameter));
  return new Map(resolved.map((parameter) => [`${parameter.in} parameter "${parameter.name}"`, parameter]));
}

function bodyChanges(documents: Documents, before: Operation, after: Operation): string[] {
  if (after.requestBody?.required && !before.requestBody?.required) return ['the body is now required.'];
  return mediaChanges(before.requestBody?.content, after.requestBody?.content, 'the body', (earlier, later) =>
    requestChanges(documents, earlier.schema, later.schema, 'the body'),
  );
}

/** A status of an error may change its meaning, but a success that disappears is one that clients wait for. */
function responseChanges(documents: Documents, before: Operation, after: Operation): string[] {
  return Object.entries(before.responses).flatMap(([status, response]) => {
    const name = `the response ${status}`;
    const other = after.responses[status];
    if (!other) return [`${name} was removed.`];
    const [earlier, later] = [resolveRef(documents.before, response), resolveRef(documents.after, other)];
    return [
      ...headerChanges(earlier, later, name),
      ...mediaChanges(earlier.content, later.content, name, (from, to) =>
        answerChanges(documents, from.schema, to.schema, name),
      ),
    ];
  });
}

function headerChanges(before: Response, after: Response, name: string): string[] {
  const removed = Object.keys(before.headers ?? {}).filter((header) => !(header in (after.headers ?? {})));
  return removed.map((header) => `${name} no longer has the header "${header}".`);
}

type Media = Record<string, MediaType>;

function mediaChanges(
  before: Media = {},
  after: Media = {},
  name: string,
  compare: (before: MediaType, after: MediaType) => string[],
): string[] {
  return Object.entries(before).flatMap(([type, media]) => {
    const other = after[type] ?? after['*/*'];
    return other ? compare(media, other) : [`${name} no longer has the type ${type}.`];
  });
}

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: unknown;
  [keyword: string]: unknown;
}

/** A request that was accepted must still be: no stricter types, values, bounds and required fields. */
function requestChanges(documents: Documents, before: object, after: object, where: string): string[] {
  return walk(documents, before, after, where, (from, to, name) => [
    ...typesOf(from)
      .filter((type) => !allows(to, type))
      .map((type) => `${name} no longer takes a value of type ${type}.`),
    ...(typesOf(from).length === 0 && to.type !== undefined
      ? [`${name} now takes only ${typesOf(to).join(', ')}.`]
      : []),
    ...removedValues(from, to).map((value) => `${name} no longer takes ${value}.`),
    ...Object.entries(bounds)
      .filter(([keyword, isStricter]) => to[keyword] !== undefined && isStricter(from[keyword], to[keyword]))
      .map(([keyword]) => `${name} has a stricter "${keyword}".`),
    ...(to.required ?? [])
      .filter((field) => !from.required?.includes(field))
      .map((field) => `${name} now requires "${field}".`),
    ...(to.additionalProperties === false ? removedFields(from, to) : []).map(
      (field) => `${name} no longer takes "${field}".`,
    ),
  ]);
}

/** A response must still have each field, with no further types. Lists of values may grow: clients ignore new ones. */
function answerChanges(documents: Documents, before: object, after: object, where: string): string[] {
  return walk(documents, before, after, where, (from, to, name) => [
    ...(typesOf(from).length > 0 && typesOf(to).length === 0 ? [`${name} can now have any type.`] : []),
    ...typesOf(to)
      .filter((type) => typesOf(from).length > 0 && !allows(from, type))
      .map((type) => `${name} can now be of type ${type}.`),
    ...removedFields(from, to).map((field) => `${name} no longer has "${field}".`),
    ...(from.required ?? [])
      .filter((field) => to.properties?.[field] && !to.required?.includes(field))
      .map((field) => `${name} may now lack "${field}".`),
  ]);
}

type Compare = (before: Schema, after: Schema, where: string) => string[];

function walk(documents: Documents, before: object, after: object, where: string, compare: Compare): string[] {
  const from: Schema = resolveRef(documents.before, before as OrRef<Schema>);
  const to: Schema = resolveRef(documents.after, after as OrRef<Schema>);
  const nested = Object.entries(from.properties ?? {}).flatMap(([field, schema]) => {
    const other = to.properties?.[field];
    return other ? walk(documents, schema, other, `"${field}" of ${where}`, compare) : [];
  });
  const items = from.items && to.items ? walk(documents, from.items, to.items, `an item of ${where}`, compare) : [];
  return [...compare(from, to, where), ...nested, ...items];
}

const typesOf = ({ type }: Schema): string[] => (type === undefined ? [] : [type].flat());

const allows = (schema: Schema, type: string): boolean => {
  const types = typesOf(schema);
  return types.length === 0 || types.includes(type) || (type === 'integer' && types.includes('number'));
};

function removedFields(before: Schema, after: Schema): string[] {
  return Object.keys(before.properties ?? {}).filter((field) => !after.properties?.[field]);
}

function removedValues(before: Schema, after: Schema): string[] {
  const [earlier, later] = [valuesOf(before), valuesOf(after)];
  if (!later) return [];
  return earlier ? earlier.filter((value) => !later.includes(value)) : ['other values than '.concat(later.join(', '))];
}

function valuesOf(schema: Schema): string[] | undefined {
  if ('const' in schema) return [JSON.stringify(schema.const)];
  return schema.enum?.map((value) => JSON.stringify(value));
}

/** Whether the second value of a keyword rejects what the first one accepts. */
const bounds: Record<string, (before: unknown, after: unknown) => boolean> = {
  ...Object.fromEntries(['minimum', 'minLength', 'minItems', 'minProperties'].map((name) => [name, isHigher])),
  ...Object.fromEntries(['maximum', 'maxLength', 'maxItems', 'maxProperties'].map((name) => [name, isLower])),
  pattern: (before, after) => before !== after,
};

function isHigher(before: unknown, after: unknown): boolean {
  return Number(after) > Number(before ?? Number.NEGATIVE_INFINITY);
}

function isLower(before: unknown, after: unknown): boolean {
  return Number(after) < Number(before ?? Number.POSITIVE_INFINITY);
}

if (import.meta.main) main(process.argv[2] ?? lastRelease());
