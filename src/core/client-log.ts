/** Log lines about clients: each names its client by the hash, and a flood of refusals is a few lines. */
import type { ClientHash } from './client-hash.ts';
import type { ClientId, Log } from './ports.ts';

export interface ClientLog {
  /** Whether everything has a line: what goes well too, and each refusal. Look before you put a line together. */
  readonly isDebug: boolean;
  debug(client: ClientId, fields: object, message: string): void;
  /** The first refusal of a kind from a client has its line; the others of that second are counted in one. */
  refused(refusal: LoggedRefusal): void;
  /** Writes what is counted. */
  stop(): void;
}

export interface LoggedRefusal {
  client: ClientId;
  /** An error code, or what else the refusals in one line have in common; never anything that the client sent. */
  code: string;
  level?: 'info' | 'error';
  fields: object;
  message: string;
}

export interface ClientLogOptions {
  log: Log;
  hash: ClientHash;
  isDebug: boolean;
}

const windowMs = 1000;
/** So many clients and codes have lines of their own at a time; the refusals of all others are counted together. */
const maxEntries = 100;

interface Entry {
  client: string;
  code: string;
  count: number;
}

export function createClientLog({ log, hash, isDebug }: ClientLogOptions): ClientLog {
  const entries = new Map<string, Entry>();
  let ofOthers = 0;
  let timer: NodeJS.Timeout | undefined;

  /** The hash for a line of its own; undefined where the refusal is only counted. */
  function ownLine(client: ClientId, code: string): string | undefined {
    if (isDebug) return hash(client);
    timer ??= setInterval(endWindow, windowMs).unref();
    const key = `${code} ${client}`;
    const entry = entries.get(key);
    if (entry) entry.count += 1;
    else if (entries.size >= maxEntries) ofOthers += 1;
    else {
      const name = hash(client);
      entries.set(key, { client: name, code, count: 0 });
      return name;
    }
    return undefined;
  }

  function endWindow(): void {
    for (const [key, { client, code, count }] of entries) {
      if (count === 0) entries.delete(key);
      else {
        log.info({ client, code, count }, 'more refusals of this kind');
        entries.set(key, { client, code, count: 0 });
      }
    }
    if (ofOthers > 0) log.info({ count: ofOthers }, 'refusals of further clients');
    ofOthers = 0;
    if (entries.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    isDebug,
    debug: (client, fields, message) => isDebug && log.debug({ client: hash(client), ...fields }, message),
    refused({ client: of, code, level = 'info', fields, message }) {
      const client = ownLine(of, code);
      if (client !== undefined) log[level]({ client, code, ...fields }, message);
    },
    stop() {
      endWindow();
      clearInterval(timer);
    },
  };
}
