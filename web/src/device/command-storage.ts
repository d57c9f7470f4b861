/**
 * The storage of a page of `poproom ui`. The command keeps the values: in the browser they would belong to its port, which
 * is another one the next time, and which another program may get later.
 */
import { baseUrl } from '../page-settings.ts';

/** The part of `Storage` that the page uses. */
export interface Values extends Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  names(): string[];
}

type Changes = Record<'kept' | 'tab', Record<string, string | null>>;

const url = `${baseUrl}/stored-values`;
/**
 * The browser keeps nothing else: the id under which the command knows the values of this tab, and the number of requests
 * with changes. The next page in the tab receives the values of the last one, which may still be on its way.
 */
const idName = 'poproom:tab-values';
/** Browsers send no more than this while a page is being closed. */
const maxKeptAlive = 60_000;

export function openCommandStorage() {
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
    await fetch(url, { method: 'PATCH', body, keepalive: isLeaving && body.length < maxKeptAlive }).catch(
      () => undefined,
    );
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

function valuesIn(map: Map<string, string>, onChange: (name: string, value: string | null) => void): Values {
  function change(name: string, value: string | null): void {
    if ((map.get(name) ?? null) === value) return;
    set(map, name, value);
    onChange(name, value);
  }
  return {
    getItem: (name) => map.get(name) ?? null,
    setItem: change,
    removeItem: (name) => change(name, null),
    names: () => [...map.keys()],
  };
}

function set(map: Map<string, string>, name: string, value: string | null): void {
  if (value === null) map.delete(name);
  else map.set(name, value);
}
