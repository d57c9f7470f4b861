/** What this device remembers. Browsers may refuse to keep anything; then the page works without. */

const prefix = 'poproom:';

export interface Shelf {
  /** What is there, if it is what is expected: another version, or someone's hand, may have left something else. */
  get<T>(key: string, isExpected: (value: unknown) => value is T): T | undefined;
  /** `undefined` forgets. */
  set(key: string, value: unknown): void;
  keys(): string[];
}

/** Until it is cleared. */
export const lasting = shelf(() => localStorage);
/** As long as the tab is open. */
export const passing = shelf(() => sessionStorage);

function shelf(storage: () => Storage): Shelf {
  return {
    get<T>(key: string, isExpected: (value: unknown) => value is T): T | undefined {
      try {
        const value: unknown = JSON.parse(storage().getItem(prefix + key) ?? 'null');
        return isExpected(value) ? value : undefined;
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
        return Object.keys(storage())
          .filter((key) => key.startsWith(prefix))
          .map((key) => key.slice(prefix.length));
      } catch {
        return [];
      }
    },
  };
}

/** Checks of what was kept. */
export const isText = (value: unknown): value is string => typeof value === 'string';
export const isSwitch = (value: unknown): value is boolean => typeof value === 'boolean';
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
export const isOneOf =
  <T extends string>(choices: readonly T[]) =>
  (value: unknown): value is T =>
    choices.includes(value as T);
