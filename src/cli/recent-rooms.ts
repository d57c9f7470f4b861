/** Remembers the rooms that were used on this machine, in a file that only its owner can read. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from './environment.ts';
import { readPreferences } from './preferences.ts';
import { readIfExists, writePrivateFile } from './private-file.ts';

const maxRooms = 50;
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

/** Details of a room that a command has received. */
export type RoomDetails = Pick<RecentRoom, 'expiresAt' | 'name'>;

type RoomKey = Pick<RecentRoom, 'url' | 'code'>;

/** The last used room is first. */
export function readRecentRooms(environment: Environment): RecentRoom[] {
  try {
    const rooms = JSON.parse(readIfExists(fileIn(environment)) ?? '[]') as RecentRoom[];
    return rooms.filter(isCurrent).slice(0, maxRooms);
  } catch {
    return [];
  }
}

/** Details that are already known are kept. Failures are ignored: the command itself has succeeded. */
export function rememberRoom(environment: Environment, { url, code }: RoomKey, details: RoomDetails = {}): void {
  if (!keepsRecentRooms(environment)) return;
  const rooms = readRecentRooms(environment);
  const known = rooms.find((room) => isSame(room, { url, code }));
  const newest = { ...known, ...details, url, code, usedAt: Date.now() };
  write(environment, [newest, ...rooms.filter((room) => room !== known)].slice(0, maxRooms));
}

/** Returns whether the room was remembered. */
export function forgetRoom(environment: Environment, room: RoomKey): boolean {
  const rooms = readRecentRooms(environment);
  const others = rooms.filter((other) => !isSame(other, room));
  if (others.length === rooms.length) return false;
  write(environment, others);
  return true;
}

export function forgetAllRooms(environment: Environment): void {
  rmSync(fileIn(environment), { force: true });
}

/** Both `POPROOM_RECENT=off` and `poproom config set recent off` disable the list. */
export function keepsRecentRooms(environment: Environment): boolean {
  return environment.keepsRecentRooms && readPreferences(environment).recent !== false;
}

function write(environment: Environment, rooms: readonly RecentRoom[]): void {
  try {
    writePrivateFile(fileIn(environment), `${JSON.stringify(rooms)}\n`);
  } catch {}
}

const fileIn = ({ stateFolder }: Environment) => join(stateFolder, 'recent.json');
const isSame = (a: RoomKey, b: RoomKey) => a.url === b.url && a.code === b.code;

/** Also drops malformed entries. */
function isCurrent({ url, code, usedAt, expiresAt, name }: RecentRoom): boolean {
  const isWellFormed = URL.canParse(url) && /^[0-9A-Z]{6,12}$/.test(code) && Number.isFinite(usedAt);
  const hasName = name === undefined || typeof name === 'string';
  const until = expiresAt === undefined ? usedAt + maxUnusedMs : Date.parse(expiresAt);
  return isWellFormed && hasName && until > Date.now();
}
