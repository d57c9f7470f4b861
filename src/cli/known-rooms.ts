/** The rooms that this computer remembers: the recent ones, and encrypted ones with their keys. */
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SeenVersion } from '../client/index.ts';
import { parseRoomId } from '../protocol/room-code.ts';
import type { Environment } from './environment.ts';
import { FileError } from './errors.ts';
import { readIfExists, readPreferences, readStateFile, writeJson, writeStateFile } from './preferences.ts';

const maxRecentRooms = 50;
/** Rooms whose expiry time is unknown are forgotten a week after their last use. */
const maxUnusedMs = 7 * 24 * 60 * 60 * 1000;

export interface RecentRoom {
  url: string;
  code: string;
  /** Milliseconds since 1970. */
  usedAt: number;
  /** ISO 8601 timestamp. Undefined if no command has read it yet. */
  expiresAt?: string | undefined;
  name?: string | undefined;
}

export type RoomDetails = Pick<RecentRoom, 'expiresAt' | 'name'>;

type RoomKey = Pick<RecentRoom, 'url' | 'code'>;

/** The last used room is first. */
export function readRecentRooms(environment: Environment): RecentRoom[] {
  const parse = (rooms: RecentRoom[]) => rooms.filter(isCurrentRoom).slice(0, maxRecentRooms);
  return readStateFile(recentFile(environment), [], parse);
}

/** Details that are already known are kept. Failures are ignored: the command itself has succeeded. */
export function rememberRoom(environment: Environment, { url, code }: RoomKey, details: RoomDetails = {}): void {
  if (!keepsRecentRooms(environment)) return;
  const rooms = readRecentRooms(environment);
  const known = rooms.find((room) => isSameRoom(room, { url, code }));
  const newest = { ...known, ...details, url, code, usedAt: Date.now() };
  const all = [newest, ...rooms.filter((room) => room !== known)];
  writeStateFile(recentFile(environment), all.slice(0, maxRecentRooms));
}

export function forgetRoom(environment: Environment, room: RoomKey): void {
  const rooms = readRecentRooms(environment);
  const others = rooms.filter((other) => !isSameRoom(other, room));
  if (others.length < rooms.length) writeStateFile(recentFile(environment), others);
}

export function forgetAllRooms(environment: Environment): void {
  rmSync(recentFile(environment), { force: true });
}

/** Both `POPROOM_RECENT=off` and `poproom config set recent off` disable the list. */
export const keepsRecentRooms = (environment: Environment): boolean =>
  environment.keepsRecentRooms && readPreferences(environment).recent !== false;

const recentFile = ({ stateFolder }: Environment) => join(stateFolder, 'recent.json');
const isSameRoom = (a: RoomKey, b: RoomKey) => a.url === b.url && a.code === b.code;

/** Also drops malformed entries. */
function isCurrentRoom({ url, code, usedAt, expiresAt, name }: RecentRoom): boolean {
  const isWellFormed = URL.canParse(url) && parseRoomId(String(code)) === code && Number.isFinite(usedAt);
  const hasName = name === undefined || typeof name === 'string';
  const until = expiresAt === undefined ? usedAt + maxUnusedMs : Date.parse(expiresAt);
  return isWellFormed && hasName && until > Date.now();
}

const maxEncryptedRooms = 200;
/** A room is forgotten this long after it has expired and was last used, and never because a server says so. */
const keepMs = 7 * 24 * 60 * 60 * 1000;

/** A room that is remembered is encrypted, whatever a server says later. */
export interface KnownEncryptedRoom {
  /** Only on the computer that created the room. */
  key?: string | undefined;
  /** Of the keys, in base64url. */
  salt?: string | undefined;
  /** ISO 8601 timestamp, the last one that a command has received. */
  expiresAt?: string | undefined;
  /** The newest version of the text that this computer has seen. */
  seen?: SeenVersion | undefined;
}

/** With the time of the last use, in milliseconds since 1970. */
type StoredEncryptedRoom = KnownEncryptedRoom & { usedAt?: number };

export function openEncryptedRooms({ stateFolder }: Environment, now: () => number = Date.now) {
  const path = join(stateFolder, 'encrypted-rooms.json');
  const nameOf = (url: string, code: string) => `${serverIdOf(url)} ${code}`;
  const read = () => readEncryptedRooms(path, now());
  const write = (rooms: StoredRooms) => writeJson(path, Object.fromEntries(rooms));

  /** Returns whether there were such rooms. If not, the file is not touched. */
  function forgetThose(isMeant: (name: string) => boolean): boolean {
    if (![...read().keys()].some(isMeant)) return false;
    withFileLock(path, () => write(new Map([...read()].filter(([name]) => !isMeant(name)))));
    return true;
  }

  return {
    find: (url: string, code: string): KnownEncryptedRoom | undefined => read().get(nameOf(url, code)),
    /** Adds to what is known. Throws if the file cannot be written: without it, nobody could open a new room. */
    remember: (url: string, code: string, room: KnownEncryptedRoom) =>
      withFileLock(path, () => {
        const rooms = read();
        const name = nameOf(url, code);
        const known = rooms.get(name);
        const merged = { ...known, ...defined(room), seen: newestVersion(known?.seen, room.seen), usedAt: now() };
        rooms.delete(name);
        write(evict(rooms, maxEncryptedRooms - 1, now()).set(name, merged));
      }),
    forget: (url: string, code: string) => forgetThose((name) => name === nameOf(url, code)),
    /** Forgets the rooms with this code on all servers. */
    forgetCode: (code: string) => forgetThose((name) => name.endsWith(` ${code}`)),
  };
}

/** The same for all spellings of a URL. A host may have other servers at other paths. */
export function serverIdOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}

type StoredRooms = Map<string, StoredEncryptedRoom>;

/** Fails if the file is damaged, because writing it again would erase the keys in it. */
function readEncryptedRooms(path: string, now: number): StoredRooms {
  try {
    const stored: Record<string, StoredEncryptedRoom> = JSON.parse(readIfExists(path) ?? '{}');
    return new Map(Object.entries(stored).filter(([, room]) => room && typeof room === 'object' && isKept(room, now)));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new FileError(`Cannot read ${path}, which has the keys of encrypted rooms: ${code ?? 'it is damaged'}.`);
  }
}

/** A server can name any expiry time, so a room that was used recently is kept too. */
const isKept = ({ expiresAt, usedAt = Number.POSITIVE_INFINITY }: StoredEncryptedRoom, now: number): boolean =>
  now < Math.max(expiryOf(expiresAt), usedAt) + keepMs;

/** Drops rooms until there are at most this many: first those that expired longest ago, then the least recently used. */
function evict(rooms: StoredRooms, most: number, now: number): StoredRooms {
  // Negative if the room has expired.
  const rank = ({ expiresAt, usedAt = 0 }: StoredEncryptedRoom) => {
    const expiry = expiryOf(expiresAt);
    return expiry !== 0 && expiry <= now ? expiry - now - 1 : usedAt;
  };
  const ranked = [...rooms].sort(([, a], [, b]) => rank(a) - rank(b));
  return new Map(ranked.slice(Math.max(0, rooms.size - most)));
}

/** 0 if it is unknown. */
const expiryOf = (expiresAt = ''): number => Date.parse(expiresAt) || 0;

/** Another command may have seen more in the meantime. */
const newestVersion = (known: SeenVersion | undefined, seen: SeenVersion | undefined): SeenVersion | undefined =>
  known && known.version > (seen?.version ?? -1) ? known : seen;

const defined = (room: KnownEncryptedRoom): KnownEncryptedRoom =>
  Object.fromEntries(Object.entries(room).filter(([, value]) => value !== undefined));

/** A command holds a lock for milliseconds. An older one is from a command that has crashed. */
const staleLockMs = 5000;

/** Runs `work` while no other command does, so that none overwrites what another one has added to the file. */
function withFileLock<T>(path: string, work: () => T): T {
  const lock = `${path}.lock`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  while (!takeLock(lock)) {
    const takenAt = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    // Also if the clock was set back.
    if (Math.abs(Date.now() - takenAt) > staleLockMs) rmSync(lock, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function takeLock(lock: string): boolean {
  try {
    writeFileSync(lock, '', { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
