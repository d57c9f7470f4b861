/** Tells the room of `poproom send` from the files. */
import { lstatSync } from 'node:fs';
import { parseRoomCode } from '../../client/index.ts';
import type { Input } from '../command.ts';
import { isRoomLink } from '../server-context.ts';
import { UsageError } from '../usage-error.ts';

export interface SendTarget {
  /** A code or a link. Undefined means a new room. */
  room: string | undefined;
  paths: readonly string[];
}

/** Without `--to`, the first argument is the room if it is a link or a code, and a file if it exists. */
export function readTarget(input: Input): SendTarget {
  const { args } = input;
  const to = input.value('to');
  if (to !== undefined) return { room: to, paths: args };
  const [first, ...rest] = args;
  if (first === undefined) throw new UsageError('Which files? Give their paths, or - for standard input.');
  if (isRoomLink(first)) return { room: first, paths: rest };
  const isCode = parseRoomCode(first) !== undefined;
  if (first === '-' || exists(first)) {
    // A code alone makes no sense, so a single argument that exists is a file.
    if (rest.length > 0 && isSpelledAsCode(first)) throw new UsageError(explainAmbiguous(first));
    return { room: undefined, paths: args };
  }
  if (isCode && rest.length === 0) throw new UsageError(explainMissing(first));
  if (isCode || /^https?:/.test(first)) return { room: first, paths: rest };
  if (exists(rest[0])) throw new UsageError(`"${first}" is not a valid room code, and there is no such file.`);
  return { room: undefined, paths: args };
}

/** A name such as "photos" is also accepted as a code, because O is read as 0, but no code is printed like this. */
function isSpelledAsCode(text: string): boolean {
  return parseRoomCode(text) === text.replaceAll('-', '').toUpperCase();
}

const explainMissing = (text: string) =>
  `There is no file "${text}"; if it is a room code, give the paths of the files after it, or - for standard input.`;

const explainAmbiguous = (text: string) =>
  `"${text}" is a file here, and could be a room code; write ./${text} for the file, or --to ${text} for the room.`;

function exists(path: string | undefined): boolean {
  if (path === undefined) return false;
  return path === '-' || lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
