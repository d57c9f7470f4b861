/** The limits of a server: as numbers for the OpenAPI document, and as phrases for the documentation. */

/** Null means no limit. */
export interface ServerLimits {
  roomLifetimeSeconds: number;
  roomMaxLifetimeSeconds: number;
  textBytes: number;
  fileBytes: number;
  filesPerRoom: number;
  fileBytesPerRoom: number;
  storedBytesPerAddress: number | null;
  storedBytesPerKey: number | null;
  freeRequestsPerHour: number | null;
  proRequestsPerHour: number | null;
  missesPerHour: number | null;
  devicesPerRoom: number;
  channelsPerClient: number;
  apiKeyRequired: boolean;
}

/** The settings that are limits. 0 means no limit where a server can have none. */
interface LimitSettings {
  roomTtl: number;
  roomMaxTtl: number;
  contentMax: number;
  fileMax: number;
  roomMaxBytes: number;
  roomMaxFiles: number;
  clientMaxBytes: number;
  keyMaxBytes: number;
  freeLimit: number;
  proLimit: number;
  missLimit: number;
  maxDevices: number;
  maxChannels: number;
  requireApiKey: boolean;
}

export function serverLimits(settings: LimitSettings): ServerLimits {
  return {
    roomLifetimeSeconds: settings.roomTtl,
    roomMaxLifetimeSeconds: settings.roomMaxTtl,
    textBytes: settings.contentMax,
    fileBytes: settings.fileMax,
    filesPerRoom: settings.roomMaxFiles,
    fileBytesPerRoom: settings.roomMaxBytes,
    storedBytesPerAddress: settings.clientMaxBytes || null,
    storedBytesPerKey: settings.keyMaxBytes || null,
    freeRequestsPerHour: settings.freeLimit || null,
    proRequestsPerHour: settings.proLimit || null,
    missesPerHour: settings.missLimit || null,
    devicesPerRoom: settings.maxDevices,
    channelsPerClient: settings.maxChannels,
    apiKeyRequired: settings.requireApiKey,
  };
}

/** The texts of the documentation contain the names of these phrases in double braces: `{{textSize}}`. */
export type LimitPhrases = Record<PhraseName, string>;

export type PhraseName = keyof ReturnType<typeof limitPhrases>;

export function limitPhrases(limits: ServerLimits) {
  return {
    roomLifetime: duration(limits.roomLifetimeSeconds),
    roomMaxLifetime: duration(limits.roomMaxLifetimeSeconds),
    roomMaxSeconds: `${grouped(limits.roomMaxLifetimeSeconds)} (${duration(limits.roomMaxLifetimeSeconds)})`,
    textSize: bytes(limits.textBytes),
    fileSize: bytes(limits.fileBytes),
    roomFiles: counted(limits.filesPerRoom, 'file'),
    roomFileSize: bytes(limits.fileBytesPerRoom),
    addressStorage: bytesOrNoLimit(limits.storedBytesPerAddress),
    keyStorage: bytesOrNoLimit(limits.storedBytesPerKey),
    freeRequests: perHour(limits.freeRequestsPerHour, 'request'),
    proRequests: perHour(limits.proRequestsPerHour, 'request'),
    misses: perHour(limits.missesPerHour, 'failed lookup'),
    devices: counted(limits.devicesPerRoom, 'device'),
    channels: counted(limits.channelsPerClient, 'channel'),
    keyRule: limits.apiKeyRequired
      ? 'This server requires an API key for every request under /api.'
      : 'An API key is optional on this server.',
    limitsNote: 'This server has these limits:',
  };
}

/** `encode` adapts a phrase to the format of the text. */
export function fillPhrases(text: string, phrases: LimitPhrases, encode = (phrase: string) => phrase): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const phrase = phrases[name as PhraseName];
    if (phrase === undefined) throw new Error(`The documentation has no phrase for ${name}.`);
    return encode(phrase);
  });
}

const grouped = (number: number) => number.toLocaleString('en-US');

const counted = (number: number, what: string) => `${grouped(number)} ${what}${number === 1 ? '' : 's'}`;

function perHour(limit: number | null, what: string): string {
  return limit === null ? `any number of ${what}s` : `${counted(limit, what)} per hour`;
}

function bytesOrNoLimit(limit: number | null): string {
  return limit === null ? 'no limit' : bytes(limit);
}

/** In the largest unit that divides it. */
function bytes(size: number): string {
  const units = [size === 1 ? 'byte' : 'bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = units.findLastIndex((_, i) => size % 1024 ** i === 0);
  return `${grouped(size / 1024 ** step)} ${units[step]}`;
}

/** In the largest unit that divides it. One day is 24 hours. */
function duration(seconds: number): string {
  const [unit, name] = units.find(([unit]) => seconds >= 2 * unit && seconds % unit === 0) ?? [1, 'seconds'];
  return `${grouped(seconds / unit)} ${name}`;
}

const units = [
  [86_400, 'days'],
  [3600, 'hours'],
  [60, 'minutes'],
] as const;
