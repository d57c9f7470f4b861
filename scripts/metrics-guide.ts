/** The table of metrics in docs/monitoring.md. */
import { definitions } from '../src/metrics/definitions.ts';
import type { Definition } from '../src/metrics/family.ts';
import { table } from './markdown.ts';

const [begin, end] = ['<!-- metrics: generated -->\n', '<!-- end of metrics -->'];

/** The page is written by hand, except for the table. */
export function monitoringGuide(current: string): string {
  const [before = '', rest = ''] = current.split(begin);
  const [, after = ''] = rest.split(end);
  return `${before}${begin}\n${metricsTable()}\n\n${end}${after}`;
}

function metricsTable(): string {
  const rows = Object.values<Definition>(definitions).map(({ name, type, labels, help }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ]);
  return table(['metric', 'type', 'labels', 'meaning'], rows);
}
