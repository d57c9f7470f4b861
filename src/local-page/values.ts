/**
 * The values that a page otherwise keeps in the storage of the browser: recent rooms, unsent edits, settings. There they
 * would belong to the port, which another program may get later.
 */
import { EventEmitter, once } from 'node:events';

export type Values = Record<string, string>;
/** Null removes a value. */
type Changes = Record<string, string | null>;

/** Where the values stay when the command has ended. */
export interface KeptValues {
  read(): Values;
  /** Throws if they cannot be written. */
  write(values: Values): void;
}

export type PageValues = ReturnType<typeof createPageValues>;

/** Of all kept values, and of all values of a tab. The page keeps what does not fit until it is closed. */
const maxLength = 4 * 1024 * 1024;
const maxTabs = 50;
/** A change that has not arrived after this time was lost. */
const waitForChangeMs = 2_000;

/** With the number of the last change. */
type Tab = { values: Values; number: number };

/** `initial` are the first values of every tab. They stay in memory, like all values of tabs. */
export function createPageValues(kept: KeptValues, initial: Values) {
  const tabs = new Map<string, Tab>();
  const arrivals = new EventEmitter().setMaxListeners(0);

  function keepTab(id: string, tab: Tab): void {
    tabs.delete(id);
    tabs.set(id, tab);
    for (const oldest of [...tabs.keys()].slice(0, -maxTabs)) tabs.delete(oldest);
  }

  async function waitForChange(id: string, number: number): Promise<void> {
    const signal = AbortSignal.timeout(waitForChangeMs);
    const isMissing = () => (tabs.get(id)?.number ?? number) < number;
    while (isMissing() && !signal.aborted) await once(arrivals, id, { signal }).catch(() => undefined);
  }

  return {
    /**
     * Of a page that has loaded. `from` is the page that was in the tab before, or that the tab was copied from, and the
     * number of its last change, which may arrive after this request.
     */
    async open(request: unknown) {
      if (!isOpening(request)) return undefined;
      const [from = '', number] = request.from?.split('.') ?? [];
      await waitForChange(from, Number(number));
      const values = { ...(tabs.get(from)?.values ?? initial) };
      keepTab(request.id, { values, number: 0 });
      return { kept: kept.read(), tab: values };
    },

    change(request: unknown): boolean {
      if (!isChange(request)) return false;
      const { id, number } = request;
      const tab = tabs.get(id) ?? { values: {}, number: 0 };
      // A later request, which repeats this change, has overtaken it.
      if (number <= tab.number) return true;
      const values = changed(tab.values, request.tab);
      // Another command may have changed them.
      const all = changed(kept.read(), request.kept);
      const isAccepted = values !== undefined && all !== undefined;
      keepTab(id, { values: isAccepted ? values : tab.values, number });
      if (isAccepted && Object.keys(request.kept).length > 0) kept.write(all);
      arrivals.emit(id);
      return isAccepted;
    },
  };
}

/** Undefined if the result is too long. */
function changed(values: Values, changes: Changes): Values | undefined {
  const entries = Object.entries({ ...values, ...changes }).filter((entry): entry is [string, string] => !!entry[1]);
  const length = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return length > maxLength ? undefined : Object.fromEntries(entries);
}

const isOpening = (value: unknown): value is { id: string; from: string | null } =>
  isObject(value) && isId(value.id) && (value.from === null || isIdWithNumber(value.from));

const isChange = (value: unknown): value is { id: string; number: number; kept: Changes; tab: Changes } =>
  isObject(value) && isId(value.id) && Number.isInteger(value.number) && [value.kept, value.tab].every(areChanges);

const areChanges = (value: unknown): value is Changes =>
  isObject(value) && Object.values(value).every((text) => text === null || typeof text === 'string');

export const areValues = (value: unknown): value is Values => areChanges(value) && !Object.values(value).includes(null);

const isId = (value: unknown) => typeof value === 'string' && /^[\w-]{8,64}$/.test(value);

const isIdWithNumber = (value: unknown) => typeof value === 'string' && /^[\w-]{8,64}\.\d{1,9}$/.test(value);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
