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

export const recentRooms = signal<readonly RecentRoom[]>(living(lasting.get<RecentRoom[]>('rooms') ?? []));

export function remember(room: RecentRoom): void {
  store([room, ...others(room.code)].slice(0, mostRemembered));
}

/** With everything that this device knows of it. */
export function forget(code: string): void {
  store(others(code));
  keepPin(code, undefined);
  lasting.set(`draft:${code}`, undefined);
}

/** Only for the life of the tab: who opens the page next on this device is asked for it. */
export const keepPin = (code: string, pin: string | undefined): void => passing.set(`pin:${code}`, pin);
export const pinOf = (code: string): string | undefined => passing.get<string>(`pin:${code}`);

/** Another tab may have changed the list since. */
export function rereadRooms(): void {
  recentRooms.value = living(lasting.get<RecentRoom[]>('rooms') ?? []);
}

function others(code: string): RecentRoom[] {
  rereadRooms();
  return recentRooms.value.filter((room) => room.code !== code);
}

function store(rooms: RecentRoom[]): void {
  recentRooms.value = rooms;
  lasting.set('rooms', rooms);
}

function living(rooms: RecentRoom[]): RecentRoom[] {
  return rooms.filter(({ expiresAt }) => expiresAt > Date.now());
}
