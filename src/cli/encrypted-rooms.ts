/** Remembers encrypted rooms on this computer, and finds their keys, which are never arguments. */
import { join } from 'node:path';
import { EncryptionError, PoproomError, type SeenVersion } from '../client/index.ts';
import type { Environment } from './environment.ts';
import { FileError } from './file-error.ts';
import { printable } from './printable.ts';
import { readIfExists, withFileLock, writePrivateFile } from './private-file.ts';
import { askHidden } from './question.ts';
import { serverIdOf } from './server-choice.ts';

export const keyArgumentRefused =
  'Do not pass a link with a room key as an argument: process lists and the shell history would show the key. Pass the code, and enter the key when you are asked; or pass - and pipe in the link.';

const maxRooms = 200;
/** A room is forgotten this long after it has expired and was last used, and never because a server says so. */
const keepMs = 7 * 24 * 60 * 60 * 1000;

/** A room that is remembered is encrypted, whatever a server says later. */
export interface KnownRoom {
  /** Only on the computer that created the room. */
  key?: string | undefined;
  /** Of the keys, in base64url. */
  salt?: string | undefined;
  /** ISO 8601 timestamp, the last one that a command has received. */
  expiresAt?: string | undefined;
  /** The newest version of the text that this computer has seen. */
  seen?: SeenVersion | undefined;
}

interface StoredRoom extends KnownRoom {
  /** Milliseconds since 1970. */
  usedAt?: number;
}

export interface EncryptedRooms {
  find(url: string, code: string): KnownRoom | undefined;
  /** Adds to what is known. Throws if the file cannot be written: without it, nobody could open a new room. */
  remember(url: string, code: string, room: KnownRoom): void;
  forget(url: string, code: string): void;
  /** Forgets the rooms with this code on all servers. Returns whether there were any. */
  forgetCode(code: string): boolean;
}

export function openEncryptedRooms({ stateFolder }: Environment, now: () => number = Date.now): EncryptedRooms {
  const path = join(stateFolder, 'encrypted-rooms.json');
  const nameOf = (url: string, code: string) => `${serverIdOf(url)} ${code}`;
  const read = () => readRooms(path, now());
  const write = (rooms: Rooms) => writePrivateFile(path, `${JSON.stringify(Object.fromEntries(rooms))}\n`);

  /** Returns whether there were such rooms. If not, the file is not touched. */
  function forgetThose(isMeant: (name: string) => boolean): boolean {
    if (![...read().keys()].some(isMeant)) return false;
    withFileLock(path, () => write(new Map([...read()].filter(([name]) => !isMeant(name)))));
    return true;
  }

  return {
    find: (url, code) => read().get(nameOf(url, code)),
    remember: (url, code, room) =>
      withFileLock(path, () => {
        const rooms = read();
        const name = nameOf(url, code);
        const known = rooms.get(name);
        const merged = { ...known, ...defined(room), seen: newest(known?.seen, room.seen), usedAt: now() };
        rooms.delete(name);
        write(evict(rooms, maxRooms - 1, now()).set(name, merged));
      }),
    forget: (url, code) => void forgetThose((name) => name === nameOf(url, code)),
    forgetCode: (code) => forgetThose((name) => name.endsWith(` ${code}`)),
  };
}

type Rooms = Map<string, StoredRoom>;

/** Fails if the file is damaged, because writing it again would erase the keys in it. */
function readRooms(path: string, now: number): Rooms {
  const entries = Object.entries(parse(path));
  return new Map(entries.filter(([, room]) => typeof room === 'object' && room !== null && isKept(room, now)));
}

function parse(path: string): Record<string, StoredRoom> {
  try {
    return JSON.parse(readIfExists(path) ?? '{}');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new FileError(`Cannot read ${path}, which has the keys of encrypted rooms: ${code ?? 'it is damaged'}.`);
  }
}

/** A server can name any expiry time, so a room that was used recently is kept too. */
function isKept({ expiresAt, usedAt = Number.POSITIVE_INFINITY }: StoredRoom, now: number): boolean {
  return now < Math.max(expiryOf(expiresAt) ?? 0, usedAt) + keepMs;
}

/** Drops rooms until there are at most this many: first those that expired longest ago, then the least recently used. */
function evict(rooms: Rooms, most: number, now: number): Rooms {
  const rank = ([, { expiresAt, usedAt = 0 }]: [string, StoredRoom]): [number, number] => {
    const expiry = expiryOf(expiresAt);
    return expiry !== undefined && expiry <= now ? [0, expiry] : [1, usedAt];
  };
  const ranked = [...rooms].map((entry) => ({ entry, rank: rank(entry) }));
  ranked.sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1]);
  return new Map(ranked.slice(Math.max(0, rooms.size - most)).map(({ entry }) => entry));
}

function expiryOf(expiresAt: string | undefined): number | undefined {
  const time = Date.parse(expiresAt ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/** Another command may have seen more in the meantime. */
const newest = (known: SeenVersion | undefined, seen: SeenVersion | undefined): SeenVersion | undefined =>
  known && known.version > (seen?.version ?? -1) ? known : seen;

const defined = (room: KnownRoom): KnownRoom =>
  Object.fromEntries(Object.entries(room).filter(([, value]) => value !== undefined));

/** The key in a link, or the text itself. */
export const keyIn = (text: string): string => /#(.+)$/.exec(text.trim())?.[1] ?? text.trim();

export const keyFromEnvironment = ({ roomKey }: Environment): string | undefined =>
  roomKey === undefined ? undefined : keyIn(roomKey);

/** Prompts for a key if the error is about the key. Throws any other error. */
export async function retryKey(error: unknown, code: string): Promise<string> {
  if (!(error instanceof PoproomError)) throw error;
  const isWrong = error.code === 'KEY_INCORRECT' && error.details.lockedFor === undefined;
  if (!isWrong && error.code !== 'KEY_REQUIRED') throw error;
  if (isWrong) process.stderr.write(`${printable(error.message)}\n`);
  return requireKey(code);
}

/** Prompts for the key of an encrypted room. Fails without a terminal. */
export async function requireKey(code: string): Promise<string> {
  const key = await askKey(`Key of room ${code}: `);
  if (key !== undefined) return key;
  throw new PoproomError('KEY_REQUIRED', 'This room is encrypted; set POPROOM_ROOM_KEY to its room key.');
}

/** Accepts a key or a link. A typo is detected locally, so that it does not use up a try. */
async function askKey(question: string): Promise<string | undefined> {
  const { parseRoomKey } = await import('../client/crypto/room-key.ts');
  for (;;) {
    const text = await askHidden(question);
    if (text === undefined) return undefined;
    try {
      return parseRoomKey(keyIn(text));
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error;
      process.stderr.write(`${error.message}\n`);
    }
  }
}
