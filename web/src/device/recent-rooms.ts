/** The rooms that this device has joined and that have not expired. */
import { signal } from '@preact/signals';
import { resumeTokenTtlMs } from '../../../src/client/light.ts';
import { clockOffset } from './clock.ts';
import { isRecord, isString, localStore, sessionStore } from './storage.ts';

export interface RecentRoom {
  code: string;
  /** Milliseconds, by the server's clock. */
  expiresAt: number;
  /** When this device first joined, in milliseconds by the server's clock. */
  since: number;
  hasPin: boolean;
  isEncrypted?: boolean | undefined;
  name?: string | undefined;
  /** The start of the text, on this device only. Not for rooms with a PIN or a key. */
  firstLine?: string | undefined;
  fileCount?: number;
}

const maxRecentRooms = 12;

export const recentRooms = signal<readonly RecentRoom[]>([]);

export const nameOfRoom = (code: string | undefined): string | undefined =>
  recentRooms.value.find((room) => room.code === code)?.name;

export function rememberRoom(room: Omit<RecentRoom, 'since'>): RecentRoom {
  // Without deleting the data of rooms that are not in the list: this one may have a PIN and a token already.
  const rooms = storedRooms();
  const others = rooms.filter(({ code }) => code !== room.code);
  const since = rooms.find(({ code }) => code === room.code)?.since ?? Date.now() - clockOffset.value;
  const remembered = { ...room, since };
  // A room with unsent edits stays in the list even beyond the maximum.
  const kept = others.filter(({ code }, i) => i < maxRecentRooms - 1 || draftKeys(code).length > 0);
  saveRooms([remembered, ...kept]);
  return remembered;
}

/** Deletes everything that this device stores about a room. Returns a function that restores it. */
export function forgetRoom(code: string): () => void {
  const room = recentRooms.value.find((room) => room.code === code);
  const entries = [localStore, sessionStore].flatMap((store) =>
    store
      .keys()
      .filter((key) => key.endsWith(`:${code}`))
      .map((key) => ({ store, key, value: store.get(key, isStored) })),
  );
  saveRooms(reloadRecentRooms().filter((room) => room.code !== code));
  for (const { store, key } of entries) store.set(key, undefined);
  return () => {
    if (room) rememberRoom(room);
    for (const { store, key, value } of entries) store.set(key, value);
  };
}

const isStored = (value: unknown): value is unknown => value !== null;

/** Stored for this tab only, so that the next person on this device has to enter the PIN. */
export const savePin = (code: string, pin: string | undefined): void => sessionStore.set(`pin:${code}`, pin);
export const savedPin = (code: string): string | undefined => sessionStore.get(`pin:${code}`, isString);

/** Lets a reload rejoin for ten minutes even when a limit is used up. Stored for this tab only, like the PIN. */
export const saveResumeToken = (code: string, token: string | undefined): void =>
  sessionStore.set(`resume:${code}`, token && { token, at: Date.now() });

export function savedResumeToken(code: string): string | undefined {
  const saved = sessionStore.get(`resume:${code}`, isResumeToken);
  return saved && saved.at > Date.now() - resumeTokenTtlMs ? saved.token : undefined;
}

const isResumeToken = (value: unknown): value is { token: string; at: number } =>
  isRecord(value) && isString(value.token) && Number.isFinite(value.at);

/** The storage keys of unsent edits of a room. */
export const draftKeys = (code: string): string[] =>
  localStore.keys().filter((key) => key.startsWith('draft:') && key.endsWith(`:${code}`));

/** Keep expired rooms this long: a device clock that runs ahead must not delete unsent edits. */
const graceMs = 24 * 3_600_000;

/** Reads the list again, which another tab may have changed, and deletes all data of rooms that expired long ago. */
export function reloadRecentRooms(): readonly RecentRoom[] {
  const stored = storedRooms();
  const rooms = stored.filter(({ expiresAt }) => expiresAt + graceMs > Date.now());
  if (rooms.length < stored.length) localStore.set('rooms', rooms);
  const isOfRecentRoom = (key: string) => rooms.some(({ code }) => key.endsWith(`:${code}`));
  for (const store of [localStore, sessionStore]) {
    for (const key of store.keys()) {
      if (/^(draft|pin|resume|upload|kept-key|seen):/.test(key) && !isOfRecentRoom(key)) store.set(key, undefined);
    }
  }
  recentRooms.value = rooms;
  return rooms;
}

const storedRooms = (): readonly RecentRoom[] => localStore.get('rooms', isRoomList) ?? [];

function saveRooms(rooms: readonly RecentRoom[]): void {
  recentRooms.value = rooms;
  localStore.set('rooms', rooms);
}

const isRoomList = (value: unknown): value is RecentRoom[] => Array.isArray(value) && value.every(isRoom);

const isRoom = (value: unknown): value is RecentRoom =>
  isRecord(value) &&
  isString(value.code) &&
  [value.expiresAt, value.since, value.fileCount ?? 0].every(Number.isFinite) &&
  [value.name ?? '', value.firstLine ?? ''].every(isString);
