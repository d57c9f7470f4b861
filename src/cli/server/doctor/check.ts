/** Checks of `poproom doctor`, and their findings. */
import type { Config, Inspection } from '../../../config.ts';

export interface DoctorContext {
  settings: Inspection;
  /** Where clients reach the server: from --url, from the settings, or on this machine. */
  address: ServerAddress | undefined;
  apiKey: string | undefined;
  createPassword: string | undefined;
}

export type ServerAddress = { url: string; from: '--url' | 'POPROOM_PUBLIC_URL' | 'PORT' };

export interface Check {
  name: string;
  /** Required settings. The check is skipped if one is invalid, which is reported separately. */
  needs: readonly (keyof Config)[];
  /** Returns no findings if the check does not apply. */
  run(config: Config, context: DoctorContext): Promise<readonly Finding[]> | readonly Finding[];
}

export const check = (name: string, needs: Check['needs'], run: Check['run']): Check => ({ name, needs, run });

/** The result of a check: a verdict, and how to fix a problem. */
export interface Finding {
  /** Set if the finding belongs to another check than the one that ran. */
  check?: string;
  verdict: 'ok' | 'warning' | 'bad';
  /** One sentence. */
  found: string;
  fix?: string;
  /** The number of checks that could not run because of this finding. */
  skipped?: number;
}

/** A finding only if something is wrong. */
export const warnIf = (isWrong: boolean, found: string, fix: string): Finding[] =>
  isWrong ? [warning(found, fix)] : [];

export const ok = (found: string): Finding => ({ verdict: 'ok', found });
export const warning = (found: string, fix: string): Finding => ({ verdict: 'warning', found, fix });
export const bad = (found: string, fix: string): Finding => ({ verdict: 'bad', found, fix });

export const forCheck = (check: string, finding: Finding): Finding => ({ check, ...finding });

const toleratedMs = 3000;

/** `before` and `after` are the local times before the request and after the response. */
type ClockReading = Record<'theirs' | 'before' | 'after', number>;

/** Compares two clocks. Clocks that differ make rooms expire too early or too late. */
export function clockFinding(other: string, { theirs, before, after }: ClockReading): Finding {
  const aheadMs = theirs - (before + after) / 2;
  if (theirs > before - toleratedMs && theirs < after + toleratedMs) {
    return forCheck('clock', ok(`The clock of ${other} agrees with the local one.`));
  }
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const found = `The clock of ${other} is ${seconds} seconds ${aheadMs > 0 ? 'ahead of' : 'behind'} the local one.`;
  return forCheck('clock', warning(found, 'Synchronize both with NTP, for example with chrony or systemd-timesyncd.'));
}
