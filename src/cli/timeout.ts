/** How long a command waits for a server that does not respond. */
import type { Input } from './command.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { UsageError } from './usage-error.ts';

/** The last bytes of an upload may take this long on a slow line, because the system buffers them. */
export const defaultTimeoutSeconds = 60;

const secondsPer: Readonly<Record<string, number>> = { s: 1, m: 60 };

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
