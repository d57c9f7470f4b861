/** The id and the name of this device, as others in a room see them, and the names of others. */
import { signal } from '@preact/signals';
import { deviceColors } from '../../../src/protocol/limits.ts';
import { t } from '../i18n/strings.ts';
import { knownRoom } from './recent-rooms.ts';
import { isString, localStore } from './storage.ts';

export const maxNameLength = 64;
const isId = (value: unknown): value is string => isString(value) && /^[\w-]{1,64}$/.test(value);
const isName = (value: unknown): value is string =>
  isString(value) && value.trim() !== '' && value.length <= maxNameLength;

export const deviceId: string = localStore.get('device', isId) ?? storedId();

/** The ids in encrypted rooms that this page has not joined yet. */
const newIds = new Map<string, string>();

/** Another one for each encrypted room, so that the server cannot tell who is in several. */
export function deviceIdIn(code: string): string {
  const id = knownRoom(code)?.deviceId ?? newIds.get(code) ?? newId();
  newIds.set(code, id);
  return id;
}

export const deviceName = signal(localStore.get('name', isName) ?? '');

/** The same for all rooms. An empty name becomes a random one in the language of the page, such as "Brave Fox". */
export function renameDevice(name: string): void {
  deviceName.value = name.trim().slice(0, maxNameLength) || friendlyName();
  localStore.set('name', deviceName.value);
}

/** Chosen and stored when it is first needed, after the language is known. It never changes by itself. */
export function ownName(): string {
  if (!deviceName.value) renameDevice('');
  return deviceName.value;
}

/** How others see this device. The server gives it another colour if one in the room has it. */
export const appearance = (id: string) => ({
  deviceId: id,
  deviceName: ownName(),
  deviceColor: id.charCodeAt(0) % deviceColors,
});

/** Removes control characters, which could reorder the surrounding text: others choose this name. */
export const nameOf = ({ deviceName = '' }: { deviceName?: string }): string =>
  deviceName.replace(/[\p{Cc}\p{Cf}]/gu, '').trim() || t('unnamedDevice');

function friendlyName(): string {
  const [first = '', between, second = ''] = t('friendlyNames').split(';');
  return [first, second].map(pickWord).join(between);
}

function pickWord(words: string): string | undefined {
  const all = words.split('|');
  return all[Math.floor(Math.random() * all.length)];
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
