/** Counters, histograms and samples, as Prometheus reads them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Counter, Histogram, sample, textOf } from '../../src/metrics/definitions.ts';

const base = { name: 'a_metric', help: 'A metric.', labels: [] };

describe('the text format of metrics', () => {
  it('[MON-1] contains every series of a counter, with escaped labels', () => {
    const definition = { ...base, type: 'counter', labels: ['kind'] } as const;
    const counter = new Counter(definition);
    counter.with('one').add();
    counter.with('one').add(2);
    counter.with('a "quoted" \\ and\nbroken').add();
    assert.equal(
      textOf(definition, counter.lines()),
      '# HELP a_metric A metric.\n# TYPE a_metric counter\n' +
        'a_metric{kind="one"} 3\na_metric{kind="a \\"quoted\\" \\\\ and\\nbroken"} 1\n',
    );
  });

  it('[MON-1] counts a value in all buckets that it does not exceed', () => {
    const histogram = new Histogram({ ...base, type: 'histogram', buckets: [0.1, 1] });
    for (const value of [0.1, 0.5, 1, 7]) histogram.with().observe(value);
    assert.deepEqual(histogram.lines(), [
      'a_metric_bucket{le="0.1"} 1',
      'a_metric_bucket{le="1"} 3',
      'a_metric_bucket{le="+Inf"} 4',
      'a_metric_sum 8.6',
      'a_metric_count 4',
    ]);
  });

  it('[MON-1] leaves out what a server does not have', async () => {
    const definition = { ...base, type: 'gauge', labels: ['folder'] } as const;
    const free = sample(definition, async () => [[['data'], 5]]);
    assert.deepEqual(await free.lines(), ['a_metric{folder="data"} 5']);
    assert.equal(textOf(definition, await sample(definition, () => undefined).lines()), '');
  });
});
