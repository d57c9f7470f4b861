/** The rooms that this device has been in and that still live. */
import { signal } from '@preact/signals';
import { lasting, passing } from './storage.ts';

export interface RecentRoom {
  code: string;
  /** In milliseconds. */
  expiresAt: number;
  hasPin: boolean;
}

const mostRemembered = 12;

export const recentRooms = signal<readonly RecentRoom[]>([]);

export function remember(room: RecentRoom): void {
  store([room, ...others(room.code)].slice(0, mostRemembered));
}

/** With everything that this device knows of it. */
export function forget(code: string): void {
  store(others(code));
  keepPin(code, undefined);
  lasting.set(draftKey(code), undefined);
}

/** Only for the life of the tab: who opens the page next on this device is asked for it. */
export const keepPin = (code: string, pin: string | undefined): void => passing.set(`pin:${code}`, pin);
export const pinOf = (code: string): string | undefined => passing.get<string>(`pin:${code}`);

/** What was typed into a room and could not be sent yet. */
export const draftKey = (code: string): string => `draft:${code}`;

/** At the start, and again later: another tab may have changed the list. Nothing stays of rooms that are gone. */
export function rereadRooms(): void {
  const rooms = (lasting.get<RecentRoom[]>('rooms') ?? []).filter(({ expiresAt }) => expiresAt > Date.now());
  const drafts = rooms.map(({ code }) => draftKey(code));
  for (const key of lasting.keys()) {
    if (key.startsWith(draftKey('')) && !drafts.includes(key)) lasting.set(key, undefined);
  }
  recentRooms.value = rooms;
}

function others(code: string): RecentRoom[] {
  rereadRooms();
  return recentRooms.value.filter((room) => room.code !== code);
}

function store(rooms: RecentRoom[]): void {
  recentRooms.value = rooms;
  lasting.set('rooms', rooms);
}
