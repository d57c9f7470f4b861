/**
 * The limits of a server. One entry of the table has everything about a limit that a setting changes: the settings, the
 * schemas, `GET /api/limits`, `x-limits` and the documents are made from it. Limits without a setting stand below.
 */

export interface LimitSetting {
  /** The environment variable, and what `--help` and the documents say about it. */
  variable: string;
  help: string;
  default: number;
  /** The largest value that a server accepts. */
  highest?: number;
  /** The limit of a public demonstration (`POPROOM_DEMO`), which settings can only lower. */
  inDemo?: number;
  /** With 0, there is no limit, which is null in the API. */
  mayBeOff?: true;
  /** The name in the API, and the description in its schema. Default: `help`. */
  name: string;
  description?: string;
  /** The name of its phrase: texts of the documents contain `{{textSize}}`. */
  phrase: string;
  /** Seconds, bytes, or what it counts. */
  unit: 'seconds' | 'bytes' | (string & {});
  isPerHour?: true;
  /** Clients learn it with each room. */
  isPerRoom?: true;
  /** Its row in the API guide: what is limited, and what happens beyond it. `value` replaces the phrase. */
  guide?: { what: string; value?: string; beyond: string };
}

const KiB = 1024;
const MiB = 1024 * KiB;
const GiB = 1024 * MiB;
const TiB = 1024 * GiB;
const day = 86_400;

/** By the name of the setting in the program. */
const limitSettings = {
  roomTtl: {
    variable: 'POPROOM_ROOM_TTL',
    help: 'default lifetime of a room',
    default: day,
    inDemo: 15 * 60,
    name: 'roomLifetimeSeconds',
    description: 'the default lifetime of a room',
    phrase: 'roomLifetime',
    unit: 'seconds',
    guide: { what: 'Lifetime of a room', beyond: 'the room expires' },
  },
  roomMaxTtl: {
    variable: 'POPROOM_ROOM_MAX_TTL',
    help: 'longest lifetime that a client may request',
    default: 7 * day,
    highest: 3650 * day,
    inDemo: 15 * 60,
    name: 'roomMaxLifetimeSeconds',
    description: 'the longest lifetime that a client may request',
    phrase: 'roomMaxLifetime',
    unit: 'seconds',
    guide: {
      what: 'Lifetime that you can request',
      value: 'from 60 seconds to {{roomMaxLifetime}}',
      beyond: '`400 VALIDATION_FAILED`',
    },
  },
  contentMax: {
    variable: 'POPROOM_CONTENT_MAX',
    help: 'maximum size of a text',
    default: MiB,
    highest: 8 * MiB,
    inDemo: 64 * KiB,
    name: 'textBytes',
    description: 'the maximum size of the text, in bytes of UTF-8',
    phrase: 'textSize',
    unit: 'bytes',
    isPerRoom: true,
    guide: { what: 'Size of a text, in UTF-8', beyond: '`413 CONTENT_TOO_LARGE`' },
  },
  fileMax: {
    variable: 'POPROOM_FILE_MAX',
    help: 'maximum size of a file',
    default: 10 * MiB,
    highest: TiB,
    inDemo: MiB,
    name: 'fileBytes',
    description: 'the maximum size of a file in bytes',
    phrase: 'fileSize',
    unit: 'bytes',
    isPerRoom: true,
    guide: { what: 'Size of a file', beyond: '`413 FILE_TOO_LARGE`' },
  },
  roomMaxFiles: {
    variable: 'POPROOM_ROOM_MAX_FILES',
    help: 'maximum number of files in a room',
    default: 100,
    highest: 1000,
    inDemo: 10,
    name: 'filesPerRoom',
    description: 'the maximum number of files',
    phrase: 'roomFiles',
    unit: 'file',
    isPerRoom: true,
    guide: { what: 'Files in a room', value: '{{roomFiles}}; in total {{roomFileSize}}', beyond: '`413 ROOM_FULL`' },
  },
  roomMaxBytes: {
    variable: 'POPROOM_ROOM_MAX_BYTES',
    help: 'maximum size of all files in a room',
    default: 100 * MiB,
    inDemo: 5 * MiB,
    name: 'fileBytesPerRoom',
    description: 'the maximum size of all files together',
    phrase: 'roomFileSize',
    unit: 'bytes',
    isPerRoom: true,
  },
  clientMaxBytes: {
    variable: 'POPROOM_CLIENT_MAX_BYTES',
    help: 'storage per address without an API key, four times as much per IPv6 /48',
    default: 500 * MiB,
    inDemo: 20 * MiB,
    mayBeOff: true,
    name: 'storedBytesPerAddress',
    description: 'the bytes that an address without an API key may store',
    phrase: 'addressStorage',
    unit: 'bytes',
    guide: { what: 'Storage per address without an API key', beyond: '`413 QUOTA_EXCEEDED`' },
  },
  keyMaxBytes: {
    variable: 'POPROOM_KEY_MAX_BYTES',
    help: 'storage per API key',
    default: 5 * GiB,
    mayBeOff: true,
    name: 'storedBytesPerKey',
    description: 'the bytes that an API key may store',
    phrase: 'keyStorage',
    unit: 'bytes',
    guide: { what: 'Storage per API key', beyond: '`413 QUOTA_EXCEEDED`' },
  },
  freeLimit: {
    variable: 'POPROOM_FREE_LIMIT',
    help: 'requests per hour without an API key',
    default: 100,
    mayBeOff: true,
    name: 'freeRequestsPerHour',
    phrase: 'freeRequests',
    unit: 'request',
    isPerHour: true,
    guide: { what: 'Requests in the free tier', beyond: '`429 RATE_LIMITED`' },
  },
  proLimit: {
    variable: 'POPROOM_PRO_LIMIT',
    help: 'requests per hour with a pro key',
    default: 1000,
    mayBeOff: true,
    name: 'proRequestsPerHour',
    phrase: 'proRequests',
    unit: 'request',
    isPerHour: true,
    guide: { what: 'Requests in the pro tier', beyond: '`429 RATE_LIMITED`' },
  },
  missLimit: {
    variable: 'POPROOM_MISS_LIMIT',
    help: 'unknown codes and wrong PINs per client and hour',
    default: 20,
    mayBeOff: true,
    name: 'missesPerHour',
    phrase: 'misses',
    unit: 'failed lookup',
    isPerHour: true,
    guide: { what: 'Unknown codes and wrong PINs', beyond: '`429 RATE_LIMITED`' },
  },
  maxDevices: {
    variable: 'POPROOM_MAX_DEVICES_PER_ROOM',
    help: 'maximum number of devices in a room',
    default: 100,
    name: 'devicesPerRoom',
    description: 'the maximum number of devices in a room',
    phrase: 'devices',
    unit: 'device',
    guide: { what: 'Devices in a room', beyond: '`429 RATE_LIMITED`, close code 4429' },
  },
  maxChannels: {
    variable: 'POPROOM_MAX_CHANNELS_PER_CLIENT',
    help: 'maximum number of live channels per client',
    default: 20,
    name: 'channelsPerClient',
    description: 'the maximum number of live channels of a client',
    phrase: 'channels',
    unit: 'channel',
    guide: { what: 'Live channels per client', beyond: '`429 RATE_LIMITED`' },
  },
} as const satisfies Record<string, LimitSetting>;

type Table = typeof limitSettings;
export type LimitKey = keyof Table;
type Value<K extends LimitKey> = Table[K] extends { mayBeOff: true } ? number | null : number;

/** By the names in the API. Null means no limit. */
export type ConfigurableLimits = { [K in LimitKey as Table[K]['name']]: Value<K> };
export type LimitPhrase = Table[LimitKey]['phrase'];

/** The limits of each room, by their names in the API. */
export type RoomLimits = { [K in LimitKey as Table[K] extends { isPerRoom: true } ? Table[K]['name'] : never]: number };

/** Facts about the server that the page has before it opens a room. */
export interface PageLimits
  extends Pick<Record<LimitKey, number>, 'roomTtl' | 'roomMaxTtl' | 'contentMax' | 'fileMax'> {
  /** Whether rooms can have webhooks. */
  webhooks: boolean;
  /** Present only if the server is a public demonstration. */
  demo?: true;
  /** An email address or a URL. */
  abuseContact?: string;
  /** Present only if rooms can be reported. */
  reports?: true;
}

// Bundlers drop both tables from a page that does not use them.
export const limitTable = /* @__PURE__ */ Object.entries<LimitSetting>(limitSettings) as readonly [
  LimitKey,
  LimitSetting,
][];
export const defaultRoomLimits: RoomLimits = /* @__PURE__ */ perRoom((_, limit) => limit.default);

export const roomLimitsOf = (settings: Readonly<Record<LimitKey, number>>) => perRoom((key) => settings[key]);

function perRoom(read: (key: LimitKey, limit: LimitSetting) => number): RoomLimits {
  const limits = limitTable.filter(([, { isPerRoom }]) => isPerRoom);
  return Object.fromEntries(limits.map(([key, limit]) => [limit.name, read(key, limit)])) as RoomLimits;
}

/** A limit as a user would write it in a setting: `24h`, `1MiB`, `100`. */
export function writtenLimit(value: number, unit: LimitSetting['unit']): string {
  if (unit === 'bytes') return inLargest(value, 1, [TiB, 'TiB'], [GiB, 'GiB'], [MiB, 'MiB'], [KiB, 'KiB']);
  return unit === 'seconds' ? inLargest(value, 2, [day, 'd'], [3600, 'h'], [60, 'm']) : String(value);
}

/** In the largest unit that divides it and fits at least `times`. */
function inLargest(value: number, times: number, ...units: [size: number, name: string][]): string {
  const [size, name] = units.find(([size]) => value >= times * size && value % size === 0) ?? [1, ''];
  return `${value / size}${name}`;
}

/** Who may create rooms. */
export const creationModes = ['open', 'key', 'password', 'proxy'] as const;
export type CreationMode = (typeof creationModes)[number];

/** Why someone reports a room to the operator. */
export const reportReasons = ['malware', 'illegal', 'harassment', 'copyright', 'other'] as const;
export type ReportReason = (typeof reportReasons)[number];
/** In Unicode characters. */
export const maxReportComment = 500;

/** In Unicode characters. Sealed names are longer. */
export const maxNameLength = { room: 80, device: 64 } as const;

/** Devices in a room have different colours as long as there are enough. */
export const deviceColors = 8;
