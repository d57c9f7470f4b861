/** The id and the name of this device, as others in a room see them. */
import { signal } from '@preact/signals';
import { t } from '../i18n/strings.ts';
import { knownRoom } from './recent-rooms.ts';
import { isString, localStore } from './storage.ts';

const browsers: [RegExp, string][] = [
  [/Edg(e|A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const systems: [RegExp, string][] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/CrOS/, 'ChromeOS'],
  [/Windows/, 'Windows'],
  [/Macintosh/, 'Mac'],
  [/Linux/, 'Linux'],
];

const namesIn = (list: [RegExp, string][]) => list.map(([, name]) => name).join('|');
/** Matches the names that `defaultDeviceName` returns. */
const defaultNamePattern = new RegExp(`^(${namesIn(browsers)}|Browser) on (${namesIn(systems)})$`);

/** "Chrome on Android". */
function defaultDeviceName(userAgent: string): string {
  const firstMatch = (list: [RegExp, string][]) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  return [firstMatch(browsers) ?? 'Browser', firstMatch(systems)].filter(Boolean).join(' on ');
}

/** Default names are sent in English, and shown in the user's language. Names that people typed stay as they are. */
export function translateDeviceName(name: string): string {
  const [, browser, system] = defaultNamePattern.exec(name) ?? [];
  return browser && system ? t('defaultDeviceName', { browser, system }) : name;
}

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

export const deviceName = signal(localStore.get('name', isName) ?? defaultDeviceName(navigator.userAgent));

/** An empty name restores the default. */
export function renameDevice(name: string): void {
  const chosen = name.trim().slice(0, maxNameLength);
  localStore.set('name', chosen || undefined);
  deviceName.value = chosen || defaultDeviceName(navigator.userAgent);
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
