/** What a look at one thing finds: whether it is well, and how to mend it where it is not. */
export type Verdict = 'ok' | 'warning' | 'bad';

export interface Finding {
  /** Where a look at one thing finds something about another. */
  check?: string;
  verdict: Verdict;
  /** One sentence. */
  found: string;
  mend?: string;
}

export const ok = (found: string): Finding => ({ verdict: 'ok', found });
export const warning = (found: string, mend: string): Finding => ({ verdict: 'warning', found, mend });
export const bad = (found: string, mend: string): Finding => ({ verdict: 'bad', found, mend });

export const about = (check: string, finding: Finding): Finding => ({ check, ...finding });
