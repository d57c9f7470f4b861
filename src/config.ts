/** The settings: the only reader of the environment. One table, from which `--help` is written too. */
import { BlockList, isIP } from 'node:net';
import { parseRedisUrl } from './redis/redis-url.ts';

interface Setting<T> {
  name: string;
  /** As one would write it; undefined where nothing set has a meaning of its own. */
  standard: string | undefined;
  help: string;
  /** Throws a sentence that continues "NAME …". */
  read: (text: string | undefined) => T;
}

function setting<T>(name: string, standard: string, help: string, read: (text: string) => T): Setting<T> {
  return { name, standard, help, read: (text) => read(text || standard) };
}

function optional<T>(name: string, help: string, read: (text: string) => T): Setting<T | undefined> {
  return { name, standard: undefined, help, read: (text) => (text ? read(text) : undefined) };
}

export const settings = {
  port: setting('PORT', '8080', 'port to listen on', wholeNumber(0, 65_535)),
  host: setting('POPROOM_HOST', '0.0.0.0', 'address to listen on', String),
  dataDir: setting('POPROOM_DATA_DIR', './data', 'folder of the database, the files and the secret', String),
  store: setting('POPROOM_STORE', 'sqlite:', 'where rooms are kept: sqlite: or redis://…', roomStore),
  files: setting('POPROOM_FILES', 'disk:', 'where files are kept: disk: or s3://BUCKET/PREFIX', fileStore),
  s3Endpoint: optional('POPROOM_S3_ENDPOINT', 'address of an S3 store other than that of AWS', webAddress),
  s3PathStyle: optional(
    'POPROOM_S3_PATH_STYLE',
    'true puts the bucket into the path, false into the host name; when unset, true with an endpoint',
    yesOrNo,
  ),
  secret: optional('POPROOM_SECRET', 'key of the PIN hashes; made and kept in the data folder when unset', longText),
  publicUrl: optional(
    'POPROOM_PUBLIC_URL',
    'address that links are made of; when unset, the request’s own',
    webAddress,
  ),
  filesUrl: optional('POPROOM_FILES_URL', 'address of the files; when unset, /files under the public one', webAddress),
  roomTtl: setting('POPROOM_ROOM_TTL', '24h', 'lifetime of a room', duration),
  roomMaxTtl: setting('POPROOM_ROOM_MAX_TTL', '7d', 'longest lifetime that may be asked for, up to 3650d', duration),
  contentMax: setting('POPROOM_CONTENT_MAX', '1MiB', 'largest text of a room, up to 8MiB', size(1, 8 * 1024 ** 2)),
  minFreeDisk: setting('POPROOM_MIN_FREE_DISK', '512MiB', 'room that uploads leave on the disk', size(0)),
  clientMaxBytes: setting(
    'POPROOM_CLIENT_MAX_BYTES',
    '500MiB',
    'bytes of files that one address without a key may store, an IPv6 /48 four times as many; 0 for no limit',
    size(0),
  ),
  keyMaxBytes: setting(
    'POPROOM_KEY_MAX_BYTES',
    '5GiB',
    'bytes of files that one API key may store; 0 for no limit',
    size(0),
  ),
  totalMaxBytes: optional(
    'POPROOM_TOTAL_MAX_BYTES',
    'bytes of all files together, 0 for no limit; when unset, 80 % of the disk, and none with S3',
    size(0),
  ),
  freeLimit: setting('POPROOM_FREE_LIMIT', '100', 'requests an hour without a key; 0 for no limit', wholeNumber(0)),
  proLimit: setting('POPROOM_PRO_LIMIT', '1000', 'requests an hour of a pro key; 0 for no limit', wholeNumber(0)),
  missLimit: setting(
    'POPROOM_MISS_LIMIT',
    '20',
    'unknown codes and wrong PINs an hour of one client; 0 for no limit',
    wholeNumber(0),
  ),
  maxDevices: setting('POPROOM_MAX_DEVICES_PER_ROOM', '100', 'devices in a room at a time', wholeNumber(1)),
  maxChannels: setting('POPROOM_MAX_CHANNELS_PER_CLIENT', '20', 'live channels of one client', wholeNumber(1)),
  allowedOrigins: setting(
    'POPROOM_ALLOWED_ORIGINS',
    '',
    'other origins whose pages are trusted like this server’s own',
    origins,
  ),
  requireApiKey: setting('POPROOM_REQUIRE_API_KEY', 'false', 'refuse requests without a key', yesOrNo),
  trustedProxies: setting(
    'POPROOM_TRUSTED_PROXIES',
    '',
    'proxies whose X-Forwarded-For holds, as CIDRs',
    addressRanges,
  ),
  drain: setting(
    'POPROOM_DRAIN',
    '0',
    'seconds from the order to stop until connections are refused, for a load balancer to notice; up to 20',
    wholeNumber(0, 20),
  ),
  metrics: setting('POPROOM_METRICS', 'false', 'serve /metrics', yesOrNo),
  logLevel: setting('POPROOM_LOG_LEVEL', 'info', 'debug, info, warn, error or silent', logLevel),
};

export type Config = { [K in keyof typeof settings]: ReturnType<(typeof settings)[K]['read']> };

/** Every bad variable at once: fixing them one start at a time is no fun. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

export function readConfig(env: Env = process.env): Config {
  const { config, problems } = inspectConfig(env);
  if (problems.length > 0) throw new ConfigError(problems);
  return config as Config;
}

type Env = Readonly<Record<string, string | undefined>>;

export interface Inspection {
  /** A setting that cannot be is missing. */
  config: Partial<Config>;
  problems: readonly string[];
  /** Variables that look like ours, and are none. */
  unknown: readonly string[];
}

/** For who wants to look further, whatever is wrong. */
export function inspectConfig(env: Env = process.env): Inspection {
  const problems: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [key, { name, read }] of Object.entries(settings)) {
    try {
      config[key] = read(env[name]?.trim());
    } catch (error) {
      problems.push(`${name} ${(error as Error).message}`);
    }
  }
  problems.push(...contradictions(config));
  const names = new Set(settingNames);
  const unknown = Object.keys(env).filter((name) => name.startsWith('POPROOM_') && !names.has(name));
  return { config, problems, unknown };
}

/** Those of the command line stand in the same environment. */
export const settingNames: readonly string[] = [
  ...Object.values(settings).map(({ name }) => name),
  ...['POPROOM_URL', 'POPROOM_API_KEY', 'POPROOM_PIN'],
];

function contradictions({ roomTtl = 0, roomMaxTtl = roomTtl, store, secret }: Partial<Config>): string[] {
  const problems: string[] = [];
  if (roomTtl > roomMaxTtl) problems.push('POPROOM_ROOM_TTL must not be over POPROOM_ROOM_MAX_TTL');
  if (store && store !== 'sqlite:' && !secret) {
    problems.push('POPROOM_SECRET must be set with Redis, to the same on all nodes');
  }
  return problems;
}

/** Repeats what was said, unless that may be an address with a password in it. */
function refusal(what: string, said: string): Error {
  return new Error(said.includes('@') ? what : `${what}, not "${said}"`);
}

function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const n = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (n >= least && n <= most) return n;
    const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`;
    throw refusal(`must be a whole number ${range}`, text);
  };
}

const secondsPer: Record<string, number> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };

/** In seconds. Far beyond the longest, a moment has no date any more. */
function duration(text: string): number {
  const [, number, unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  const seconds = Number(number) * (secondsPer[unit] ?? Number.NaN);
  if (seconds >= 60 && seconds <= 3650 * 86_400) return seconds;
  throw refusal('must be a time from 60 seconds to 3650d such as 3600, 90m, 24h or 7d', text);
}

const bytesPer: Record<string, number> = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

function size(least: number, most = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const [, number, unit = ''] = /^(\d{1,15})((?:[KMG]iB)?)$/.exec(text) ?? [];
    const bytes = Number(number) * (bytesPer[unit] ?? Number.NaN);
    if (bytes >= least && bytes <= most) return bytes;
    throw refusal('must be a size such as 1048576, 512KiB or 1MiB', text);
  };
}

/** The address is used as it is; here it is only checked, and not repeated, for it may hold a password. */
function roomStore(text: string): string {
  if (text === 'sqlite:') return text;
  if (!/^rediss?:/.test(text)) throw new Error('must be sqlite: or an address such as redis://localhost:6379');
  parseRedisUrl(text);
  return text;
}

export interface Bucket {
  bucket: string;
  /** Of the objects' names, with the slash at its end. */
  prefix: string;
}

function fileStore(text: string): 'disk:' | Bucket {
  if (text === 'disk:') return text;
  const bucket = readBucket(text);
  if (!bucket) throw refusal('must be disk: or a bucket such as s3://my-bucket/poproom', text);
  return bucket;
}

export function readBucket(text: string): Bucket | undefined {
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  return bucket ? { bucket, prefix: prefix.replace(/\/*$/, prefix === '' ? '' : '/') } : undefined;
}

function oneOf(...choices: string[]) {
  return (text: string): string => {
    if (choices.includes(text)) return text;
    throw refusal(`must be ${choices.join(' or ')}`, text);
  };
}

function yesOrNo(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw refusal('must be true or false', text);
}

/** The value stays out of the message: it is a secret. */
function longText(text: string): string {
  if (text.length >= 16) return text;
  throw new Error('must have at least 16 characters');
}

function webAddress(text: string): string {
  const url = URL.parse(text);
  const plain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (plain) return url.href.replace(/\/+$/, '');
  throw refusal('must be a web address such as https://pop.example.org', text);
}

function origins(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((part) => {
      const url = URL.parse(part);
      if (url && url.origin !== 'null' && url.href === `${url.origin}/`) return url.origin;
      throw refusal('must list origins such as https://app.example.org', text);
    });
}

function addressRanges(text: string): BlockList {
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
    throw refusal('must list addresses or ranges such as 10.0.0.0/8', text);
  }
  ranges.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4');
}

function logLevel(text: string): string {
  return oneOf('debug', 'info', 'warn', 'error', 'silent')(text);
}
