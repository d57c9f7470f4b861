/** `poproom config`: shows and changes the config file. */
import type { Input } from '../command.ts';
import { readEnvironment } from '../environment.ts';
import { UsageError, withFileErrors } from '../errors.ts';
import { forgetAllRooms } from '../known-rooms.ts';
import { print, printable, printNotice, table } from '../output.ts';
import { configFile, type Preferences, readPreferences, serverNamed, writePreferences } from '../preferences.ts';
import { askHidden, isPiped, readInputText } from '../prompt.ts';
import { parseServerUrl } from '../server-context.ts';

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
  const value = shownOf(readPreferences(readEnvironment()), parseSetting(name));
  if (value === undefined) throw new UsageError(`"${name}" is not set.`);
  print(input, { name, value }, value);
};

const set: Action = async (_, name, argument) => {
  const setting = parseSetting(name);
  const value = isSecret(setting.field) ? await readSecret(setting, argument) : argument;
  if (!value) throw new UsageError(`Which value? Run poproom config set ${name} VALUE.`);
  await change(setting, value);
  if (name === 'recent' && value === 'off') forgetAllRooms(readEnvironment());
};

const unset: Action = async (_, name) => change(parseSetting(name), undefined);

const actions = { list, get, set, unset };

async function change(setting: Setting, value: string | undefined): Promise<void> {
  const environment = readEnvironment();
  const preferences = changed(readPreferences(environment), setting, value);
  await withFileErrors(configFile(environment), async () => writePreferences(environment, preferences));
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

/** The fields of the config file, by the names of the settings. */
const fields = {
  url: 'url',
  'api-key': 'apiKey',
  'create-password': 'createPassword',
  default: 'default',
  recent: 'recent',
} as const;
type Field = (typeof fields)[keyof typeof fields];

const serverPattern = /^server\.([A-Za-z0-9_-]{1,40})\.(url|api-key|create-password)$/;

/** `server` is undefined for the server without a name, and for settings that are not about a server. */
type Setting = { name: string; server: string | undefined; field: Field };

function parseSetting(name: string | undefined): Setting {
  if (name === undefined) throw new UsageError('Which setting? Give a name from poproom config --help.');
  const [, server, field = name] = serverPattern.exec(name) ?? [];
  if (Object.hasOwn(fields, field)) return { name, server, field: fields[field as keyof typeof fields] };
  throw new UsageError(
    `"${name}" is not a setting; use url, api-key, create-password, default, server.NAME.url, server.NAME.api-key, server.NAME.create-password or recent.`,
  );
}

/** All settings that have a value. */
function settingsIn(preferences: Preferences): { name: string; shown: string }[] {
  const servers = Object.keys(preferences.servers ?? {}).flatMap((name) =>
    Object.keys(fields).map((field) => `server.${name}.${field}`),
  );
  const { recent, ...others } = fields;
  const names = [...Object.keys(others), ...servers.filter((name) => serverPattern.test(name)), recent];
  return names.flatMap((name) => {
    const shown = shownOf(preferences, parseSetting(name));
    return shown === undefined ? [] : [{ name, shown }];
  });
}

/** Whether its value is never an argument and never shown in full. */
const isSecret = (field: Field) => field === 'apiKey' || field === 'createPassword';

/** A key such as "pop_…x7Zq": enough to tell keys apart. Nothing of a password is shown. */
function shownOf(preferences: Preferences, { server, field }: Setting): string | undefined {
  const entry: Preferences | undefined = server === undefined ? preferences : serverNamed(preferences, server);
  const value = entry?.[field];
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (value === undefined || !isSecret(field)) return value && printable(value);
  const end = field === 'apiKey' && value.length >= 24 ? value.slice(-4) : '';
  return `${value.startsWith('pop_') ? 'pop_' : ''}…${end}`;
}

/** Without a text, removes the setting. Throws if the text is invalid. */
function changed(preferences: Preferences, { server, field }: Setting, text: string | undefined): Preferences {
  if (server === undefined) return withField(preferences, field, text);
  const entry = serverNamed(preferences, server);
  if (field !== 'url' && text !== undefined && entry?.url === undefined)
    throw new UsageError(`Set the URL of the server first: poproom config set server.${server}.url URL`);
  const { [server]: _, ...others } = preferences.servers ?? {};
  const changed = withField(entry ?? {}, field, text);
  if (changed.url !== undefined) return { ...preferences, servers: { ...others, [server]: changed } };
  if (preferences.default === server)
    throw new UsageError(`"${server}" is the default server; run poproom config unset default first.`);
  // A key without a URL would be for no server.
  return { ...preferences, servers: others };
}

function withField(entry: Preferences, field: Field, text: string | undefined): Preferences {
  const { [field]: _, ...rest } = entry;
  return text === undefined ? rest : { ...rest, [field]: parsedValue(entry, field, text) };
}

function parsedValue(entry: Preferences, field: Field, text: string): string | boolean {
  if (field === 'url') parseServerUrl(text);
  if (field === 'apiKey' && !/^[\x21-\x7e]{1,200}$/.test(text))
    throw new UsageError('An API key has 1 to 200 characters, without spaces.');
  if (field === 'createPassword' && !/^[\x20-\x7e]{1,200}$/.test(text))
    throw new UsageError('A password has 1 to 200 ASCII characters.');
  if (field === 'default' && serverNamed(entry, text) === undefined)
    throw new UsageError(`There is no server "${text}"; add it with poproom config set server.NAME.url URL`);
  if (field !== 'recent') return text;
  if (text !== 'on' && text !== 'off') throw new UsageError('recent is on or off.');
  return text === 'on';
}
