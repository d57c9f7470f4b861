/** The output of commands: text that is safe to show, tables, quantities, or JSON with `--json`. */
import { emojiSet, hiddenSet, isEmoji, replaceHidden } from '../core/files/local-name.ts';
import type { Input } from './command.ts';
import { ExitError } from './errors.ts';

export function print(input: Input, value: unknown, text: string): void {
  console.log(input.isSet('json') ? formatJson(value) : text);
}

/** One line of JSON. Escapes control and invisible characters that JSON.stringify leaves as they are. */
export const formatJson = (value: unknown): string =>
  replaceHidden(JSON.stringify(value), (character) => character.split('').map(escaped).join(''));

/** Undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Prints a list. One that is empty is a notice, unless a program reads it. */
export function printList(input: Input, values: readonly unknown[], text: string, emptyNotice: string): void {
  if (values.length > 0 || input.isSet('json')) print(input, values, text);
  else printNotice(emptyNotice);
}

/** The response of a server that has done something. */
export const printDone = <T extends { message: string }>(input: Input, done: T): void =>
  print(input, done, printable(done.message));

/** Writes to standard error, only if it is a terminal. */
export function printNotice(sentence: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${sentence}\n`);
}

/** Such as "2026-11-15 09:30:05": the Swedish locale uses the ISO 8601 format. */
export const localTime = (timestamp: string): string => new Date(timestamp).toLocaleString('sv-SE');

const replacement = '\u{FFFD}';

const hiddenInText = new RegExp(String.raw`${emojiSet}|\r(?!\n)|[${hiddenSet}--[\r\n\t]]`, 'gv');

/** Replaces control and invisible characters in text from others before it is shown on a terminal. */
export const printable = (text: string): string => replaceHidden(text, () => replacement);

/** The same for a text of several lines: keeps line breaks and tabs. */
export const printableText = (text: string): string =>
  text.replaceAll(hiddenInText, (found) => (isEmoji(found) ? found : replacement));

export function table(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const lineOf = (row: readonly string[]) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ');
  return rows.map((row) => lineOf(row).trimEnd()).join('\n');
}

/** Formats a number of bytes, such as "10 MiB" or "1.5 MiB". */
export function formatBytes(bytes: number): string {
  const units = [bytes === 1 ? 'byte' : 'bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const number = (bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1);
  return `${number.replace(/\.0$/, '')} ${units[step]}`;
}

/** Such as "2 h 5 min", rounded to minutes. */
export function formatDuration(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  const parts = days > 0 ? [`${days} d`, hours && `${hours} h`] : [hours && `${hours} h`, `${minutes % 60} min`];
  return parts.filter(Boolean).join(' ');
}

const soonMs = 30 * 86_400_000;

/** When a room expires. Nobody counts the days of one that lasts longer. */
export function formatExpiry(expiresAt: string): string {
  const left = Date.parse(expiresAt) - Date.now();
  return left > soonMs ? 'does not expire soon' : `expires in ${formatDuration(left)}`;
}

/** `1 room`, `2 rooms`. */
export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Resolves when all bytes are written. If the reader is gone (EPIPE), the command ends successfully. */
export async function writeStdout(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    process.stdout.write(chunk, (error) => (error ? reject(error) : resolve()));
    await promise.catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EPIPE' ? new ExitError(0) : error;
    });
  }
}

/** Prints a text: unchanged to a pipe, without control characters on a terminal, or as JSON. */
export function printContent(input: Input, text: { content: string }): void {
  const { content } = text;
  // On a terminal, the shell prompt starts on a new line.
  const end = content === '' || content.endsWith('\n') ? '' : '\n';
  if (input.isSet('json')) console.log(formatJson(text));
  else process.stdout.write(process.stdout.isTTY ? printableText(content) + end : content);
}

interface Batch<T> {
  items: readonly T[];
  /** Such as "Sent". */
  verb: string;
  /** The output of `--json`, also if nothing is done. Default: the values as an array, if there are any. */
  toJson?: ((values: readonly unknown[]) => unknown) | undefined;
}

type Work<T> = (item: T) => Promise<{ value: unknown; line: string }>;

/** Prints the line of each result, or with `--json` all values at the end. A failure reports which are done. */
export async function runSequentially<T extends { name: string }>(input: Input, batch: Batch<T>, work: Work<T>) {
  const { items, verb, toJson } = batch;
  const done: unknown[] = [];
  try {
    for (const item of items) {
      const { value, line } = await work(item);
      done.push(value);
      if (!input.isSet('json')) console.log(line);
    }
  } catch (error) {
    // With --json, the output lists those that are done.
    if (done.length > 0 && !input.isSet('json')) console.error(partialResult(verb, items, done.length));
    throw error;
  } finally {
    const isPrinted = toJson !== undefined || done.length > 0 || items.length === 0;
    if (input.isSet('json') && isPrinted) console.log(formatJson(toJson ? toJson(done) : done));
  }
}

function partialResult(verb: string, items: readonly { name: string }[], count: number): string {
  const names = (some: readonly { name: string }[]) => some.map(({ name }) => `"${printable(name)}"`).join(', ');
  return `${verb}: ${names(items.slice(0, count))}; not ${verb.toLowerCase()}: ${names(items.slice(count))}.`;
}
