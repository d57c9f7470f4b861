/** Prints the result of a command as text, or with `--json` as JSON. */
import type { Input } from './command.ts';
import { replaceHidden } from './printable.ts';

export function print(input: Input, value: unknown, text: string): void {
  console.log(input.isSet('json') ? formatJson(value) : text);
}

/** One line of JSON. Escapes control and invisible characters that JSON.stringify leaves as they are. */
export function formatJson(value: unknown): string {
  return replaceHidden(JSON.stringify(value), (character) => character.split('').map(escaped).join(''));
}

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Writes to standard error, only if it is a terminal. */
export function printNotice(sentence: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${sentence}\n`);
}
