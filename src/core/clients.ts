/** Clients: their API keys, the hashes that name them in logs and lists, and log lines about them. */
import { createHmac, hash, randomBytes, randomInt } from 'node:crypto';
import type { ClientId, Log } from './ports/basics.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const form = /^pop_[0-9A-Za-z]{32}$/;

/** `text` is the key itself. Only its owner may see it. */
export function drawApiKey() {
  let text = 'pop_';
  for (let i = 0; i < 32; i++) text += base62[randomInt(base62.length)];
  return { id: randomBytes(5).toString('hex'), text, hash: hashApiKey(text) };
}

export const hashApiKey = (text: string): string => hash('sha256', text, 'hex');

/** Saves a lookup in the store for text that cannot be a key. */
export const looksLikeApiKey = (text: string): boolean => form.test(text);

export type ClientHash = ReturnType<typeof createClientHash>;

/** Keyed, because a plain hash of an IPv4 address can be reversed in minutes. All nodes share the secret. */
export const createClientHash = (secret: string) => (client: ClientId) =>
  createHmac('sha256', secret).update(`client\n${client}`).digest('hex').slice(0, 12);

interface LoggedRefusal {
  client: ClientId;
  /** An error code or another fixed name, never anything that the client sent. */
  code: string;
  level?: 'info' | 'error';
  fields: object;
  message: string;
}

type ClientLogOptions = { log: Log; hash: ClientHash; isDebug: boolean };

const windowMs = 1000;
/** The maximum number of separate clients and codes. Rejections of all others are counted together. */
const maxEntries = 100;

export type ClientLog = ReturnType<typeof createClientLog>;

export function createClientLog({ log, hash, isDebug }: ClientLogOptions) {
  const entries = new Map<string, { client: string; code: string; count: number }>();
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
    /** Whether every request and every rejection is logged. Check this before you build the fields. */
    isDebug,
    debug(client: ClientId, fields: object, message: string): void {
      if (isDebug) log.debug({ client: hash(client), ...fields }, message);
    },
    /** Logs the first rejection of a client with a code. Further ones within a second are counted in one line. */
    refused({ client: of, code, level = 'info', fields, message }: LoggedRefusal): void {
      const client = ownLine(of, code);
      if (client !== undefined) log[level]({ client, code, ...fields }, message);
    },
    /** Logs the remaining counts. */
    stop(): void {
      endWindow();
      clearInterval(timer);
    },
  };
}
