/** Defines what a command is. Help, completion and argument parsing are derived from it. */
import { parseArgs } from 'node:util';
import { UsageError } from './errors.ts';

export interface Option {
  /** Placeholder for the value, such as `TIME`. An option without one is a flag. */
  value?: string;
  short?: string;
  summary: string;
  /** Completions for the value. */
  choices?: readonly string[] | 'file';
}

export interface Command {
  name: string;
  /** Arguments after the name, such as `CODE [TEXT|-]`. */
  args: string;
  summary: string;
  /** Further paragraphs for the help, with line breaks. */
  details?: string;
  options: Readonly<Record<string, Option>>;
  /** Command lines, each with a description. */
  examples: readonly (readonly [line: string, summary: string])[];
  /** Completions for the arguments. */
  choices?: readonly string[] | 'file';
  load(): Promise<(input: Input) => Promise<void>>;
}

/** Commands by name. */
export type CommandTable = Readonly<Record<string, CommandRow>>;
type CommandRow = Omit<Command, 'name' | 'args' | 'options'> & Partial<Pick<Command, 'args' | 'options'>>;

export const commandsIn = (table: CommandTable, args = ''): readonly Command[] =>
  Object.entries(table).map(([name, row]) => ({ name, args, options: {}, ...row }));

export const takes = (value: string, summary: string, more?: Partial<Option>): Option => ({ value, summary, ...more });

/** Whether the first argument of a command is, or may be, a room code. */
export const takesCode = ({ args }: Command): boolean => /^\[?CODE\b/.test(args);

export const help: Option = { short: 'h', summary: 'show this help' };

export const json: Option = { summary: 'print JSON' };

export type Input = ReturnType<typeof readInput>;

export function readInput(command: Command, args: string[]) {
  if (hasPinArgument(args)) throw new UsageError(pinArgumentRefused);
  const { values, positionals } = parse(command, args);
  return {
    args: positionals as readonly string[],
    value(option: string): string | undefined {
      const value = values[option];
      return typeof value === 'string' ? value : undefined;
    },
    isSet: (option: string) => values[option] === true,
  };
}

function parse({ name, options }: Command, args: string[]) {
  const all = { ...options, help };
  const known = Object.entries(all).map(([option, { value, short }]) => {
    return [option, { type: value ? 'string' : 'boolean', ...(short && { short }) }] as const;
  });
  try {
    return parseArgs({ args, options: Object.fromEntries(known), allowPositionals: true });
  } catch (error) {
    // Only the first sentence is meant for users.
    const [sentence = ''] = (error as Error).message.split(/\.( |$)|\n/, 1);
    const [, unknown = ''] = /^Unknown option '--([^'=]+)/.exec(sentence) ?? [];
    const nearest = suggestName(unknown, Object.keys(all));
    const suggestion = nearest === undefined ? '' : `did you mean --${nearest}? Or `;
    throw new UsageError(`${sentence}; ${suggestion}see poproom ${name} --help.`);
  }
}

export function helpOf({ name, args, summary, details, options, examples }: Command): string {
  const usage = ['poproom', name, args].filter(Boolean).join(' ');
  const optionRows = Object.entries({ ...options, help }).map(([option, { value, short, summary }]) => {
    return [`${short ? `-${short}, ` : ''}--${option}${value ? ` ${value}` : ''}`, summary] as const;
  });
  return [
    `${usage}: ${summary}`,
    ...(details ? [details.trim()] : []),
    `Options:\n${formatColumns(optionRows)}`,
    ...(examples.length > 0 ? [`Examples:\n${formatColumns(examples)}`] : []),
  ].join('\n\n');
}

/** A left cell that is too long gets a line of its own. */
export function formatColumns(rows: readonly (readonly [string, string])[]): string {
  const fitting = rows.map(([left]) => left.length).filter((length) => length <= 44);
  const width = Math.max(...fitting, 0);
  const lines = rows.map(([left, right]) => {
    const start = left.length <= width ? left.padEnd(width) : `${left}\n  ${' '.repeat(width)}`;
    return `  ${start}  ${right}`.trimEnd();
  });
  return lines.join('\n');
}

/** The key of an encrypted room in a link, or the text itself. */
export const keyIn = (text: string): string => /#(.+)$/.exec(text.trim())?.[1] ?? text.trim();

export const isPin = (text: string) => /^[0-9]{4}$/.test(text);

export const pinArgumentRefused = 'Do not pass the PIN as an argument: you are asked for it, or set POPROOM_PIN.';

/** In the arguments, the shell history and the process list would expose a PIN. */
const hasPinArgument = (args: readonly string[]): boolean =>
  beforeDashes(args).some((arg, i, options) => {
    return /^--(new-)?pin=/.test(arg) || (/^--(new-)?pin$/.test(arg) && isPin(options[i + 1] ?? ''));
  });

/** The arguments that may be options. */
export function beforeDashes(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return end < 0 ? args : args.slice(0, end);
}

/** Rejects further arguments of a command that takes only a room code. */
export function assertArguments(command: Command, { args }: Input): void {
  if (args.length > 1 && /^(CODE|\[CODE\])( --|$)/.test(command.args))
    throw new UsageError(`"poproom ${command.name}" takes only a room code; unexpected argument "${args[1]}".`);
}

const secondsPer: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

export function readDuration(text: string): number {
  const [, number, unit = 's'] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  const seconds = Number(number) * (secondsPer[unit || 's'] ?? Number.NaN);
  if (seconds >= 60) return seconds;
  throw new UsageError(`"${text}" is not a valid duration; use a minute or more, such as 45m, 2h or 3d.`);
}

/** `source` is the command that shows the versions, such as `poproom history`. */
export function readVersion(text: string, source: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`"${text}" is not a version; use a whole number from "${source}".`);
}

/** Words for commands that people know from other programs. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  fetch: ['download', 'pull', 'receive'],
  get: ['cat', 'read'],
  info: ['show', 'status'],
  new: ['create'],
  put: ['paste', 'write'],
  recent: ['ls'],
  rm: ['delete', 'remove'],
  send: ['add', 'cp', 'push', 'share', 'upload'],
  serve: ['server', 'start'],
  watch: ['join'],
};

export const suggestCommand = (name: string, known: readonly string[]): string | undefined =>
  Object.keys(synonyms).find((command) => synonyms[command]?.includes(name)) ?? suggestName(name, known);

/** Without the same first letter, two short names are near each other by chance. */
function suggestName(name: string, known: readonly string[]): string | undefined {
  const similar = known.filter((candidate) => candidate[0] === name[0]);
  return nearestName(name, similar);
}

/** Returns the name with the smallest edit distance, or undefined if none is close. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const near = known.filter((candidate) => distanceOf(name, candidate) <= Math.max(2, name.length / 4));
  return near.toSorted((a, b) => distanceOf(name, a) - distanceOf(name, b))[0];
}

/** Levenshtein distance. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, otherLetter] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === otherLetter ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
