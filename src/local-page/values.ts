/**
 * The values that a page otherwise keeps in the storage of the browser: recent rooms, unsent edits, settings. There they
 * would belong to the port, which another program may get later.
 */

export type Values = Record<string, string>;
/** Null removes a value. */
type Changes = Record<string, string | null>;

/** Where the values stay when the command has ended. */
export interface KeptValues {
  read(): Values;
  /** Throws if they cannot be written. */
  write(values: Values): void;
}

export interface PageValues {
  /** Of a page that has loaded. `from` is the page that was in the tab before, or that the tab was copied from. */
  open(request: unknown): { kept: Values; tab: Values } | undefined;
  /** Returns whether the values were changed. */
  change(request: unknown): boolean;
}

/** Of all kept values, and of all values of a tab. The page keeps what does not fit until it is closed. */
const maxLength = 4 * 1024 * 1024;
const maxTabs = 50;

/** `initial` are the first values of every tab. They stay in memory, like all values of tabs. */
export function createPageValues(kept: KeptValues, initial: Values): PageValues {
  const tabs = new Map<string, Values>();

  function keepTab(id: string, values: Values): void {
    tabs.delete(id);
    tabs.set(id, values);
    for (const oldest of [...tabs.keys()].slice(0, -maxTabs)) tabs.delete(oldest);
  }

  return {
    open(request) {
      if (!isOpening(request)) return undefined;
      const tab = { ...(tabs.get(request.from ?? '') ?? initial) };
      keepTab(request.id, tab);
      return { kept: kept.read(), tab };
    },

    change(request) {
      if (!isChange(request)) return false;
      const tab = changed(tabs.get(request.id) ?? {}, request.tab);
      // Another command may have changed them.
      const all = changed(kept.read(), request.kept);
      if (!tab || !all) return false;
      keepTab(request.id, tab);
      if (Object.keys(request.kept).length > 0) kept.write(all);
      return true;
    },
  };
}

/** Undefined if the result is too long. */
function changed(values: Values, changes: Changes): Values | undefined {
  const entries = Object.entries({ ...values, ...changes }).filter((entry): entry is [string, string] => !!entry[1]);
  const length = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return length > maxLength ? undefined : Object.fromEntries(entries);
}

interface Opening {
  id: string;
  from: string | null;
}

const isOpening = (value: unknown): value is Opening =>
  isObject(value) && isId(value.id) && (value.from === null || isId(value.from));

interface Change {
  id: string;
  kept: Changes;
  tab: Changes;
}

const isChange = (value: unknown): value is Change =>
  isObject(value) && isId(value.id) && areChanges(value.kept) && areChanges(value.tab);

const areChanges = (value: unknown): value is Changes =>
  isObject(value) && Object.values(value).every((text) => text === null || typeof text === 'string');

export const areValues = (value: unknown): value is Values => areChanges(value) && !Object.values(value).includes(null);

const isId = (value: unknown): value is string => typeof value === 'string' && /^[\w-]{8,64}$/.test(value);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
