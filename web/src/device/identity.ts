/** Who this device is to the others in a room. */
import { signal } from '@preact/signals';
import { isText, lasting } from './storage.ts';

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

/** Such as "Chrome on Android". */
function guessedName(userAgent: string): string {
  const named = (list: [RegExp, string][]) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  return [named(browsers) ?? 'Browser', named(systems)].filter(Boolean).join(' on ');
}

export const longestName = 64;
const isId = (value: unknown): value is string => isText(value) && /^[\w-]{1,64}$/.test(value);
const isName = (value: unknown): value is string => isText(value) && value.trim() !== '' && value.length <= longestName;

export const deviceId: string = lasting.get('device', isId) ?? newId();

export const deviceName = signal(lasting.get('name', isName) ?? guessedName(navigator.userAgent));

/** An empty name gives back the one that was guessed. */
export function renameDevice(name: string): void {
  const chosen = name.trim().slice(0, longestName);
  lasting.set('name', chosen || undefined);
  deviceName.value = chosen || guessedName(navigator.userAgent);
}

function newId(): string {
  const id = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
  lasting.set('device', id);
  return id;
}
