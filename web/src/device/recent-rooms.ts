/** The rooms that this device has joined, what it keeps of them, its ids in them, and the keys of encrypted ones. */
import { signal } from '@preact/signals';
import { resumeTokenTtlMs } from '../../../src/protocol/live-protocol.ts';
import { isEncryptedCode, type LinkId, type RoomCode } from '../../../src/protocol/room-code.ts';
import { parseCodeOrLink } from '../router.ts';
import { clockOffset } from '../server-connection.ts';
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
  const stays = ({ code, isEncrypted }: RecentRoom) => isEncrypted || draftKeys(code).length > 0;
  const kept = others.filter((other, i) => i < maxRecentRooms - 1 || stays(other));
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
export function rememberEncrypted(code: string, room: Omit<KnownRoom, 'keepUntil'> & { expiresAt: number }): void {
  const { expiresAt, ...values } = room;
  const known = knownRoom(code);
  const keepUntil = Math.max(known?.keepUntil ?? 0, Math.max(expiresAt, Date.now()) + encryptedGraceMs);
  localStore.set(`encrypted:${code}`, { ...values, ...known, keepUntil });
}

const isId = (value: unknown): value is string => isString(value) && /^[\w-]{1,64}$/.test(value);

export const deviceId: string = localStore.get('device', isId) ?? newId();
localStore.set('device', deviceId);

/** The ids in encrypted rooms that this page has not joined yet. */
const newIds = new Map<string, string>();

/** Another one for each encrypted room, so that the server cannot tell who is in several. */
export function deviceIdIn(code: string): string {
  const id = knownRoom(code)?.deviceId ?? newIds.get(code) ?? newId();
  newIds.set(code, id);
  return id;
}

function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
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

const ofRoom = /^(draft|pin|resume|upload|kept-key|seen|checked|encrypted|view):/;

/** Reads the list again, which another tab may have changed, and deletes all data of rooms that expired long ago. */
export function reloadRecentRooms(): readonly RecentRoom[] {
  const stored = storedRooms();
  const known = knownCodes();
  const endOf = ({ expiresAt, isEncrypted }: RecentRoom) => expiresAt + (isEncrypted ? encryptedGraceMs : graceMs);
  const rooms = stored.filter((room) => known.has(room.code) || endOf(room) > Date.now());
  if (rooms.length < stored.length) localStore.set('rooms', rooms);
  const kept = new Set([...known, ...rooms.map(({ code }) => code)]);
  for (const store of [localStore, sessionStore]) {
    const expired = store.keys().filter((key) => ofRoom.test(key) && !kept.has(codeIn(key)));
    for (const key of expired) store.set(key, undefined);
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

/** The key of an encrypted room: in this tab, or on this device if the user wants it. Keys never leave the device. */
export const savedKey = (code: string): string | undefined =>
  sessionStore.get(`new-key:${code}`, isString) ?? sessionStore.get(`key:${code}`, isString) ?? keptKey(code);

/** A key that has not opened the room yet. It does not replace the one that has: a server could say that it is wrong. */
export const saveNewKey = (code: string, key: string | undefined): void => sessionStore.set(`new-key:${code}`, key);

/** The key that has opened the room. */
export function saveKey(code: string, key: string): void {
  sessionStore.set(`key:${code}`, key);
  saveNewKey(code, undefined);
}

/** The key that stays when the tab is closed: of a room that was started here, or that the user has asked to keep. */
export function keptKey(code: string): string | undefined {
  // Views that show it follow its changes.
  void changes.value;
  return localStore.get(`kept-key:${code}`, isString);
}

export function keepKey(code: string, key: string | undefined): void {
  localStore.set(`kept-key:${code}`, key);
  changes.value += 1;
}

const changes = signal(0);

/** The key in the link of a room, or the keys in a link with a role. Half a key counts as a damaged one. */
export const keyIn = (link: string): string | undefined => /\/r\/[^#\s]+#([\w.-]{8,})/.exec(link)?.[1];

/** The room in a code or a link that the user has entered. The tab tries the key in the link. */
export function takeRoom(text: string): RoomCode | LinkId | undefined {
  const [code, key] = [parseCodeOrLink(text), keyIn(text)];
  if (code && key) saveNewKey(code, key);
  return code;
}

/** Moves the key from the address bar into the storage of this tab. */
export function takeKeyFromAddress(code: string): string | undefined {
  const key = keyIn(location.href);
  if (key === undefined) return undefined;
  history.replaceState(null, '', location.pathname);
  saveNewKey(code, key);
  return key;
}

const channelName = 'poproom:keys';
/** A tab in the background may need a moment. */
const timeoutMs = 1_000;

/** Answers other tabs while the room is open here. */
export function offerKey(code: string, key: string, signal: AbortSignal): void {
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = ({ data }) => {
    if (isRecord(data) && data.wanted === code) channel.postMessage({ code, key });
  };
  signal.addEventListener('abort', () => channel.close());
}

/** Undefined if no other tab has the room open. */
export function requestKey(code: string): Promise<string | undefined> {
  const channel = new BroadcastChannel(channelName);
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  channel.onmessage = ({ data }) => {
    if (isRecord(data) && data.code === code && isString(data.key)) resolve(data.key);
  };
  channel.postMessage({ wanted: code });
  setTimeout(() => resolve(undefined), timeoutMs);
  return promise.finally(() => channel.close());
}
