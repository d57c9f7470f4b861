/** The ids of this device. */
import { knownRoom } from './recent-rooms.ts';
import { isString, localStore } from './storage.ts';

const isId = (value: unknown): value is string => isString(value) && /^[\w-]{1,64}$/.test(value);

export const deviceId: string = localStore.get('device', isId) ?? storedId();

/** The ids in encrypted rooms that this page has not joined yet. */
const newIds = new Map<string, string>();

/** Another one for each encrypted room, so that the server cannot tell who is in several. */
export function deviceIdIn(code: string): string {
  const id = knownRoom(code)?.deviceId ?? newIds.get(code) ?? newId();
  newIds.set(code, id);
  return id;
}

function storedId(): string {
  const id = newId();
  localStore.set('device', id);
  return id;
}

function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
