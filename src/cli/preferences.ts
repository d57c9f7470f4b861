/** The config file, and the last server used. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from './environment.ts';
import { nearestName } from './nearest-name.ts';
import { printable } from './printable.ts';
import { readIfExists, writePrivateFile } from './private-file.ts';
import { UsageError } from './usage-error.ts';

export interface ServerEntry {
  url?: string;
  apiKey?: string;
}

export interface Preferences extends ServerEntry {
  /** The name of the server that commands use. */
  default?: string;
  /** By name. */
  servers?: Record<string, ServerEntry>;
  /** Whether used rooms are remembered; by default they are. */
  recent?: boolean;
}

/** Such as `{ "url": "https://pop.example.org", "apiKey": "pop_…" }`. */
export function readPreferences(environment: Environment): Preferences {
  const file = configFile(environment);
  const text = readIfExists(file);
  if (text === undefined) return {};
  try {
    const preferences: unknown = JSON.parse(text);
    if (isPreferences(preferences)) {
      warnOfUnknown(file, preferences);
      return preferences;
    }
  } catch {
    // Reported below, because the message of the parser does not help.
  }
  throw new UsageError(`${file} must be JSON such as { "url": "https://pop.example.org", "apiKey": "pop_…" }.`);
}

const settingNames = ['url', 'apiKey', 'default', 'servers', 'recent'];

/** A misspelled key would otherwise have no effect, and nobody would know why. */
function warnOfUnknown(file: string, preferences: object): void {
  for (const name of Object.keys(preferences).filter((name) => !settingNames.includes(name))) {
    const meant = nearestName(name, settingNames);
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
  const { default: name, url, apiKey } = preferences;
  const named = name === undefined ? undefined : serverNamed(preferences, name);
  if (name !== undefined && named === undefined)
    throw new UsageError(`The default server "${name}" is not in the config file; see poproom config --help.`);
  return named ?? { ...(url !== undefined && { url }), ...(apiKey !== undefined && { apiKey }) };
}

export function serverNamed({ servers = {} }: Pick<Preferences, 'servers'>, name: string): ServerEntry | undefined {
  return Object.hasOwn(servers, name) ? servers[name] : undefined;
}

function isPreferences(value: unknown): value is Preferences {
  if (!isServerEntry(value)) return false;
  const { default: name, servers = {}, recent } = value as Preferences;
  const isSwitch = recent === undefined || typeof recent === 'boolean';
  return isText(name) && isSwitch && isObject(servers) && Object.values(servers).every(isServerEntry);
}

const isServerEntry = (value: unknown): value is ServerEntry =>
  isObject(value) && isText(value.url) && isText(value.apiKey);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown) => value === undefined || typeof value === 'string';

export function lastServer({ stateFolder }: Environment): string | undefined {
  const url = readIfExists(join(stateFolder, 'last-server'))?.trim();
  return url && URL.canParse(url) ? url : undefined;
}

/** Failures are ignored: this is only a convenience, and the command itself has succeeded. */
export function rememberServer({ stateFolder }: Environment, url: string): void {
  try {
    mkdirSync(stateFolder, { recursive: true });
    writeFileSync(join(stateFolder, 'last-server'), `${url}\n`);
  } catch {}
}
