/**
 * The storage of a page of `poproom ui`. The command keeps the values: in the browser they would belong to its port, which
 * is another one the next time, and which another program may get later.
 */
import { baseUrl } from '../base-path.ts';

/** The part of `Storage` that the page uses. */
interface Values extends Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  names(): string[];
}

interface CommandStorage {
  /** For all tabs, and until the user deletes them. */
  local: Values;
  /** For this tab. */
  session: Values;
}

type Changes = Record<string, string | null>;

const url = `${baseUrl}/stored-values`;
/** The browser keeps nothing else: the number under which the command knows the values of this tab. */
const idName = 'poproom:tab-values';
/** Browsers send no more than this while a page is being closed. */
const maxKeptAlive = 60_000;

export function openCommandStorage(): CommandStorage {
  const id = crypto.randomUUID();
  const { kept, tab } = load(id, sessionStorage.getItem(idName));
  sessionStorage.setItem(idName, id);
  const otherTabs = new BroadcastChannel('poproom:values');
  const [local, session] = [new Map(Object.entries(kept)), new Map(Object.entries(tab))];
  let changes: Record<'kept' | 'tab', Changes> | undefined;
  let isSending = false;

  function record(store: 'kept' | 'tab', name: string, value: string | null): void {
    changes ??= { kept: {}, tab: {} };
    changes[store][name] = value;
    void sendAll();
  }

  /** One request at a time, so that they arrive in order. */
  async function sendAll(): Promise<void> {
    if (isSending) return;
    isSending = true;
    // Changes of the same task go together.
    await Promise.resolve();
    while (changes) await send();
    isSending = false;
  }

  /** If the command has ended, the page has the values until it is closed. */
  async function send(): Promise<void> {
    const body = JSON.stringify({ id, ...changes });
    changes = undefined;
    await fetch(url, { method: 'PATCH', body, keepalive: body.length < maxKeptAlive }).catch(() => undefined);
  }

  addEventListener('pagehide', () => {
    if (changes) void send();
  });
  otherTabs.onmessage = ({ data: [name, value] }: MessageEvent<[string, string | null]>) => {
    set(local, name, value);
    dispatchEvent(new StorageEvent('storage', { key: name }));
  };
  return {
    local: valuesIn(local, (name, value) => {
      record('kept', name, value);
      otherTabs.postMessage([name, value]);
    }),
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
