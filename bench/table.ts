/** The table that a benchmark prints. */
export interface Row {
  work: string;
  /** The program that Poproom is compared with, and its result. */
  baseline: string;
  poproom: string;
  /** Formatted. */
  ratio: string;
  bound: string;
  isMet: boolean;
}

export const tableHead = '| work | against | Poproom | ratio | bound | |\n|---|---|---|---|---|---|';

export function formatRow({ work, baseline, poproom, ratio, bound, isMet }: Row): string {
  return `| ${work} | ${baseline} | ${poproom} | ${ratio} | ${bound} | ${isMet ? '✓' : '✗'} |`;
}

/** If more is better. */
export function atLeast(ratio: number, limit: number): Pick<Row, 'ratio' | 'bound' | 'isMet'> {
  return { ratio: ratio.toFixed(2), bound: `≥ ${limit.toFixed(2)}`, isMet: ratio >= limit };
}

/** If less is better. */
export function atMost(ratio: number, limit: number): Pick<Row, 'ratio' | 'bound' | 'isMet'> {
  return { ratio: `${ratio.toFixed(2)} ×`, bound: `≤ ${limit} ×`, isMet: ratio <= limit };
}

/** A row without a comparison, if less is better. */
export function boundedRow(work: string, value: number, max: number, show: (value: number) => string): Row {
  return { work, baseline: '—', poproom: show(value), ratio: '—', bound: `≤ ${show(max)}`, isMet: value <= max };
}
