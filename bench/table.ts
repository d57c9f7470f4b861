/** The one table that a benchmark prints. */
export interface Row {
  work: string;
  /** The baseline and its result. */
  against: string;
  poproom: string;
  /** Formatted for the table. */
  ratio: string;
  wanted: string;
  reached: boolean;
}

export const heading = '| work | baseline | Poproom | ratio | target | |\n|---|---|---|---|---|---|';

export function line({ work, against, poproom, ratio, wanted, reached }: Row): string {
  return `| ${work} | ${against} | ${poproom} | ${ratio} | ${wanted} | ${reached ? '✓' : '✗'} |`;
}

/** Where more is better. */
export function atLeast(ratio: number, wanted: number): Pick<Row, 'ratio' | 'wanted' | 'reached'> {
  return { ratio: ratio.toFixed(2), wanted: `≥ ${wanted.toFixed(2)}`, reached: ratio >= wanted };
}

/** Where less is better. */
export function atMost(ratio: number, wanted: number): Pick<Row, 'ratio' | 'wanted' | 'reached'> {
  return { ratio: `${ratio.toFixed(2)} ×`, wanted: `≤ ${wanted} ×`, reached: ratio <= wanted };
}

/** Where nothing is compared, and less is better. */
export function bounded(work: string, value: number, most: number, show: (value: number) => string): Row {
  return { work, against: '—', poproom: show(value), ratio: '—', wanted: `≤ ${show(most)}`, reached: value <= most };
}
