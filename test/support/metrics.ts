/** Reads the text of /metrics. */
import type { createApi } from './api.ts';

export interface Series {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

type Api = Pick<ReturnType<typeof createApi>, 'get'>;

export async function readSeries(api: Api): Promise<Series[]> {
  return parseSeries((await api.get('/metrics')).text);
}

export function parseSeries(text: string): Series[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [label, text]);
    return { name, labels: Object.fromEntries(pairs), value: Number(value.replace('+Inf', 'Infinity')) };
  });
}

/** The sum of all series with this name and these labels; undefined if there is none. */
export function sumOf(series: readonly Series[], name: string, labels: Record<string, string> = {}) {
  const matching = series.filter(
    (one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
  );
  return matching.length === 0 ? undefined : matching.reduce((sum, { value }) => sum + value, 0);
}
