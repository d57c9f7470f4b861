/** The settings. Only this module reads the environment. `--help` is generated from the same table. */
import { BlockList, isIP } from 'node:net';
import { resolve } from 'node:path';
import { creationModes, type LimitKey, type LimitSetting, limitTable, writtenLimit } from './protocol/limits.ts';
import { parseRedisUrl } from './redis/redis-url.ts';
import { parseWebhookHosts } from './webhooks/hosts.ts';

interface Setting<T> {
  name: string;
  /** Another name that people try. It wins over the first one. */
  alias?: string;
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

const flag = (name: string, help: string) => setting(name, 'false', help, yesOrNo);

/** Empty by default. */
const list = <T>(name: string, help: string, read: (text: string) => T) => setting(name, '', help, read);

function limit({ variable, help, unit, mayBeOff, highest, default: standard }: LimitSetting): Setting<number> {
  const range = highest === undefined ? '' : `, up to ${writtenLimit(highest, unit)}`;
  const least = mayBeOff ? 0 : 1;
  const read = unit === 'seconds' ? duration : unit === 'bytes' ? size(least, highest) : wholeNumber(least, highest);
  return setting(variable, writtenLimit(standard, unit), `${help}${range}${mayBeOff ? '; 0: no limit' : ''}`, read);
}

export const settings = {
  port: {
    ...setting('PORT', '8080', 'port to listen on; POPROOM_PORT works too, and wins', wholeNumber(0, 65_535)),
    alias: 'POPROOM_PORT',
  },
  host: setting('POPROOM_HOST', '0.0.0.0', 'address to listen on', String),
  dataDir: setting('POPROOM_DATA_DIR', './data', 'folder for the database, the files and the secret', realFolder),
  store: setting('POPROOM_STORE', 'sqlite:', 'store for rooms: sqlite: or redis://…', roomStore),
  files: setting('POPROOM_FILES', 'disk:', 'store for files: disk:, disk:/FOLDER or s3://BUCKET/PREFIX', fileStore),
  s3Endpoint: optional('POPROOM_S3_ENDPOINT', 'URL of an S3-compatible store other than AWS', webAddress),
  s3PathStyle: optional(
    'POPROOM_S3_PATH_STYLE',
    'true: bucket in the path; false: bucket in the host name; default: true if an endpoint is set',
    yesOrNo,
  ),
  allowEviction: flag('POPROOM_ALLOW_EVICTION', 'start even if Redis may evict rooms when its memory is full'),
  tlsCert: optional('POPROOM_TLS_CERT', 'PEM file with the certificate and its chain; turns on HTTPS', String),
  tlsKey: optional('POPROOM_TLS_KEY', 'PEM file with the private key of the certificate', String),
  secret: optional(
    'POPROOM_SECRET',
    'key for PIN hashes; default: generated and stored in the data folder',
    longText(16),
  ),
  publicUrl: optional('POPROOM_PUBLIC_URL', 'base URL for links; default: taken from the request', publicAddress),
  pathRemoved: optional(
    'POPROOM_PATH_REMOVED',
    'whether the proxy removes the path of the public URL; default: either works, but not for the admin interface',
    yesOrNo,
  ),
  filesUrl: optional('POPROOM_FILES_URL', 'base URL for files; default: /files under the public URL', webAddress),
  // The limits that clients notice.
  ...(Object.fromEntries(limitTable.map(([key, entry]) => [key, limit(entry)])) as Record<LimitKey, Setting<number>>),
  minFreeDisk: setting('POPROOM_MIN_FREE_DISK', '512MiB', 'free disk space below which uploads are rejected', size(0)),
  totalMaxBytes: optional(
    'POPROOM_TOTAL_MAX_BYTES',
    'storage for all files; 0: no limit; default: 80 % of the disk, no limit with S3',
    size(0),
  ),
  workLimit: setting(
    'POPROOM_WORK_LIMIT',
    '6000',
    'milliseconds of CPU time per client and minute for texts; 0: no limit',
    wholeNumber(0),
  ),
  allowedOrigins: list(
    'POPROOM_ALLOWED_ORIGINS',
    'additional origins whose pages are trusted like the server’s own',
    origins,
  ),
  create: setting(
    'POPROOM_CREATE',
    'open',
    'who may create rooms besides API keys: open (everyone), key (nobody else), password, or proxy (signed-in users)',
    oneOf(...creationModes),
  ),
  createPassword: optional(
    'POPROOM_CREATE_PASSWORD',
    'password for creating rooms, with POPROOM_CREATE=password; at least 10 characters',
    password,
  ),
  userHeader: setting(
    'POPROOM_USER_HEADER',
    'Remote-User',
    'header in which a trusted proxy names the user, with POPROOM_CREATE=proxy',
    userHeader,
  ),
  requireApiKey: flag('POPROOM_REQUIRE_API_KEY', 'reject requests without an API key'),
  trustedProxies: list('POPROOM_TRUSTED_PROXIES', 'proxies whose X-Forwarded-For is trusted, as CIDRs', addressRanges),
  webhookHosts: list(
    'POPROOM_WEBHOOK_HOSTS',
    'hosts that rooms may send webhooks to; *.example.org for all below it, private:HOST for one in a private network',
    parseWebhookHosts,
  ),
  demo: flag(
    'POPROOM_DEMO',
    'public demonstration: rooms of at most 15 minutes, small files, a banner, and nothing for search engines',
  ),
  drain: setting(
    'POPROOM_DRAIN',
    '0',
    'seconds to keep serving after a stop signal, until load balancers notice; up to 20',
    wholeNumber(0, 20),
  ),
  adminToken: optional(
    'POPROOM_ADMIN_TOKEN',
    'turns on /admin and /api/admin, which need this token; at least 24 characters',
    longText(24),
  ),
  abuseContact: optional(
    'POPROOM_ABUSE_CONTACT',
    'email address or https URL for abuse, shown in the page; with an admin token, rooms can be reported too',
    contact,
  ),
  metrics: flag('POPROOM_METRICS', 'serve /metrics'),
  metricsToken: optional('POPROOM_METRICS_TOKEN', 'token that /metrics requires; default: none', longText(16)),
  logLevel: setting(
    'POPROOM_LOG_LEVEL',
    'info',
    'debug, info, warn, error or silent',
    oneOf('debug', 'info', 'warn', 'error', 'silent'),
  ),
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

export function readConfig(env: Env = process.env, options: ServeOptions = {}): Config {
  const { config, problems } = inspectConfig(env, options);
  if (problems.length > 0) throw new ConfigError(problems);
  return config as Config;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The settings that `poproom serve` also takes as options, with the names of these options. */
export const serveOptions = { port: 'port', host: 'host', dataDir: 'data' } as const;

/** The values of these options, which override the environment. */
type ServeOptions = Partial<Record<keyof typeof serveOptions, string | undefined>>;

export type Inspection = ReturnType<typeof inspectConfig>;

/** Reads the settings without throwing, for diagnosis. `config` lacks the invalid ones. */
export function inspectConfig(env: Env = process.env, options: ServeOptions = {}) {
  const problems: string[] = [];
  /** Values that are probably a mistake, as sentences. */
  const warnings: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries<Setting<unknown>>(settings)) {
    const given = options[key as keyof ServeOptions];
    const inEnv = variableOf(setting, env);
    if (given === undefined && inEnv.warning) warnings.push(inEnv.warning);
    const label = given === undefined ? inEnv.name : `--${serveOptions[key as keyof ServeOptions]}`;
    try {
      if (given?.trim() === '') throw new Error('needs a value');
      config[key] = setting.read((given ?? env[inEnv.name])?.trim());
    } catch (error) {
      problems.push(`${label} ${(error as Error).message}`);
    }
  }
  if (config.demo === true) problems.push(...applyDemo(config, env));
  problems.push(...contradictions(config));
  const names = new Set(settingNames);
  const unknown = Object.keys(env).filter((name) => name.startsWith('POPROOM_') && !names.has(name));
  return { config: config as Partial<Config>, problems, warnings, unknown };
}

/** Sets the limits of a demonstration that the environment leaves open, and reports those that exceed them. */
function applyDemo(config: Record<string, unknown>, env: Env): string[] {
  return limitTable.flatMap(([key, { variable, unit, inDemo: most }]) => {
    if (most === undefined) return [];
    if (!env[variable]?.trim()) {
      config[key] = most;
      return [];
    }
    // 0 means no limit. An invalid value is missing here, and reported already.
    const exceeds = config[key] === 0 || Number(config[key]) > most;
    return exceeds ? [`${variable} must not exceed ${writtenLimit(most, unit)} with POPROOM_DEMO=true`] : [];
  });
}

/** For the operator, who may have set it by mistake. */
export function demoNote({ roomMaxTtl, fileMax }: Config): string {
  const [lifetime, size] = [writtenLimit(roomMaxTtl, 'seconds'), writtenLimit(fileMax, 'bytes')];
  return `POPROOM_DEMO is true: rooms end after ${lifetime}, files have at most ${size}, and the page says so.`;
}

/** The variable that has the value of a setting, and a warning if another one contradicts it. */
function variableOf({ name, alias }: Setting<unknown>, env: Env): { name: string; warning?: string } {
  const [first, second] = [env[name]?.trim(), alias && env[alias]?.trim()];
  if (!alias || !second) return { name };
  if (!first || first === second) return { name: alias };
  return { name: alias, warning: `${alias} (${second}) and ${name} (${first}) differ. ${alias} is used.` };
}

/** The command line reads these variables, or sets them for the command of `watch --exec`. */
const clientVariables = 'URL API_KEY PIN NEW_PIN ROOM_KEY CODE VERSION TIMEOUT LAN_LINK RECENT'.split(' ');

/** Includes the variables of the command line, which are in the same environment. */
export const settingNames: readonly string[] = [
  ...Object.values<Setting<unknown>>(settings).flatMap(({ name, alias }) => (alias ? [name, alias] : [name])),
  ...clientVariables.map((name) => `POPROOM_${name}`),
];

function contradictions(config: Partial<Config>): string[] {
  const { roomTtl = 0, roomMaxTtl = roomTtl, fileMax = 0, roomMaxBytes = fileMax, store, secret } = config;
  const problems: string[] = [];
  if (Boolean(config.tlsCert) !== Boolean(config.tlsKey))
    problems.push('POPROOM_TLS_CERT and POPROOM_TLS_KEY must be set together');
  if (config.metricsToken && config.metrics === false)
    problems.push('POPROOM_METRICS_TOKEN requires POPROOM_METRICS=true');
  if (fileMax > roomMaxBytes) problems.push('POPROOM_FILE_MAX must not exceed POPROOM_ROOM_MAX_BYTES');
  if (roomTtl > roomMaxTtl) problems.push('POPROOM_ROOM_TTL must not exceed POPROOM_ROOM_MAX_TTL');
  problems.push(...creationProblems(config));
  if (store && store !== 'sqlite:' && !secret)
    problems.push('POPROOM_SECRET is required with Redis, with the same value on all nodes');
  return problems;
}

/** A server that was meant to be private must not start as an open one. */
function creationProblems(config: Partial<Config>): string[] {
  const { create, createPassword, trustedProxies } = config;
  // An invalid password is missing here, and reported already.
  if (create === 'password' && 'createPassword' in config && createPassword === undefined)
    return ['POPROOM_CREATE=password requires POPROOM_CREATE_PASSWORD'];
  if (createPassword !== undefined && create !== undefined && create !== 'password')
    return ['POPROOM_CREATE_PASSWORD requires POPROOM_CREATE=password'];
  if (create === 'proxy' && trustedProxies?.rules.length === 0)
    return ['POPROOM_CREATE=proxy requires POPROOM_TRUSTED_PROXIES: the address of the proxy that signs in users'];
  return [];
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

/** `disk:` is the folder `files` in the data folder. Other folders have an absolute path. */
function fileStore(text: string): 'disk:' | { folder: string } | Bucket {
  if (text === 'disk:') return text;
  const folder = folderIn('disk', text);
  if (folder !== undefined) return { folder: realFolder(folder) };
  const bucket = readBucket(text);
  if (!bucket) throw invalid('must be disk:, disk:/FOLDER or a bucket, for example s3://my-bucket/poproom', text);
  return bucket;
}

/** The folder after `SCHEME:`. Rejects two slashes, because a relative path would become an absolute one. */
export function folderIn(scheme: string, text: string): string | undefined {
  const rest = text.startsWith(`${scheme}:`) ? text.slice(scheme.length + 1) : '';
  return rest === '' || rest.startsWith('//') ? undefined : resolve(rest);
}

/** The system's own folders are not on a disk. Creating a folder in /proc does not even fail: Node never returns. */
function realFolder(text: string): string {
  const [, system] = /^(\/proc|\/sys|\/dev)(?!\/shm(?:\/|$))(?:\/|$)/.exec(resolve(text)) ?? [];
  if (system === undefined) return text;
  throw invalid(`must be a folder on a disk, and ${system} belongs to the system`, text);
}

export function readBucket(text: string): Bucket | undefined {
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  return bucket ? { bucket, prefix: prefix.replace(/\/*$/, prefix === '' ? '' : '/') } : undefined;
}

function oneOf<T extends string>(...choices: readonly T[]) {
  return (text: string): T => {
    const choice = choices.find((name) => name === text);
    if (choice !== undefined) return choice;
    throw invalid(`must be ${choices.join(' or ')}`, text);
  };
}

function yesOrNo(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw invalid('must be true or false', text);
}

/** The error does not quote the value, because it is a secret. */
function longText(minimum: number) {
  return (text: string): string => {
    if (text.length >= minimum) return text;
    throw new Error(`must have at least ${minimum} characters`);
  };
}

/** Clients send it in a header, which can contain only these characters. The error does not quote it. */
function password(text: string): string {
  if (/^[\x20-\x7e]{10,200}$/.test(text)) return text;
  throw new Error('must have 10 to 200 characters: letters without accents, digits, spaces and ASCII punctuation');
}

function userHeader(text: string): string {
  const isUsed = /^(authorization|cookie|host|origin|x-api-key|x-forwarded-.*|x-room-.*)$/i.test(text);
  if (/^[A-Za-z0-9-]{1,64}$/.test(text) && (!isUsed || /^x-forwarded-(user|email|preferred-username)$/i.test(text)))
    return text;
  throw invalid('must be the name of a header that only names the user, for example Remote-User', text);
}

function webAddress(text: string): string {
  const url = URL.parse(text);
  const plain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (plain) return url.href.replace(/\/+$/, '');
  throw invalid('must be a URL, for example https://pop.example.org', text);
}

/** It becomes a link in the page. */
function contact(text: string): string {
  if (/^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/.test(text) && text.length <= 254) return text;
  const url = text.length <= 500 ? URL.parse(text) : null;
  if (url?.protocol === 'https:' && !url.username && !url.password) return url.href;
  throw new Error('must be an email address or an https URL, for example abuse@example.org');
}

/** The public URL may have a path. At these paths, it could not be told from a path of the server itself. */
function publicAddress(text: string): string {
  const url = webAddress(text);
  const { pathname } = new URL(url);
  if (/^\/(api|admin|assets|docs|files|r)(\/|$)/.test(pathname))
    throw invalid('must not have a path that starts with /api, /admin, /assets, /docs, /files or /r', text);
  // A path such as //host would lead to another host.
  if (pathname.includes('//')) throw invalid('must not have // in its path', text);
  return url;
}

function origins(text: string): string[] {
  return partsOf(text).map((part) => {
    const url = URL.parse(part);
    if (url && url.origin !== 'null' && url.href === `${url.origin}/`) return url.origin;
    throw invalid('must be a list of origins, for example https://app.example.org', text);
  });
}

function addressRanges(text: string): BlockList {
  const ranges = new BlockList();
  for (const part of partsOf(text)) addRange(ranges, part);
  return ranges;
}

const partsOf = (list: string) => list.split(/[\s,]+/).filter(Boolean);

function addRange(ranges: BlockList, text: string): void {
  const [address = '', prefix] = text.split('/');
  const version = isIP(address);
  const bits = version === 6 ? 128 : 32;
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (version === 0 || !(length <= bits))
    throw invalid('must be a list of addresses or CIDR ranges, for example 10.0.0.0/8', text);
  ranges.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4');
}
