/** The id and the name of this device, as others in a room see them. */
import { signal } from '@preact/signals';
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
export const defaultNamePattern = new RegExp(`^(${namesIn(browsers)}|Browser) on (${namesIn(systems)})$`);

/** "Chrome on Android". */
function defaultDeviceName(userAgent: string): string {
  const firstMatch = (list: [RegExp, string][]) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  return [firstMatch(browsers) ?? 'Browser', firstMatch(systems)].filter(Boolean).join(' on ');
}

export const maxNameLength = 64;
const isId = (value: unknown): value is string => isString(value) && /^[\w-]{1,64}$/.test(value);
const isName = (value: unknown): value is string =>
  isString(value) && value.trim() !== '' && value.length <= maxNameLength;

export const deviceId: string = localStore.get('device', isId) ?? newId();

export const deviceName = signal(localStore.get('name', isName) ?? defaultDeviceName(navigator.userAgent));

/** An empty name restores the default. */
export function renameDevice(name: string): void {
  const chosen = name.trim().slice(0, maxNameLength);
  localStore.set('name', chosen || undefined);
  deviceName.value = chosen || defaultDeviceName(navigator.userAgent);
}

function newId(): string {
  const id = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
  localStore.set('device', id);
  return id;
}
