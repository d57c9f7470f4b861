/** Defines what a command is. Help, completion and argument parsing are derived from it. */
import { parseArgs } from 'node:util';
import { hasPinArgument, pinArgumentRefused } from './pin-argument.ts';
import { suggestName } from './suggestion.ts';
import { UsageError } from './usage-error.ts';

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

/** Whether the first argument of a command is, or may be, a room code. */
export const takesCode = ({ args }: Command): boolean => /^\[?CODE\b/.test(args);

export interface Input {
  args: readonly string[];
  /** Returns the value of an option that takes one. */
  value(option: string): string | undefined;
  isSet(option: string): boolean;
}

/** Every command has this option. */
export const help: Option = { short: 'h', summary: 'show this help' };

/** Most commands have this one. */
export const json: Option = { summary: 'print JSON' };

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

export function readInput(command: Command, args: string[]): Input {
  if (hasPinArgument(args)) throw new UsageError(pinArgumentRefused);
  const { values, positionals } = parse(command, args);
  return {
    args: positionals,
    value(option) {
      const value = values[option];
      return typeof value === 'string' ? value : undefined;
    },
    isSet: (option) => values[option] === true,
  };
}

function parse({ name, options }: Command, args: string[]): { values: Values; positionals: string[] } {
  const all = { ...options, help };
  const known = Object.entries(all).map(([option, { value, short }]) => {
    return [option, { type: value ? ('string' as const) : ('boolean' as const), ...(short && { short }) }] as const;
  });
  try {
    return parseArgs({ args, options: Object.fromEntries(known), allowPositionals: true });
  } catch (error) {
    // Only the first sentence is meant for users.
    const [sentence = ''] = (error as Error).message.split(/\.( |$)|\n/, 1);
    throw new UsageError(`${sentence}; ${suggestOption(sentence, Object.keys(all))}see poproom ${name} --help.`);
  }
}

/** Such as "did you mean --expires? Or ", if the sentence is about an option that does not exist. */
function suggestOption(sentence: string, known: readonly string[]): string {
  const [, unknown = ''] = /^Unknown option '--([^'=]+)/.exec(sentence) ?? [];
  const nearest = suggestName(unknown, known);
  return nearest === undefined ? '' : `did you mean --${nearest}? Or `;
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
  return rows
    .map(([left, right]) => {
      if (left.length <= width) return `  ${left.padEnd(width)}  ${right}`.trimEnd();
      return `  ${left}\n  ${' '.repeat(width)}  ${right}`.trimEnd();
    })
    .join('\n');
}
