/** The limits of a server: as numbers for the API, and as phrases for the documentation. */
import {
  type ConfigurableLimits,
  type CreationMode,
  type LimitKey,
  type LimitPhrase,
  type LimitSetting,
  limitTable,
  type PageLimits,
  writtenLimit,
} from '../../protocol/limits.ts';
import type * as api from '../../protocol/types.ts';

/** Those of `GET /api/limits` that are the same for every client. */
export type ServerLimits = Omit<api.ServerLimits, 'storedBytes'>;

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
    roomMaxSeconds: `${grouped(longest)} (${measured(longest, 'seconds')})`,
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
  if (unit === 'seconds' || unit === 'bytes') return measured(limit, unit);
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

/** In the unit in which one would write the setting: `7 days`, `10 MiB`. */
function measured(limit: number, unit: string): string {
  const [, number, letters = ''] = /^(\d+)(.*)$/.exec(writtenLimit(limit, unit)) ?? [];
  const smallest = limit === 1 ? unit.slice(0, -1) : unit;
  return `${grouped(Number(number))} ${unitNames[letters] ?? (letters || smallest)}`;
}

const unitNames: Record<string, string> = { d: 'days', h: 'hours', m: 'minutes' };
