/** `poproom config`: shows and changes the config file. */
import type { Input } from '../command.ts';
import { readEnvironment } from '../environment.ts';
import { UsageError, withFileErrors } from '../errors.ts';
import { forgetAllRooms } from '../known-rooms.ts';
import { print, printable, printNotice, table } from '../output.ts';
import {
  configFile,
  type Preferences,
  readPreferences,
  type ServerEntry,
  serverNamed,
  writePreferences,
} from '../preferences.ts';
import { askHidden, isPiped, readInputText } from '../prompt.ts';
import { parseServerUrl } from '../server-choice.ts';

export async function config(input: Input): Promise<void> {
  const [action = 'list', name, value, ...rest] = input.args;
  const run = Object.hasOwn(actions, action) ? actions[action as keyof typeof actions] : undefined;
  if (!run) throw new UsageError(`"${action}" is not an action of poproom config; use list, get, set or unset.`);
  if (rest.length > 0 || (value !== undefined && action !== 'set') || (name !== undefined && action === 'list'))
    throw new UsageError('Too many arguments; see poproom config --help.');
  await run(input, name, value);
}

type Action = (input: Input, name: string | undefined, value: string | undefined) => Promise<void>;

const list: Action = async (input) => {
  const environment = readEnvironment();
  const settings = settingsIn(readPreferences(environment));
  const file = configFile(environment);
  const values = Object.fromEntries(settings.map(({ name, shown }) => [name, shown]));
  if (settings.length > 0 || input.isSet('json'))
    print(input, { file, settings: values }, table(settings.map(({ name, shown }) => [name, shown])));
  else printNotice(`Nothing is set in ${file}.`);
};

const get: Action = async (input, name) => {
  const { shown } = parseSetting(name);
  const value = shown(readPreferences(readEnvironment()));
  if (value === undefined) throw new UsageError(`"${name}" is not set.`);
  print(input, { name, value }, value);
};

const set: Action = async (_, name, argument) => {
  const setting = parseSetting(name);
  const value = setting.isSecret ? await readSecret(setting, argument) : argument;
  if (!value) throw new UsageError(`Which value? Run poproom config set ${name} VALUE.`);
  await change(setting, value);
  if (name === 'recent' && value === 'off') forgetAllRooms(readEnvironment());
};

const unset: Action = async (_, name) => change(parseSetting(name), undefined);

const actions = { list, get, set, unset };

async function change({ write }: Setting, value: string | undefined): Promise<void> {
  const environment = readEnvironment();
  const changed = write(readPreferences(environment), value);
  await withFileErrors(configFile(environment), async () => writePreferences(environment, changed));
}

/** Arguments are visible in the shell history and in the process list. */
async function readSecret({ name }: Setting, argument: string | undefined): Promise<string> {
  const what = /password$/.test(name) ? 'password' : 'API key';
  if (argument !== undefined)
    throw new UsageError(`Do not pass the ${what} as an argument: you are asked for it, or pipe it in.`);
  const typed = isPiped() ? (await readInputText()).trim() : await askHidden(`${name}: `);
  if (typed === undefined) throw new UsageError(`Cannot prompt for the ${what} without a terminal; pipe it in.`);
  return typed;
}

interface Setting {
  name: string;
  /** Whether its value is never an argument and never shown in full. */
  isSecret?: boolean;
  /** The value for the user. */
  shown(preferences: Preferences): string | undefined;
  /** Without a value, removes the setting. Throws if the value is invalid. */
  write(preferences: Preferences, value: string | undefined): Preferences;
}

const serverPattern = /^server\.([A-Za-z0-9_-]{1,40})\.(url|api-key|create-password)$/;
const fields = { url: 'url', 'api-key': 'apiKey', 'create-password': 'createPassword' } as const;

function parseSetting(name: string | undefined): Setting {
  if (name === undefined) throw new UsageError('Which setting? Give a name from poproom config --help.');
  const [, server, field = name] = serverPattern.exec(name) ?? [];
  if (Object.hasOwn(fields, field)) return serverSetting(name, server, fields[field as keyof typeof fields]);
  if (name === 'default') return defaultName;
  if (name === 'recent') return recent;
  throw new UsageError(
    `"${name}" is not a setting; use url, api-key, create-password, default, server.NAME.url, server.NAME.api-key, server.NAME.create-password or recent.`,
  );
}

/** All settings that have a value. */
function settingsIn(preferences: Preferences): { name: string; shown: string }[] {
  const servers = Object.keys(preferences.servers ?? {}).flatMap((name) =>
    Object.keys(fields).map((field) => `server.${name}.${field}`),
  );
  const names = [...Object.keys(fields), 'default', ...servers.filter((name) => serverPattern.test(name)), 'recent'];
  return names.flatMap((name) => {
    const shown = parseSetting(name).shown(preferences);
    return shown === undefined ? [] : [{ name, shown }];
  });
}

type Field = keyof ServerEntry;

/** Of the server without a name if `server` is undefined. */
function serverSetting(name: string, server: string | undefined, field: Field): Setting {
  const find = (all: Preferences) => (server === undefined ? all : serverNamed(all, server));
  return {
    name,
    isSecret: field !== 'url',
    shown: (preferences) => show(field, find(preferences)?.[field]),
    write(preferences, value) {
      if (server === undefined) return withField(preferences, field, value);
      const entry = serverNamed(preferences, server);
      if (field !== 'url' && value !== undefined && entry?.url === undefined)
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
  shown: (preferences) => preferences.default,
  write(preferences, value) {
    if (value !== undefined && serverNamed(preferences, value) === undefined)
      throw new UsageError(`There is no server "${value}"; add it with poproom config set server.NAME.url URL`);
    return withField(preferences, 'default', value);
  },
};

const recent: Setting = {
  name: 'recent',
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
  if (field === 'createPassword' && !/^[\x20-\x7e]{1,200}$/.test(value))
    throw new UsageError('A password has 1 to 200 ASCII characters.');
  return { ...rest, [field]: value };
}

/** Such as "pop_…x7Zq": enough to tell keys apart. Nothing of a password is shown. */
function show(field: Field, value: string | undefined): string | undefined {
  if (value === undefined || field === 'url') return value && printable(value);
  const end = field === 'apiKey' && value.length >= 24 ? value.slice(-4) : '';
  return `${value.startsWith('pop_') ? 'pop_' : ''}…${end}`;
}
