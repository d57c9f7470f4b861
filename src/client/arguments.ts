/** Checks the arguments of programs, which may be written without types, before anything is sent. */
import { deviceColors } from '../protocol/limits.ts';
import type { MethodWithArgument } from './room.ts';
import { isObject, isWhole } from './shapes.ts';

type Check = readonly [isValid: (value: unknown) => boolean, expected: string];

const isString = (value: unknown) => typeof value === 'string';
const isFunction = (value: unknown) => typeof value === 'function';
const isSeconds = (value: unknown) => typeof value === 'number' && value >= 0;

/** Throws a TypeError that names the argument. */
export function check(name: string, value: unknown, [isValid, expected]: Check): void {
  if (!isValid(value)) throw new TypeError(`"${name}" must be ${expected}.`);
}

export const anyText: Check = [isString, 'a string'];
const id: Check = [(value) => isString(value) && value !== '', 'a string that is not empty'];
const version: Check = [isWhole, 'a whole number from 0'];
const callback: Check = [isFunction, 'a function'];
const file: Check = [isObject, 'a file, as room.files() returns it'];
const isSource = (value: unknown) => isString(value) || (typeof value === 'object' && value !== null);

const firstArguments: Readonly<Record<MethodWithArgument, readonly [name: string, check: Check]>> = {
  update: ['changes', [isObject, 'an object with the changes']],
  write: ['text', anyText],
  append: ['text', anyText],
  edit: ['edits', [Array.isArray, 'a list of edits: { from, to, insert }']],
  historyText: ['version', version],
  restore: ['version', version],
  upload: ['source', [isSource, 'a Blob, bytes, a stream, or the path of a file']],
  uploadTicket: ['uploads', [(value) => isWhole(value) && value !== 0, 'a whole number from 1']],
  download: ['file', file],
  receive: ['file', file],
  claim: ['fileId', id],
  confirmClaim: ['claim', id],
  releaseClaim: ['claim', id],
  removeFile: ['fileId', id],
  restoreFile: ['fileId', id],
  cancelUpload: ['uploadId', id],
  createWebhook: ['webhook', [isObject, 'an object with the URL of the webhook']],
  deleteWebhook: ['id', id],
  createLink: ['link', [isObject, 'an object with the role of the link: { role }']],
  revokeLink: ['linkId', id],
  report: ['report', [isObject, 'an object with the reason: { reason }']],
};

/** A string is iterable too, and so are bytes. */
const isList = (value: unknown) =>
  typeof value === 'object' && value !== null && Symbol.iterator in value && !ArrayBuffer.isView(value);

export const checkFiles = (files: unknown): void => check('files', files, [isList, 'a list of files']);

const optionChecks: Readonly<Record<string, Check>> = {
  signal: [(value) => value instanceof AbortSignal, 'an AbortSignal'],
  timeoutSeconds: [isSeconds, 'a number of seconds, or 0 for no limit'],
  ...{ baseVersion: version, size: version },
  ...{ onProgress: callback, onUploadId: callback, onUploaded: callback, onRetry: callback, save: callback },
  ...{ name: anyText, type: anyText, folder: anyText, uploadId: anyText, ticket: anyText },
  files: [Array.isArray, 'a list of file ids'],
};

/** Options that are undefined have their default. */
export function checkOptions(options: unknown): void {
  if (options === undefined) return;
  check('options', options, [isObject, 'an object']);
  for (const [name, value] of Object.entries(options as object)) {
    const known = optionChecks[name];
    if (known && value !== undefined) check(name, value, known);
  }
}

/** Makes the methods of a room reject wrong arguments with a TypeError. Changes the room. */
export function withArgumentChecks<Room extends object>(room: Room): Room {
  for (const [name, method] of Object.entries(room)) {
    if (typeof method !== 'function' || name === 'pin' || name === 'live') continue;
    const first = firstArguments[name as MethodWithArgument] as readonly [string, Check] | undefined;
    const checked = async (...args: unknown[]) => {
      if (first) check(first[0], args[0], first[1]);
      checkOptions(args[first ? 1 : 0]);
      return method(...args);
    };
    Object.assign(room, { [name]: checked });
  }
  return room;
}

/** Throws a TypeError for a URL that no server can have. */
function checkServerUrl(url: unknown): void {
  const example = 'such as https://pop.example.org';
  const parsed = isString(url) && URL.canParse(url as string) ? new URL(url as string) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw new TypeError(`"url" must be the HTTP or HTTPS URL of a server, ${example}.`);
  if (parsed.username || parsed.password) throw new TypeError('"url" must not contain a user name or a password.');
  if (/[?#]/.test(url as string))
    throw new TypeError(`"url" must not contain a query or a fragment; use one ${example}.`);
}

/** Of `createClient`. */
export function checkClientOptions(options: Readonly<Record<string, unknown>>): void {
  check('options', options, [isObject, 'an object with the URL of the server']);
  checkServerUrl(options.url);
  for (const name of ['apiKey', 'createPassword', 'deviceId', 'deviceName'])
    if (options[name] !== undefined) check(name, options[name], anyText);
  if (options.deviceColor !== undefined) check('deviceColor', options.deviceColor, color);
  checkOptions({ timeoutSeconds: options.timeoutSeconds, onRetry: options.onRetry });
  const { retry } = options;
  if (!isObject(retry)) return;
  for (const [name, value] of Object.entries(retry)) if (value !== undefined) check(`retry.${name}`, value, amount);
}

const color: Check = [(value) => isWhole(value) && (value as number) < deviceColors, 'a whole number from 0 to 7'];
const amount: Check = [isSeconds, 'a number from 0'];
