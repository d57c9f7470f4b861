/** The settings of the config file, by the names of `poproom config`. */
import { type Preferences, type ServerEntry, serverNamed } from '../preferences.ts';
import { printable } from '../printable.ts';
import { parseServerUrl } from '../server-choice.ts';
import { UsageError } from '../usage-error.ts';

export interface Setting {
  name: string;
  /** Whether its value is never an argument and never shown in full. */
  isSecret: boolean;
  /** The value for the user. */
  shown(preferences: Preferences): string | undefined;
  /** Without a value, removes the setting. Throws if the value is invalid. */
  write(preferences: Preferences, value: string | undefined): Preferences;
}

const serverPattern = /^server\.([A-Za-z0-9_-]{1,40})\.(url|api-key)$/;
const fields = { url: 'url', 'api-key': 'apiKey' } as const;

export function parseSetting(name: string): Setting {
  const [, server, field] = serverPattern.exec(name) ?? [];
  if (server !== undefined) return serverSetting(name, server, fields[field as keyof typeof fields]);
  if (name === 'url' || name === 'api-key') return topSetting(name, fields[name]);
  if (name === 'default') return defaultName;
  if (name === 'recent') return recent;
  throw new UsageError(
    `"${name}" is not a setting; use url, api-key, default, server.NAME.url, server.NAME.api-key or recent.`,
  );
}

/** All settings that have a value. */
export function settingsIn(preferences: Preferences): { name: string; shown: string }[] {
  const servers = Object.keys(preferences.servers ?? {}).flatMap((name) => [
    `server.${name}.url`,
    `server.${name}.api-key`,
  ]);
  return ['url', 'api-key', 'default', ...servers.filter((name) => serverPattern.test(name)), 'recent'].flatMap(
    (name) => {
      const shown = parseSetting(name).shown(preferences);
      return shown === undefined ? [] : [{ name, shown }];
    },
  );
}

type Field = keyof ServerEntry;

function topSetting(name: string, field: Field): Setting {
  return {
    name,
    isSecret: field === 'apiKey',
    shown: (preferences) => show(field, preferences[field]),
    write: (preferences, value) => withField(preferences, field, value),
  };
}

function serverSetting(name: string, server: string, field: Field): Setting {
  return {
    name,
    isSecret: field === 'apiKey',
    shown: (preferences) => show(field, serverNamed(preferences, server)?.[field]),
    write(preferences, value) {
      const entry = serverNamed(preferences, server);
      if (field === 'apiKey' && value !== undefined && entry?.url === undefined)
        throw new UsageError(`Set the URL of the server first: poproom config set server.${server}.url URL`);
      const { [server]: _, ...others } = preferences.servers ?? {};
      const changed = withField(entry ?? {}, field, value);
      // A key without a URL would be for no server.
      const servers = changed.url === undefined ? others : { ...others, [server]: changed };
      if (changed.url === undefined && preferences.default === server)
        throw new UsageError(`"${server}" is the default server; run poproom config unset default first.`);
      return { ...preferences, servers };
    },
  };
}

const defaultName: Setting = {
  name: 'default',
  isSecret: false,
  shown: (preferences) => preferences.default,
  write(preferences, value) {
    if (value !== undefined && serverNamed(preferences, value) === undefined)
      throw new UsageError(`There is no server "${value}"; add it with poproom config set server.NAME.url URL`);
    return withField(preferences, 'default', value);
  },
};

const recent: Setting = {
  name: 'recent',
  isSecret: false,
  shown: ({ recent }) => (recent === undefined ? undefined : recent ? 'on' : 'off'),
  write({ recent: _, ...rest }, value) {
    if (value !== undefined && value !== 'on' && value !== 'off') throw new UsageError('recent is on or off.');
    return value === undefined ? rest : { ...rest, recent: value === 'on' };
  },
};

function withField(entry: Preferences, field: Field | 'default', value: string | undefined): Preferences {
  const { [field]: _, ...rest } = entry;
  if (value === undefined) return rest;
  if (field === 'url') parseServerUrl(value);
  if (field === 'apiKey' && !/^[\x21-\x7e]{1,200}$/.test(value))
    throw new UsageError('An API key has 1 to 200 characters, without spaces.');
  return { ...rest, [field]: value };
}

/** Such as "pop_…x7Zq": enough to tell keys apart. */
function show(field: Field, value: string | undefined): string | undefined {
  if (value === undefined || field === 'url') return value && printable(value);
  const end = value.length >= 24 ? value.slice(-4) : '';
  return `${value.startsWith('pop_') ? 'pop_' : ''}…${end}`;
}
