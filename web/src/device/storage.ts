/** Values in the browser's storage. If the browser blocks storage, the page works without it. */
import { basePath, forwardedTo } from '../page-settings.ts';
import { openCommandStorage, type Values } from './command-storage.ts';

/** Another installation may use another path of the same origin, and all of an origin share this storage. */
const prefix = `poproom${forwardedTo ? '' : basePath}:`;
const ofCommand = forwardedTo ? openCommandStorage() : undefined;

interface KeyValueStore {
  /** The stored value, or undefined if it is not valid: another version of the page may have written it. */
  get<T>(key: string, isValid: (value: unknown) => value is T): T | undefined;
  /** `undefined` removes the value. */
  set(key: string, value: unknown): void;
  keys(): string[];
  /** Calls back when another tab has changed the value. */
  onChange(key: string, listen: () => void): void;
}

/** Persists until the user clears it. */
export const localStore = keyValueStore(() => ofCommand?.local ?? localStorage);
/** Persists while the tab is open. */
export const sessionStore = keyValueStore(() => ofCommand?.session ?? sessionStorage);

function keyValueStore(storage: () => Values | Storage): KeyValueStore {
  return {
    get<T>(key: string, isValid: (value: unknown) => value is T): T | undefined {
      try {
        const value: unknown = JSON.parse(storage().getItem(prefix + key) ?? 'null');
        return isValid(value) ? value : undefined;
      } catch {
        return undefined;
      }
    },
    set(key, value) {
      try {
        if (value === undefined) storage().removeItem(prefix + key);
        else storage().setItem(prefix + key, JSON.stringify(value));
      } catch {}
    },
    keys() {
      try {
        const items = storage();
        const names = items instanceof Storage ? Object.keys(items) : items.names();
        return names.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
      } catch {
        return [];
      }
    },
    onChange(key, listen) {
      addEventListener('storage', (event) => {
        if (event.key === prefix + key) listen();
      });
    },
  };
}

/** Type guards for stored values. */
export const isString = (value: unknown): value is string => typeof value === 'string';
export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
export const isOneOf =
  <T extends string>(choices: readonly T[]) =>
  (value: unknown): value is T =>
    choices.includes(value as T);
