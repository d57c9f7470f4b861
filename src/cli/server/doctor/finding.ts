/** The result of a check: a verdict, and how to fix a problem. */
export type Verdict = 'ok' | 'warning' | 'bad';

export interface Finding {
  /** Set if the finding belongs to another check than the one that ran. */
  check?: string;
  verdict: Verdict;
  /** One sentence. */
  found: string;
  fix?: string;
  /** The number of checks that could not run because of this finding. */
  skipped?: number;
}

export const ok = (found: string): Finding => ({ verdict: 'ok', found });
export const warning = (found: string, fix: string): Finding => ({ verdict: 'warning', found, fix });
export const bad = (found: string, fix: string): Finding => ({ verdict: 'bad', found, fix });

export const forCheck = (check: string, finding: Finding): Finding => ({ check, ...finding });
export const isSkipped = ({ skipped = 0 }: Finding): boolean => skipped > 0;
