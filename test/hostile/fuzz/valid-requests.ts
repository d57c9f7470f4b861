/** Requests that the document allows. */
import fc from 'fast-check';
import { field, filePart, form, formType } from '../../support/form.ts';
import { type Draft, pin } from './draft.ts';
import { anyCharacter } from './odd-values.ts';
import type { Operation, Parameter, Schema } from './operations.ts';

export const roomsOfEachKind = 4;

export function validRequest(operation: Operation): fc.Arbitrary<Draft> {
  const parts = fc.record({
    locked: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
    roomNumber: roomNumberOf(operation),
    inChunks: fc.boolean(),
    parameters: parametersOf(operation),
    sending: sendingOf(operation),
  });
  return parts.map(({ locked, roomNumber, inChunks, parameters, sending }) => ({
    about: isTurnedOff(operation) ? 'turned off' : 'valid',
    method: operation.method,
    path: pathOf(operation),
    query: pairs(parameters, 'query'),
    headers: [...sending.headers, ...pairs(parameters, 'header'), ...upgrade(operation), ...key(locked)],
    body: sending.body,
    inChunks,
    locked,
    roomNumber,
  }));
}

/** Rooms are deleted from one place only: otherwise there would soon be none that the others find. */
export function roomNumberOf({ method, path }: Operation): fc.Arbitrary<number> {
  const last = roomsOfEachKind - 1;
  return method === 'DELETE' && path.endsWith('{roomId}') ? fc.constant(last) : fc.nat(last - 1);
}

const key = (locked: boolean): [string, string][] => (locked ? [['X-Room-Pin', pin]] : []);

/** The only path that is another protocol. */
function upgrade({ path }: Operation): [string, string][] {
  if (!path.endsWith('/live')) return [];
  const handshake = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };
  return Object.entries({ ...handshake, 'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==' });
}

/** Without settings for them, the server offers neither webhooks nor a password for creating rooms. */
export const isTurnedOff = ({ path }: Operation): boolean => /\/webhooks(\/|$)|\/create-token$/.test(path);

const filledInLater = ['roomId', 'fileId', 'version'];

/** All other names are as their examples say. */
function pathOf({ path, parameters }: Operation): string {
  const names = parameters.filter((it) => it.in === 'path' && !filledInLater.includes(it.name));
  return names.reduce((filled, { name, example }) => filled.replace(`{${name}}`, example), path);
}

type Chosen = { parameter: Parameter; value: string }[];

/** Each that may be left out is, more often than not. */
function parametersOf({ parameters }: Operation): fc.Arbitrary<Chosen> {
  const optional = parameters.filter((it) => it.in !== 'path' && !isPin(it) && !unguessable.includes(it.name));
  const left = { weight: 2, arbitrary: fc.constant(undefined) };
  const each = optional.map((parameter) =>
    fc.oneof(left, textOf(parameter)).map((value) => (value === undefined ? [] : [{ parameter, value }])),
  );
  return fc.tuple(...each).map((all) => all.flat());
}

/** Only a ticket and the ids of files that the server gave are valid, and metadata only in encrypted rooms. */
const unguessable = ['ticket', 'files', 'X-File-Meta'];

const isPin = ({ name }: Parameter) => /pin$/i.test(name);

function textOf({ schema, example, in: place }: Parameter): fc.Arbitrary<string> {
  const text = schema.pattern ? fc.stringMatching(new RegExp(schema.pattern)) : fc.constant(example);
  return place === 'query' ? text.map(encodeURIComponent) : text;
}

function pairs(chosen: Chosen, place: 'query' | 'header'): [string, string][] {
  return chosen
    .filter(({ parameter }) => parameter.in === place)
    .map(({ parameter, value }) => [parameter.name, value]);
}

interface Sending {
  headers: [string, string][];
  body: Draft['body'];
}

function sendingOf(operation: Operation): fc.Arbitrary<Sending> {
  const { bodySchema, takesFile } = operation;
  if (takesFile) return fc.oneof(bareFile, formFile);
  if (!bodySchema) return fc.constant({ headers: [], body: undefined });
  const body = bodySchema.properties?.edits ? anyEdit(bodySchema) : objectOf(harmless(operation, bodySchema));
  return body.map((fields) => ({ headers: [['Content-Type', 'application/json']], body: fields }));
}

/** Other requests use the same rooms, so their PINs and expiry times must not change. */
function harmless({ method, path }: Operation, schema: Schema): Schema {
  if (method !== 'PATCH' || !path.endsWith('{roomId}')) return schema;
  return { required: ['name'], properties: { name: schema.properties?.name ?? {} } };
}

/** Of a text that is not known: at its start, or at its end. */
function anyEdit({ properties = {} }: Schema): fc.Arbitrary<Map<string, string>> {
  const insert = jsonOf(properties.append ?? {});
  return fc.oneof(
    insert.map((text) => new Map([['append', text]])),
    insert.map((text) => new Map([['edits', `[{"from":0,"to":0,"insert":${text}}]`]])),
  );
}

const bytes = fc.uint8Array({ maxLength: 2000 }).map((array) => Buffer.from(array));
const fileName = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const fileType = fc.constantFrom('text/plain', 'image/png', 'application/pdf', 'text/html', 'application/octet-stream');

const bareFile = fc.tuple(bytes, fileName, fileType).map(([body, name, type]) => ({
  headers: [
    ['Content-Type', type],
    ['X-File-Name', encodeURIComponent(name)],
  ] as [string, string][],
  body,
}));

const formFile = fc.tuple(bytes, fileType).map(([file, type]) => ({
  headers: [['Content-Type', formType]] as [string, string][],
  body: form(field('pin', pin), filePart(file, 'a.txt', type)),
}));

/** By its fields; those that are not required are there half of the time. */
function objectOf({ properties = {}, required = [] }: Schema): fc.Arbitrary<Map<string, string>> {
  // The rooms are not encrypted.
  const plain = Object.entries(properties).filter(([name]) => name !== 'encryption');
  const fields = plain.map(([name, schema]) => {
    const value = name === 'name' ? roomName : jsonOf(schema);
    const optional = required.includes(name) ? value : fc.option(value, { nil: undefined });
    return optional.map((text) => [name, text] as const);
  });
  return fc.tuple(...fields).map((all) => new Map(all.filter((it): it is [string, string] => it[1] !== undefined)));
}

const roomName = fc.string({ unit: anyCharacter, maxLength: 40 }).map((name) => JSON.stringify(name));

function jsonOf({ type, pattern, minimum = 0, enum: values, items }: Schema): fc.Arbitrary<string> {
  if (values) return fc.constantFrom(...values).map((it) => JSON.stringify(it));
  if (items) return jsonOf(items).map((it) => `[${it}]`);
  if (type === 'boolean') return fc.boolean().map(String);
  if (type === 'integer') return fc.integer({ min: minimum, max: minimum + 1000 }).map(String);
  const text = pattern ? fc.stringMatching(new RegExp(pattern)) : fc.string({ unit: anyCharacter, maxLength: 200 });
  return text.map((it) => JSON.stringify(it));
}
