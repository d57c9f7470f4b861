/** The limits of a server: as numbers for the API, and as phrases for the documentation. */
import {
  type ConfigurableLimits,
  type CreationMode,
  type LimitKey,
  type LimitPhrase,
  type LimitSetting,
  limitTable,
  type PageLimits,
} from '../../protocol/limits.ts';

/** Null means no limit. */
export type ServerLimits = ConfigurableLimits & {
  apiKeyRequired: boolean;
  roomCreation: CreationMode;
  webhooks: boolean;
  demo: boolean;
  reports: boolean;
  abuseContact?: string;
};

/** The settings that are limits. 0 means no limit where a server can have none. */
type LimitValues = Readonly<Record<LimitKey, number>> & {
  requireApiKey: boolean;
  create: CreationMode;
  webhookHosts: readonly unknown[];
  demo: boolean;
  abuseContact: string | undefined;
  adminToken: string | undefined;
};

export function serverLimits(settings: LimitValues): ServerLimits {
  const limits = limitTable.map(([key, { name, mayBeOff }]) => [
    name,
    mayBeOff ? settings[key] || null : settings[key],
  ]);
  return {
    ...Object.fromEntries(limits),
    apiKeyRequired: settings.requireApiKey,
    roomCreation: settings.create,
    webhooks: settings.webhookHosts.length > 0,
    demo: settings.demo,
    reports: takesReports(settings),
    ...(settings.abuseContact !== undefined && { abuseContact: settings.abuseContact }),
  };
}

export const pageLimitsOf = (limits: ServerLimits): PageLimits => ({
  roomTtl: limits.roomLifetimeSeconds,
  roomMaxTtl: limits.roomMaxLifetimeSeconds,
  contentMax: limits.textBytes,
  fileMax: limits.fileBytes,
  // Older servers do not send it.
  webhooks: limits.webhooks ?? false,
  // The page is smaller without those that most servers do not have.
  ...(limits.demo && { demo: true }),
  ...(limits.abuseContact !== undefined && { abuseContact: limits.abuseContact }),
  ...(limits.reports && { reports: true }),
});

/** Only the admin interface shows reports, so without it, people have only the contact. */
export const takesReports = ({ abuseContact, adminToken }: Pick<LimitValues, 'abuseContact' | 'adminToken'>): boolean =>
  abuseContact !== undefined && adminToken !== undefined;

/** The texts of the documentation contain the names of these phrases in double braces: `{{textSize}}`. */
export type LimitPhrases = Record<PhraseName, string>;

type PhraseName = LimitPhrase | 'roomMaxSeconds' | 'keyRule' | 'createRule' | 'limitsNote';

export function limitPhrases(limits: ServerLimits): LimitPhrases {
  const phrases = limitTable.map(([, limit]) => [
    limit.phrase,
    phraseOf(limit, limits[limit.name as keyof ConfigurableLimits]),
  ]);
  const longest = limits.roomMaxLifetimeSeconds;
  return {
    ...(Object.fromEntries(phrases) as Record<LimitPhrase, string>),
    roomMaxSeconds: `${grouped(longest)} (${duration(longest)})`,
    keyRule: limits.apiKeyRequired
      ? 'This server requires an API key for every request under /api.'
      : 'An API key is optional on this server.',
    createRule: createRules[limits.roomCreation],
    limitsNote: 'This server has these limits:',
  };
}

const createRules: Record<CreationMode, string> = {
  open: 'Everyone may create rooms on this server.',
  key: 'On this server, only clients with an API key may create rooms.',
  password: 'On this server, creating a room needs a password or an API key.',
  proxy: 'On this server, only users who have signed in, and clients with an API key, may create rooms.',
};

function phraseOf({ unit, isPerHour }: LimitSetting, limit: number | null): string {
  if (limit === null) return isPerHour ? `any number of ${unit}s` : 'no limit';
  if (unit === 'seconds') return duration(limit);
  if (unit === 'bytes') return bytes(limit);
  return isPerHour ? `${counted(limit, unit)} per hour` : counted(limit, unit);
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
