/** The rooms that this device has been in and that still live. */
import { signal } from '@preact/signals';
import { tokenLastsMs } from '../../../src/client/light.ts';
import { clockAhead } from './clock.ts';
import { isRecord, isText, lasting, passing } from './storage.ts';

export interface RecentRoom {
  code: string;
  /** In milliseconds, as is the next. */
  expiresAt: number;
  /** When this device was first in it. */
  since: number;
  hasPin: boolean;
}

const mostRemembered = 12;

export const recentRooms = signal<readonly RecentRoom[]>([]);

export function remember(room: Omit<RecentRoom, 'since'>): RecentRoom {
  const others = rereadRooms().filter(({ code }) => code !== room.code);
  const since = recentRooms.value.find(({ code }) => code === room.code)?.since ?? Date.now() - clockAhead.value;
  const remembered = { ...room, since };
  // However many there are, one with words that were not sent yet is not forgotten.
  const kept = others.filter(({ code }, i) => i < mostRemembered - 1 || draftKeys(code).length > 0);
  store([remembered, ...kept]);
  return remembered;
}

/** With everything that this device knows of it. Returns how to take that back. */
export function forget(code: string): () => void {
  const room = recentRooms.value.find((room) => room.code === code);
  const pin = pinOf(code);
  keepResumeToken(code, undefined);
  const drafts = draftKeys(code).map((key) => ({ key, draft: lasting.get(key, isRecord) }));
  store(rereadRooms().filter((room) => room.code !== code));
  keepPin(code, undefined);
  for (const { key } of drafts) lasting.set(key, undefined);
  return () => {
    if (room) remember(room);
    keepPin(code, pin);
    for (const { key, draft } of drafts) lasting.set(key, draft);
  };
}

/** Only for the life of the tab: who opens the page next on this device is asked for it. */
export const keepPin = (code: string, pin: string | undefined): void => passing.set(`pin:${code}`, pin);
export const pinOf = (code: string): string | undefined => passing.get(`pin:${code}`, isText);

/** For ten minutes it opens the room again after a reload, whatever limit is used up; kept as the PIN is. */
export const keepResumeToken = (code: string, token: string | undefined): void =>
  passing.set(`resume:${code}`, token && { token, at: Date.now() });

export function resumeTokenOf(code: string): string | undefined {
  const kept = passing.get(`resume:${code}`, isResumeToken);
  return kept && kept.at > Date.now() - tokenLastsMs ? kept.token : undefined;
}

const isResumeToken = (value: unknown): value is { token: string; at: number } =>
  isRecord(value) && isText(value.token) && Number.isFinite(value.at);

/** Under which what was typed into a room and could not be sent yet is kept. */
export const draftKeys = (code: string): string[] =>
  lasting.keys().filter((key) => key.startsWith('draft:') && key.endsWith(`:${code}`));

/** The clock of this device may be ahead of the server's, and what is not sent yet must not go with it. */
const graceMs = 24 * 3_600_000;

/** At the start, and again later: another tab may have changed the list. Nothing stays of rooms that are long gone. */
export function rereadRooms(): readonly RecentRoom[] {
  const kept = lasting.get('rooms', isRoomList) ?? [];
  const rooms = kept.filter(({ expiresAt }) => expiresAt + graceMs > Date.now());
  if (rooms.length < kept.length) lasting.set('rooms', rooms);
  const isOfThese = (key: string) => rooms.some(({ code }) => key.endsWith(`:${code}`));
  for (const shelf of [lasting, passing]) {
    for (const key of shelf.keys()) if (/^(draft|pin|resume):/.test(key) && !isOfThese(key)) shelf.set(key, undefined);
  }
  recentRooms.value = rooms;
  return rooms;
}

function store(rooms: readonly RecentRoom[]): void {
  recentRooms.value = rooms;
  lasting.set('rooms', rooms);
}

const isRoomList = (value: unknown): value is RecentRoom[] => Array.isArray(value) && value.every(isRoom);

const isRoom = (value: unknown): value is RecentRoom =>
  isRecord(value) && isText(value.code) && Number.isFinite(value.expiresAt) && Number.isFinite(value.since);
