/** The name and the colour of this device, as others in a room see them, and the names of others. */
import { signal } from '@preact/signals';
import { deviceColors } from '../../../src/protocol/limits.ts';
import englishNames from '../i18n/languages/en/names.json' with { type: 'json' };
import { addEnglish, t, translate } from '../i18n/strings.ts';
import { isString, localStore } from './storage.ts';

addEnglish(englishNames);

export const maxNameLength = 64;
const isName = (value: unknown): value is string =>
  isString(value) && value.trim() !== '' && value.length <= maxNameLength;

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

/** The string has the first words, what is between them, and the second words. Every first word fits every second one. */
function friendlyName(): string {
  const [first = '', between, second = ''] = translate('friendlyNames').split(';');
  return [first, second].map(pickWord).join(between);
}

function pickWord(words: string): string | undefined {
  const all = words.split('|');
  return all[Math.floor(Math.random() * all.length)];
}
