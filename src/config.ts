/** The settings. Only this module reads the environment. `--help` is generated from the same table. */
import { BlockList, isIP } from 'node:net';
import { parseRedisUrl } from './redis/redis-url.ts';

interface Setting<T> {
  name: string;
  /** The default, as a user would write it; undefined if an unset variable has its own meaning. */
  standard: string | undefined;
  help: string;
  /** Throws an error whose message continues "NAME …". */
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
  dataDir: setting('POPROOM_DATA_DIR', './data', 'folder for the database, the files and the secret', String),
  store: setting('POPROOM_STORE', 'sqlite:', 'store for rooms: sqlite: or redis://…', roomStore),
  files: setting('POPROOM_FILES', 'disk:', 'store for files: disk: or s3://BUCKET/PREFIX', fileStore),
  s3Endpoint: optional('POPROOM_S3_ENDPOINT', 'URL of an S3-compatible store other than AWS', webAddress),
  s3PathStyle: optional(
    'POPROOM_S3_PATH_STYLE',
    'true: bucket in the path; false: bucket in the host name; default: true if an endpoint is set',
    yesOrNo,
  ),
  secret: optional('POPROOM_SECRET', 'key for PIN hashes; default: generated and stored in the data folder', longText),
  publicUrl: optional('POPROOM_PUBLIC_URL', 'base URL for links; default: taken from the request', webAddress),
  filesUrl: optional('POPROOM_FILES_URL', 'base URL for files; default: /files under the public URL', webAddress),
  roomTtl: setting('POPROOM_ROOM_TTL', '24h', 'default lifetime of a room', duration),
  roomMaxTtl: setting(
    'POPROOM_ROOM_MAX_TTL',
    '7d',
    'longest lifetime that a client may request, up to 3650d',
    duration,
  ),
  contentMax: setting('POPROOM_CONTENT_MAX', '1MiB', 'maximum size of a text, up to 8MiB', size(1, 8 * 1024 ** 2)),
  fileMax: setting('POPROOM_FILE_MAX', '10MiB', 'maximum size of a file, up to 1TiB', size(1, 1024 ** 4)),
  roomMaxBytes: setting('POPROOM_ROOM_MAX_BYTES', '100MiB', 'maximum size of all files in a room', size(1)),
  roomMaxFiles: setting(
    'POPROOM_ROOM_MAX_FILES',
    '100',
    'maximum number of files in a room, up to 1000',
    wholeNumber(1, 1000),
  ),
  minFreeDisk: setting('POPROOM_MIN_FREE_DISK', '512MiB', 'free disk space below which uploads are rejected', size(0)),
  clientMaxBytes: setting(
    'POPROOM_CLIENT_MAX_BYTES',
    '500MiB',
    'storage per address without an API key, four times as much per IPv6 /48; 0: no limit',
    size(0),
  ),
  keyMaxBytes: setting('POPROOM_KEY_MAX_BYTES', '5GiB', 'storage per API key; 0: no limit', size(0)),
  totalMaxBytes: optional(
    'POPROOM_TOTAL_MAX_BYTES',
    'storage for all files; 0: no limit; default: 80 % of the disk, no limit with S3',
    size(0),
  ),
  freeLimit: setting('POPROOM_FREE_LIMIT', '100', 'requests per hour without an API key; 0: no limit', wholeNumber(0)),
  proLimit: setting('POPROOM_PRO_LIMIT', '1000', 'requests per hour with a pro key; 0: no limit', wholeNumber(0)),
  missLimit: setting(
    'POPROOM_MISS_LIMIT',
    '20',
    'unknown codes and wrong PINs per client and hour; 0: no limit',
    wholeNumber(0),
  ),
  maxDevices: setting('POPROOM_MAX_DEVICES_PER_ROOM', '100', 'maximum number of devices in a room', wholeNumber(1)),
  maxChannels: setting(
    'POPROOM_MAX_CHANNELS_PER_CLIENT',
    '20',
    'maximum number of live channels per client',
    wholeNumber(1),
  ),
  allowedOrigins: setting(
    'POPROOM_ALLOWED_ORIGINS',
    '',
    'additional origins whose pages are trusted like the server’s own',
    origins,
  ),
  requireApiKey: setting('POPROOM_REQUIRE_API_KEY', 'false', 'reject requests without an API key', yesOrNo),
  trustedProxies: setting(
    'POPROOM_TRUSTED_PROXIES',
    '',
    'proxies whose X-Forwarded-For is trusted, as CIDRs',
    addressRanges,
  ),
  drain: setting(
    'POPROOM_DRAIN',
    '0',
    'seconds to keep serving after a stop signal, until load balancers notice; up to 20',
    wholeNumber(0, 20),
  ),
  metrics: setting('POPROOM_METRICS', 'false', 'serve /metrics', yesOrNo),
  logLevel: setting('POPROOM_LOG_LEVEL', 'info', 'debug, info, warn, error or silent', logLevel),
};

export type Config = { [K in keyof typeof settings]: ReturnType<(typeof settings)[K]['read']> };

/** Reports all invalid settings together. */
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
  /** Without the invalid settings. */
  config: Partial<Config>;
  problems: readonly string[];
  /** Variables named POPROOM_… that are not settings. */
  unknown: readonly string[];
}

/** Reads the settings without throwing, for diagnosis. */
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

/** Includes the variables of the command line, which are in the same environment. */
export const settingNames: readonly string[] = [
  ...Object.values(settings).map(({ name }) => name),
  ...['POPROOM_URL', 'POPROOM_API_KEY', 'POPROOM_PIN'],
];

function contradictions(config: Partial<Config>): string[] {
  const { roomTtl = 0, roomMaxTtl = roomTtl, fileMax = 0, roomMaxBytes = fileMax, store, secret } = config;
  const problems: string[] = [];
  if (fileMax > roomMaxBytes) problems.push('POPROOM_FILE_MAX must not exceed POPROOM_ROOM_MAX_BYTES');
  if (roomTtl > roomMaxTtl) problems.push('POPROOM_ROOM_TTL must not exceed POPROOM_ROOM_MAX_TTL');
  if (store && store !== 'sqlite:' && !secret) {
    problems.push('POPROOM_SECRET is required with Redis, with the same value on all nodes');
  }
  return problems;
}

/** Quotes the value, unless it may be a URL with a password. */
function invalid(rule: string, value: string): Error {
  return new Error(value.includes('@') ? rule : `${rule}; got "${value}"`);
}

function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const n = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (n >= least && n <= most) return n;
    const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`;
    throw invalid(`must be a whole number ${range}`, text);
  };
}

const secondsPer: Record<string, number> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };

/** In seconds. The limit keeps expiry dates representable. */
function duration(text: string): number {
  const [, number, unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  const seconds = Number(number) * (secondsPer[unit] ?? Number.NaN);
  if (seconds >= 60 && seconds <= 3650 * 86_400) return seconds;
  throw invalid('must be a duration from 60 seconds to 3650d, for example 3600, 90m, 24h or 7d', text);
}

const bytesPer: Record<string, number> = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 };

function size(least: number, most = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const [, number, unit = ''] = /^(\d{1,15})((?:[KMGT]iB)?)$/.exec(text) ?? [];
    const bytes = Number(number) * (bytesPer[unit] ?? Number.NaN);
    if (bytes >= least && bytes <= most) return bytes;
    throw invalid('must be a size, for example 1048576, 512KiB or 1MiB', text);
  };
}

/** Only checks the URL. The error does not quote it, because it may contain a password. */
function roomStore(text: string): string {
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

function fileStore(text: string): 'disk:' | Bucket {
  if (text === 'disk:') return text;
  const bucket = readBucket(text);
  if (!bucket) throw invalid('must be disk: or a bucket, for example s3://my-bucket/poproom', text);
  return bucket;
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

function yesOrNo(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw invalid('must be true or false', text);
}

/** The error does not quote the value, because it is a secret. */
function longText(text: string): string {
  if (text.length >= 16) return text;
  throw new Error('must have at least 16 characters');
}

function webAddress(text: string): string {
  const url = URL.parse(text);
  const plain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (plain) return url.href.replace(/\/+$/, '');
  throw invalid('must be a URL, for example https://pop.example.org', text);
}

function origins(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((part) => {
      const url = URL.parse(part);
      if (url && url.origin !== 'null' && url.href === `${url.origin}/`) return url.origin;
      throw invalid('must be a list of origins, for example https://app.example.org', text);
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
    throw invalid('must be a list of addresses or CIDR ranges, for example 10.0.0.0/8', text);
  }
  ranges.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4');
}

function logLevel(text: string): string {
  return oneOf('debug', 'info', 'warn', 'error', 'silent')(text);
}
