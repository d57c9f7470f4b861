/** Clients: their API keys, the hashes that name them in logs and lists, and log lines about them. */
import { createHmac, hash, randomBytes, randomInt } from 'node:crypto';
import type { ClientId, Log } from './ports/basics.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const form = /^pop_[0-9A-Za-z]{32}$/;

interface DrawnKey {
  id: string;
  /** The key itself. Only its owner may see it. */
  text: string;
  hash: string;
}

export function drawApiKey(): DrawnKey {
  let text = 'pop_';
  for (let i = 0; i < 32; i++) text += base62[randomInt(base62.length)];
  return { id: randomBytes(5).toString('hex'), text, hash: hashApiKey(text) };
}

export function hashApiKey(text: string): string {
  return hash('sha256', text, 'hex');
}

/** Saves a lookup in the store for text that cannot be a key. */
export function looksLikeApiKey(text: string): boolean {
  return form.test(text);
}

const hexDigits = 12;

export type ClientHash = (client: ClientId) => string;

/** Keyed, because a plain hash of an IPv4 address can be reversed in minutes. All nodes share the secret. */
export function createClientHash(secret: string): ClientHash {
  return (client) => createHmac('sha256', secret).update(`client\n${client}`).digest('hex').slice(0, hexDigits);
}

export interface ClientLog {
  /** Whether every request and every rejection is logged. Check this before you build the fields. */
  readonly isDebug: boolean;
  debug(client: ClientId, fields: object, message: string): void;
  /** Logs the first rejection of a client with a code. Further ones within a second are counted in one line. */
  refused(refusal: LoggedRefusal): void;
  /** Logs the remaining counts. */
  stop(): void;
}

interface LoggedRefusal {
  client: ClientId;
  /** An error code or another fixed name, never anything that the client sent. */
  code: string;
  level?: 'info' | 'error';
  fields: object;
  message: string;
}

interface ClientLogOptions {
  log: Log;
  hash: ClientHash;
  isDebug: boolean;
}

const windowMs = 1000;
/** The maximum number of separate clients and codes. Rejections of all others are counted together. */
const maxEntries = 100;

interface Entry {
  client: string;
  code: string;
  count: number;
}

export function createClientLog({ log, hash, isDebug }: ClientLogOptions): ClientLog {
  const entries = new Map<string, Entry>();
  let countOfOthers = 0;
  let timer: NodeJS.Timeout | undefined;

  /** The hash of the client if the rejection gets its own line; undefined if it is only counted. */
  function ownLine(client: ClientId, code: string): string | undefined {
    if (isDebug) return hash(client);
    timer ??= setInterval(endWindow, windowMs).unref();
    const key = `${code} ${client}`;
    const entry = entries.get(key);
    if (entry) entry.count += 1;
    else if (entries.size >= maxEntries) countOfOthers += 1;
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
    if (countOfOthers > 0) log.info({ count: countOfOthers }, 'refusals of further clients');
    countOfOthers = 0;
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
