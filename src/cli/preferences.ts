/** The config file, and the last server used. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from './environment.ts';
import { printable } from './printable.ts';
import { nearestName } from './server/doctor/nearest-name.ts';
import { UsageError } from './usage-error.ts';

export interface Preferences {
  url?: string;
  apiKey?: string;
}

/** Such as `{ "url": "https://pop.example.org", "apiKey": "pop_…" }`. */
export function readPreferences({ configFolder }: Environment): Preferences {
  const file = join(configFolder, 'config.json');
  const text = readIfExists(file);
  if (text === undefined) return {};
  try {
    const { url, apiKey, ...unknown } = JSON.parse(text) as Preferences;
    warnOfUnknown(file, Object.keys(unknown));
    if ([url, apiKey].every((value) => value === undefined || typeof value === 'string'))
      return { url, apiKey } as Preferences;
  } catch {
    // Reported below, because the message of the parser does not help.
  }
  throw new UsageError(`${file} must be JSON such as { "url": "https://pop.example.org", "apiKey": "pop_…" }.`);
}

/** A misspelled key would otherwise have no effect, and nobody would know why. */
function warnOfUnknown(file: string, names: readonly string[]): void {
  for (const name of names) {
    const meant = nearestName(name, ['url', 'apiKey']);
    const hint = meant ? `Did you mean "${meant}"?` : 'It has "url" and "apiKey".';
    console.error(`poproom: "${printable(name)}" in ${file} is not a setting. ${hint}`);
  }
}

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

function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR'].includes(code)) return undefined;
    throw error;
  }
}
