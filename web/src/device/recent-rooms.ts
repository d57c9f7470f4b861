/** The rooms that this device has joined, and what it keeps of them. */
import { signal } from '@preact/signals';
import { resumeTokenTtlMs } from '../../../src/protocol/live-protocol.ts';
import { isEncryptedCode, type RoomCode } from '../../../src/protocol/room-code.ts';
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
  // A room with unsent edits stays in the list even beyond the maximum, and so does one whose key may be kept.
  const kept = others.filter(
    ({ code, isEncrypted }, i) => i < maxRecentRooms - 1 || isEncrypted || draftKeys(code).length > 0,
  );
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

/** The storage keys of unsent edits of a room, or of all rooms. */
export const draftKeys = (code = ''): string[] =>
  localStore.keys().filter((key) => key.startsWith('draft:') && key.endsWith(code && `:${code}`));

/** The values of an encrypted room that this device keeps apart from its key. */
interface KnownRoom {
  /** In base64url. */
  readonly salt?: string | undefined;
  /** The room was started on this device. */
  readonly isOwn?: boolean | undefined;
  /** The id of this device in the room, so that the server cannot tell that the same device is in several. */
  readonly deviceId?: string | undefined;
  /** Milliseconds. Until then, only the user erases anything of the room, whatever the server says. */
  readonly keepUntil: number;
}

const maxKnownRooms = 200;

export const knownRoom = (code: string): KnownRoom | undefined => localStore.get(`encrypted:${code}`, isKnownRoom);

/** Later values are added, and never replace what is known: the server could have made them up. */
export function rememberEncrypted(
  code: string,
  { expiresAt, ...values }: Omit<KnownRoom, 'keepUntil'> & { expiresAt: number },
): void {
  const known = knownRoom(code);
  const keepUntil = Math.max(known?.keepUntil ?? 0, Math.max(expiresAt, Date.now()) + encryptedGraceMs);
  localStore.set(`encrypted:${code}`, { ...values, ...known, keepUntil });
}

/** Whether the room is never used without its key: by its code, or because this device has joined it with a key. */
export const isKnownAsEncrypted = (code: RoomCode): boolean =>
  isEncryptedCode(code) ||
  localStore.keys().some((key) => /^(encrypted|seen|kept-key):/.test(key) && key.endsWith(`:${code}`)) ||
  storedRooms().some((room) => room.code === code && room.isEncrypted);

/** Keep expired rooms this long: a device clock that runs ahead must not delete unsent edits. */
const graceMs = 24 * 3_600_000;
/** The server may be wrong about the end of an encrypted room. */
const encryptedGraceMs = 7 * graceMs;

/** Reads the list again, which another tab may have changed, and deletes all data of rooms that expired long ago. */
export function reloadRecentRooms(): readonly RecentRoom[] {
  const stored = storedRooms();
  const known = knownCodes();
  const rooms = stored.filter(
    ({ code, expiresAt, isEncrypted }) =>
      known.has(code) || expiresAt + (isEncrypted ? encryptedGraceMs : graceMs) > Date.now(),
  );
  if (rooms.length < stored.length) localStore.set('rooms', rooms);
  const kept = new Set([...known, ...rooms.map(({ code }) => code)]);
  for (const store of [localStore, sessionStore]) {
    for (const key of store.keys()) {
      if (/^(draft|pin|resume|upload|kept-key|seen|checked|encrypted|view):/.test(key) && !kept.has(codeIn(key)))
        store.set(key, undefined);
    }
  }
  recentRooms.value = rooms;
  return rooms;
}

/** The encrypted rooms of which everything is kept. Beyond the maximum, those whose time ended first are forgotten. */
function knownCodes(): Set<string> {
  const codes = localStore
    .keys()
    .filter((key) => key.startsWith('encrypted:'))
    .map((key) => ({ code: codeIn(key), keepUntil: knownRoom(codeIn(key))?.keepUntil ?? 0 }))
    .filter(({ keepUntil }) => keepUntil > Date.now())
    .sort((one, other) => other.keepUntil - one.keepUntil)
    .slice(0, maxKnownRooms)
    .map(({ code }) => code);
  return new Set(codes);
}

const codeIn = (key: string): string => key.slice(key.lastIndexOf(':') + 1);

const isKnownRoom = (value: unknown): value is KnownRoom =>
  isRecord(value) && Number.isFinite(value.keepUntil) && [value.salt ?? '', value.deviceId ?? ''].every(isString);

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
