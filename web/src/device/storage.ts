/** What this device remembers. Browsers may refuse to keep anything; then the page works without. */

const prefix = 'poproom:';

export interface Shelf {
  get<T>(key: string): T | undefined;
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
    get<T>(key: string): T | undefined {
      try {
        return JSON.parse(storage().getItem(prefix + key) ?? 'null') ?? undefined;
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
