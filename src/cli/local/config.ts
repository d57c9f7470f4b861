/** `poproom config`: shows and changes the config file. */
import type { Input } from '../command.ts';
import { readEnvironment } from '../environment.ts';
import { withFileErrors } from '../file-error.ts';
import { print, printNotice } from '../output.ts';
import { configFile, type Preferences, readPreferences, writePreferences } from '../preferences.ts';
import { askHidden } from '../question.ts';
import { forgetAllRooms } from '../recent-rooms.ts';
import { isPiped, readInputText } from '../standard-input.ts';
import { table } from '../table.ts';
import { UsageError } from '../usage-error.ts';
import { parseSetting, type Setting, settingsIn } from './config-settings.ts';

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
  const { shown } = requireSetting(name);
  const value = shown(readPreferences(readEnvironment()));
  if (value === undefined) throw new UsageError(`"${name}" is not set.`);
  print(input, { name, value }, value);
};

const set: Action = async (_, name, argument) => {
  const setting = requireSetting(name);
  const value = setting.isSecret ? await readSecret(setting, argument) : argument;
  if (!value) throw new UsageError(`Which value? Run poproom config set ${name} VALUE.`);
  await change((preferences) => setting.write(preferences, value));
  if (name === 'recent' && value === 'off') forgetAllRooms(readEnvironment());
};

const unset: Action = async (_, name) => {
  const setting = requireSetting(name);
  await change((preferences) => setting.write(preferences, undefined));
};

const actions = { list, get, set, unset };

function requireSetting(name: string | undefined): Setting {
  if (name === undefined) throw new UsageError('Which setting? Give a name from poproom config --help.');
  return parseSetting(name);
}

async function change(edit: (preferences: Preferences) => Preferences): Promise<void> {
  const environment = readEnvironment();
  const changed = edit(readPreferences(environment));
  await withFileErrors(configFile(environment), async () => writePreferences(environment, changed));
}

/** Arguments are visible in the shell history and in the process list. */
async function readSecret({ name }: Setting, argument: string | undefined): Promise<string> {
  if (argument !== undefined)
    throw new UsageError('Do not pass the API key as an argument: you are asked for it, or pipe it in.');
  const typed = isPiped() ? (await readInputText()).trim() : await askHidden(`${name}: `);
  if (typed === undefined) throw new UsageError('Cannot prompt for the API key without a terminal; pipe it in.');
  return typed;
}
