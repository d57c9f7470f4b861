/** The config file, the last server used, and how private files in the home folder are read and written. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Check, flag, isObject, object, optional, text } from '../client/shapes.ts';
import { nearestName } from './command.ts';
import type { Environment } from './environment.ts';
import { UsageError } from './errors.ts';
import { parseJson, printable } from './output.ts';

export interface ServerEntry {
  url?: string;
  apiKey?: string;
  createPassword?: string;
}

export interface Preferences extends ServerEntry {
  /** The name of the server that commands use. */
  default?: string;
  servers?: Record<string, ServerEntry>;
  /** Whether used rooms are remembered; by default they are. */
  recent?: boolean;
}

/** Such as `{ "url": "https://pop.example.org", "apiKey": "pop_…" }`. */
export function readPreferences(environment: Environment): Preferences {
  const file = configFile(environment);
  const json = readIfExists(file);
  if (json === undefined) return {};
  const preferences = parseJson(json);
  if (!isPreferences(preferences))
    throw new UsageError(`${file} must be JSON such as { "url": "https://pop.example.org", "apiKey": "pop_…" }.`);
  warnOfUnknown(file, preferences);
  return preferences;
}

const serverChecks = { url: optional(text), apiKey: optional(text), createPassword: optional(text) };
const isServerEntry = object<ServerEntry>(serverChecks);
const areServers: Check = (value) => isObject(value) && Object.values(value).every(isServerEntry);
const checks = { ...serverChecks, default: optional(text), servers: optional(areServers), recent: optional(flag) };
const isPreferences = object<Preferences>(checks);

/** A misspelled key would otherwise have no effect, and nobody would know why. */
function warnOfUnknown(file: string, preferences: object): void {
  for (const name of Object.keys(preferences).filter((name) => !Object.hasOwn(checks, name))) {
    const meant = nearestName(name, Object.keys(checks));
    const hint = meant ? `Did you mean "${meant}"?` : 'See poproom config --help.';
    console.error(`poproom: "${printable(name)}" in ${file} is not a setting. ${hint}`);
  }
}

/** Keeps fields that this version does not know. */
export function writePreferences(environment: Environment, preferences: Preferences): void {
  writePrivateFile(configFile(environment), `${JSON.stringify(preferences, null, 2)}\n`);
}

export const configFile = ({ configFolder }: Environment): string => join(configFolder, 'config.json');

/** The named default server, or the one without a name. */
export function defaultServer(preferences: Preferences): ServerEntry {
  const { default: name } = preferences;
  if (name === undefined) return preferences;
  const named = serverNamed(preferences, name);
  if (named) return named;
  throw new UsageError(`The default server "${name}" is not in the config file; see poproom config --help.`);
}

export const serverNamed = ({ servers = {} }: Pick<Preferences, 'servers'>, name: string): ServerEntry | undefined =>
  Object.hasOwn(servers, name) ? servers[name] : undefined;

export function lastServer({ stateFolder }: Environment): string | undefined {
  const url = readIfExists(join(stateFolder, 'last-server'))?.trim();
  return url && URL.canParse(url) ? url : undefined;
}

export function rememberServer({ stateFolder }: Environment, url: string): void {
  tryTo(() => writePrivateFile(join(stateFolder, 'last-server'), `${url}\n`));
}

/** For what may fail, because the command itself has succeeded. */
export function tryTo(work: () => void): void {
  try {
    work();
  } catch {}
}

/** A file with state that later commands can do without. `empty` is for one that is missing, damaged or not readable. */
export function readStateFile<T>(path: string, empty: T, parse: (stored: never) => T): T {
  try {
    const text = readIfExists(path);
    return text === undefined ? empty : parse(JSON.parse(text) as never);
  } catch {
    return empty;
  }
}

/** Servers keep an unfinished upload for as long. */
const unfinishedMs = 24 * 60 * 60 * 1000;

/**
 * Records of interrupted commands, with which the same command continues. Reads the file each time, because other
 * commands may change it. Without the file, they start again.
 */
export function openUnfinished<T>(path: string, most: number, isValid: (entry: T) => boolean) {
  type Entry = T & { at: number };
  const isCurrent = (entry: Entry) => Math.abs(Date.now() - entry.at) < unfinishedMs && isValid(entry);
  const parse = (all: Record<string, Entry>) => new Map(Object.entries(all).filter(([, entry]) => isCurrent(entry)));
  const read = () => readStateFile(path, new Map<string, Entry>(), parse);
  const write = (entries: Map<string, Entry>) => writeStateFile(path, Object.fromEntries([...entries].slice(-most)));

  return {
    find: (key: string): T | undefined => read().get(key),
    remember(key: string, entry: T) {
      const entries = read();
      entries.delete(key);
      write(entries.set(key, { ...entry, at: Date.now() }));
    },
    forget(keys: readonly string[]) {
      const entries = read();
      if (keys.filter((key) => entries.delete(key)).length > 0) write(entries);
    },
  };
}

/** Equal values have the same hash. It does not reveal them if one of them is secret. */
export const hashOf = (values: readonly (string | number | undefined)[]): string =>
  createHash('sha256').update(JSON.stringify(values)).digest('hex');

export const writeStateFile = (path: string, value: unknown): void => tryTo(() => writeJson(path, value));

export const writeJson = (path: string, value: unknown): void => writePrivateFile(path, `${JSON.stringify(value)}\n`);

/** Replaces the file in one step. */
function writePrivateFile(path: string, text: string): void {
  const temporary = `${path}.${randomUUID()}`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

export function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR'].includes(code)) return undefined;
    throw error;
  }
}
