/** Parses the values of settings. Each parser throws an error whose message continues "NAME …". */
import { BlockList, isIP } from 'node:net';
import { resolve } from 'node:path';
import { parseRedisUrl } from '../redis/redis-url.ts';

/** Quotes the value, unless it may be a URL with a password. */
function invalid(rule: string, value: string): Error {
  return new Error(value.includes('@') ? rule : `${rule}; got "${value}"`);
}

export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const n = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (n >= least && n <= most) return n;
    const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`;
    throw invalid(`must be a whole number ${range}`, text);
  };
}

const secondsPer: Record<string, number> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };

/** In seconds. The limit keeps expiry dates representable. */
export function duration(text: string): number {
  const [, number, unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  const seconds = Number(number) * (secondsPer[unit] ?? Number.NaN);
  if (seconds >= 60 && seconds <= 3650 * 86_400) return seconds;
  throw invalid('must be a duration from 60 seconds to 3650d, for example 3600, 90m, 24h or 7d', text);
}

const bytesPer: Record<string, number> = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 };

export function size(least: number, most = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const [, number, unit = ''] = /^(\d{1,15})((?:[KMGT]iB)?)$/.exec(text) ?? [];
    const bytes = Number(number) * (bytesPer[unit] ?? Number.NaN);
    if (bytes >= least && bytes <= most) return bytes;
    throw invalid('must be a size, for example 1048576, 512KiB or 1MiB', text);
  };
}

/** Only checks the URL. The error does not quote it, because it may contain a password. */
export function roomStore(text: string): string {
  if (text === 'sqlite:') return text;
  if (!/^rediss?:/.test(text)) throw new Error('must be sqlite: or a URL, for example redis://localhost:6379');
  parseRedisUrl(text);
  return text;
}

export interface Bucket {
  bucket: string;
  /** The prefix of object names, with a trailing slash. */
  prefix: string;
}

/** `disk:` is the folder `files` in the data folder. */
export function fileStore(text: string): 'disk:' | FilesFolder | Bucket {
  if (text === 'disk:') return text;
  const folder = folderIn('disk', text);
  if (folder !== undefined) return { folder: realFolder(folder) };
  const bucket = readBucket(text);
  if (!bucket) throw invalid('must be disk:, disk:/FOLDER or a bucket, for example s3://my-bucket/poproom', text);
  return bucket;
}

export interface FilesFolder {
  /** An absolute path. */
  folder: string;
}

/** The folder after `SCHEME:`. Rejects two slashes, because a relative path would become an absolute one. */
export function folderIn(scheme: string, text: string): string | undefined {
  const rest = text.startsWith(`${scheme}:`) ? text.slice(scheme.length + 1) : '';
  return rest === '' || rest.startsWith('//') ? undefined : resolve(rest);
}

/** The system's own folders are not on a disk. Creating a folder in /proc does not even fail: Node never returns. */
export function realFolder(text: string): string {
  const [, system] = /^(\/proc|\/sys|\/dev)(?!\/shm(?:\/|$))(?:\/|$)/.exec(resolve(text)) ?? [];
  if (system === undefined) return text;
  throw invalid(`must be a folder on a disk, and ${system} belongs to the system`, text);
}

export function readBucket(text: string): Bucket | undefined {
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  return bucket ? { bucket, prefix: prefix.replace(/\/*$/, prefix === '' ? '' : '/') } : undefined;
}

function oneOf(...choices: string[]) {
  return (text: string): string => {
    if (choices.includes(text)) return text;
    throw invalid(`must be ${choices.join(' or ')}`, text);
  };
}

export function yesOrNo(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw invalid('must be true or false', text);
}

/** The error does not quote the value, because it is a secret. */
export const longText =
  (minimum: number) =>
  (text: string): string => {
    if (text.length >= minimum) return text;
    throw new Error(`must have at least ${minimum} characters`);
  };

export function webAddress(text: string): string {
  const url = URL.parse(text);
  const plain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (plain) return url.href.replace(/\/+$/, '');
  throw invalid('must be a URL, for example https://pop.example.org', text);
}

/** The public URL may have a path. At these paths, it could not be told from a path of the server itself. */
export function publicAddress(text: string): string {
  const url = webAddress(text);
  const { pathname } = new URL(url);
  if (/^\/(api|admin|assets|docs|files|r)(\/|$)/.test(pathname))
    throw invalid('must not have a path that starts with /api, /admin, /assets, /docs, /files or /r', text);
  // A path such as //host would lead to another host.
  if (pathname.includes('//')) throw invalid('must not have // in its path', text);
  return url;
}

export function origins(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((part) => {
      const url = URL.parse(part);
      if (url && url.origin !== 'null' && url.href === `${url.origin}/`) return url.origin;
      throw invalid('must be a list of origins, for example https://app.example.org', text);
    });
}

export function addressRanges(text: string): BlockList {
  const ranges = new BlockList();
  for (const part of text.split(/[\s,]+/).filter(Boolean)) addRange(ranges, part);
  return ranges;
}

function addRange(ranges: BlockList, text: string): void {
  const [address = '', prefix] = text.split('/');
  const version = isIP(address);
  const bits = version === 6 ? 128 : 32;
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (version === 0 || !(length <= bits)) {
    throw invalid('must be a list of addresses or CIDR ranges, for example 10.0.0.0/8', text);
  }
  ranges.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4');
}

export function logLevel(text: string): string {
  return oneOf('debug', 'info', 'warn', 'error', 'silent')(text);
}
