/** Values in the browser's storage, or kept by `poproom ui`. If the browser blocks storage, the page works without it. */
import { attempt } from '../../../src/client/shapes.ts';
import { basePath, baseUrl, forwardedTo } from '../page-settings.ts';

/** Another installation may use another path of the same origin, and all of an origin share this storage. */
const prefix = `poproom${forwardedTo ? '' : basePath}:`;

/** Persists until the user clears it. */
export const localStore = keyValueStore(() => ofCommand?.local ?? localStorage);
/** Persists while the tab is open. */
export const sessionStore = keyValueStore(() => ofCommand?.session ?? sessionStorage);

function keyValueStore(storage: () => Storage | ReturnType<typeof valuesIn>) {
  return {
    /** The stored value, or undefined if it is not valid: another version of the page may have written it. */
    get<T>(key: string, isValid: (value: unknown) => value is T): T | undefined {
      const value = attempt((): unknown => JSON.parse(storage().getItem(prefix + key) ?? 'null'));
      return isValid(value) ? value : undefined;
    },
    /** `undefined` removes the value. */
    set(key: string, value: unknown): void {
      try {
        if (value === undefined) storage().removeItem(prefix + key);
        else storage().setItem(prefix + key, JSON.stringify(value));
      } catch {}
    },
    keys(): string[] {
      const items = attempt(storage) ?? { names: () => [] };
      const names = items instanceof Storage ? Object.keys(items) : items.names();
      return names.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
    },
    /** Calls back when another tab has changed the value. */
    onChange(key: string, listen: () => void): void {
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

type Changes = Record<'kept' | 'tab', Record<string, string | null>>;

const url = `${baseUrl}/stored-values`;
/**
 * The browser keeps nothing else: the id under which the command knows the values of this tab, and the number of requests
 * with changes. The next page in the tab receives the values of the last one, which may still be on its way.
 */
const idName = 'poproom:tab-values';
/** Browsers send no more than this while a page is being closed. */
const maxKeptAlive = 60_000;

/**
 * The storage of a page of `poproom ui`. The command keeps the values: in the browser they would belong to its port, which
 * is another one the next time, and which another program may get later.
 */
const ofCommand = forwardedTo ? openCommandStorage() : undefined;

function openCommandStorage() {
  const id = crypto.randomUUID();
  const { kept, tab } = load(id, sessionStorage.getItem(idName));
  const otherTabs = new BroadcastChannel('poproom:values');
  const [local, session] = [new Map(Object.entries(kept)), new Map(Object.entries(tab))];
  let unsent: Changes | undefined;
  let unconfirmed: Changes = { kept: {}, tab: {} };
  let requests = 0;
  let isSending = false;
  let isLeaving = false;
  sessionStorage.setItem(idName, `${id}.0`);

  function record(store: keyof Changes, name: string, value: string | null): void {
    unsent ??= { kept: {}, tab: {} };
    unsent[store][name] = value;
    void sendAll();
  }

  /** One request at a time, except that a page that is being closed cannot wait. */
  async function sendAll(): Promise<void> {
    if (isSending && !isLeaving) return;
    isSending = true;
    // Changes of the same task go together.
    await Promise.resolve();
    while (unsent) await send();
    isSending = false;
  }

  /**
   * Repeats the changes of a request that was not answered. The browser may abort the requests of a page that is being
   * closed, or reorder them; the command then ignores all before the last. If the command has ended, the page has the
   * values until it is closed.
   */
  async function send(): Promise<void> {
    unconfirmed = { kept: { ...unconfirmed.kept, ...unsent?.kept }, tab: { ...unconfirmed.tab, ...unsent?.tab } };
    unsent = undefined;
    const number = ++requests;
    sessionStorage.setItem(idName, `${id}.${number}`);
    const body = JSON.stringify({ id, number, ...unconfirmed });
    const keepalive = isLeaving && body.length < maxKeptAlive;
    await fetch(url, { method: 'PATCH', body, keepalive }).catch(() => undefined);
    if (number === requests) unconfirmed = { kept: {}, tab: {} };
  }

  addEventListener('pagehide', () => {
    isLeaving = true;
    if (isSending) unsent ??= { kept: {}, tab: {} };
    void sendAll();
  });
  addEventListener('pageshow', () => (isLeaving = false));
  otherTabs.onmessage = ({ data: [name, value] }: MessageEvent<[string, string | null]>) => {
    set(local, name, value);
    dispatchEvent(new StorageEvent('storage', { key: name }));
  };
  return {
    /** For all tabs, and until the user deletes them. */
    local: valuesIn(local, (name, value) => {
      record('kept', name, value);
      otherTabs.postMessage([name, value]);
    }),
    /** For this tab. */
    session: valuesIn(session, (name, value) => record('tab', name, value)),
  };
}

/** Waits for the response: modules read values while they are loaded, and the command is on this machine. */
function load(id: string, from: string | null): Record<'kept' | 'tab', Record<string, string>> {
  const request = new XMLHttpRequest();
  request.open('POST', url, false);
  request.send(JSON.stringify({ id, from }));
  return JSON.parse(request.responseText);
}

/** The part of `Storage` that the page uses. */
function valuesIn(map: Map<string, string>, onChange: (name: string, value: string | null) => void) {
  function change(name: string, value: string | null): void {
    if ((map.get(name) ?? null) === value) return;
    set(map, name, value);
    onChange(name, value);
  }
  return {
    getItem: (name: string) => map.get(name) ?? null,
    setItem: change,
    removeItem: (name: string) => change(name, null),
    names: () => [...map.keys()],
  };
}

function set(map: Map<string, string>, name: string, value: string | null): void {
  if (value === null) map.delete(name);
  else map.set(name, value);
}
