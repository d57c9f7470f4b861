/** Keys of encrypted rooms: kept by the computer that created them, from the environment or a prompt; never arguments. */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EncryptionError, PoproomError, type SeenVersion } from '../client/index.ts';
import type { Environment } from './environment.ts';
import { printable } from './printable.ts';
import { askHidden } from './question.ts';
import { serverIdOf } from './server-choice.ts';

export const keyArgumentRefused =
  'Do not pass a link with a room key as an argument: process lists and the shell history would show the key. Pass the code, and enter the key when you are asked; or pass - and pipe in the link.';

/** Rooms are short-lived, so only the newest are kept. */
const maxKeys = 200;

export interface KnownRoom {
  key: string;
  /** The newest version of the text that this computer has seen. */
  seen?: SeenVersion | undefined;
}

export interface RoomKeys {
  find(url: string, code: string): KnownRoom | undefined;
  /** Throws if the file cannot be written: without it, nobody could open the room. */
  keep(url: string, code: string, room: KnownRoom): void;
  forget(url: string, code: string): void;
}

export function openRoomKeys({ stateFolder }: Environment): RoomKeys {
  const path = join(stateFolder, 'room-keys.json');
  const nameOf = (url: string, code: string) => `${serverIdOf(url)} ${code}`;

  /** Readable only by its owner. A new file replaces the old one, so that a crash cannot leave half of it. */
  function write(rooms: Map<string, KnownRoom>): void {
    const temporary = `${path}.${randomUUID()}`;
    try {
      mkdirSync(stateFolder, { recursive: true });
      writeFileSync(temporary, `${JSON.stringify(Object.fromEntries([...rooms].slice(-maxKeys)))}\n`, { mode: 0o600 });
      chmodSync(temporary, 0o600);
      renameSync(temporary, path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  return {
    find: (url, code) => readRooms(path).get(nameOf(url, code)),
    keep(url, code, room) {
      const rooms = readRooms(path);
      rooms.delete(nameOf(url, code));
      write(rooms.set(nameOf(url, code), room));
    },
    forget(url, code) {
      const rooms = readRooms(path);
      if (rooms.delete(nameOf(url, code))) write(rooms);
    },
  };
}

function readRooms(path: string): Map<string, KnownRoom> {
  try {
    const entries = Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, KnownRoom>);
    return new Map(entries.filter(([, room]) => typeof room?.key === 'string'));
  } catch {
    return new Map();
  }
}

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
  const key = await askKey(`Key of room ${code}: `);
  if (key !== undefined) return key;
  // The message of the server is about headers.
  throw new PoproomError('KEY_REQUIRED', 'This room is encrypted; set POPROOM_ROOM_KEY to its room key.');
}

/** Accepts a key or a link. A typo is detected locally, so that it does not use up a try. */
async function askKey(question: string): Promise<string | undefined> {
  const { parseRoomKey } = await import('../client/crypto/index.ts');
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
