/** Parses and formats durations. */
import { PoproomError } from '../client/index.ts';
import type { Input } from './command.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { UsageError } from './errors.ts';
import { countOf } from './output.ts';

const secondsPer: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

export function readDuration(text: string): number {
  const [, number, unit = 's'] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? [];
  const seconds = Number(number) * (secondsPer[unit || 's'] ?? Number.NaN);
  if (seconds >= 60) return seconds;
  throw new UsageError(`"${text}" is not a valid duration; use a minute or more, such as 45m, 2h or 3d.`);
}

/** Such as "2 h 5 min", rounded to minutes. */
export function formatDuration(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  const parts = days > 0 ? [`${days} d`, hours && `${hours} h`] : [hours && `${hours} h`, `${minutes % 60} min`];
  return parts.filter(Boolean).join(' ');
}

const soonMs = 30 * 86_400_000;

/** When a room expires. Nobody counts the days of one that lasts longer. */
export function formatExpiry(expiresAt: string): string {
  const left = Date.parse(expiresAt) - Date.now();
  return left > soonMs ? 'does not expire soon' : `expires in ${formatDuration(left)}`;
}

/** Turns the rejection of `--expires` by a server, in seconds, into a sentence about days. */
export async function withLifetimeErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { field, maximum } = error instanceof PoproomError ? error.details : {};
    if (field !== 'expiresIn' || typeof maximum !== 'number') throw error;
    throw new UsageError(`--expires is too long: this server keeps a room for at most ${formatMaximum(maximum)}.`);
  }
}

/** Such as "7 days", "36 hours" or "90 minutes". */
function formatMaximum(seconds: number): string {
  const units = { day: 86_400, hour: 3600, minute: 60 };
  const [unit, size] = Object.entries(units).find(([, size]) => seconds % size === 0) ?? ['second', 1];
  return countOf(seconds / size, unit);
}

/** The last bytes of an upload may take this long on a slow line, because the system buffers them. */
const defaultTimeoutSeconds = 60;

/** Undefined means no limit. */
export function timeoutOf(input: Input, environment: Environment = readEnvironment()): number | undefined {
  const text = input.value('timeout') ?? environment.timeout;
  if (text === undefined) return defaultTimeoutSeconds;
  const [, number, unit = 's'] = /^(\d{1,5}(?:\.\d)?)([sm]?)$/.exec(text) ?? [];
  const seconds = Number(number) * (secondsPer[unit || 's'] ?? 1);
  if (number === undefined || seconds > 86_400)
    throw new UsageError(`"${text}" is not a valid timeout; use a time such as 30s or 5m, or 0 for no limit.`);
  return seconds === 0 ? undefined : seconds;
}
