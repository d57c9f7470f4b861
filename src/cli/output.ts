/** What a command prints: for people, or with `--json` for programs. */
import type { Input } from './command.ts';
import { replaceHidden } from './printable.ts';

export function print(input: Input, value: unknown, text: string): void {
  console.log(input.isSet('json') ? inJson(value) : text);
}

/** On one line. JSON leaves some characters as they are that a terminal would obey or not show. */
export function inJson(value: unknown): string {
  return replaceHidden(JSON.stringify(value), (character) => character.split('').map(escaped).join(''));
}

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** For people alone, beside what a program reads. */
export function remark(sentence: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${sentence}\n`);
}
