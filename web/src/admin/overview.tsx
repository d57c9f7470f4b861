/** The current numbers, and a chart of one of them over time. */
import { useState } from 'preact/hooks';
import type { AdminNumbers } from '../../../src/protocol/types.ts';
import { Chart, type Metric, metrics } from './chart.tsx';
import { formatBytes, formatCount } from './format.ts';
import { Choice, type SectionProps, WithData } from './section.tsx';
import { useData } from './use-data.ts';

const refreshMs = 10_000;

const spans = { '6': '6 hours', '24': '24 hours', '168': '7 days' } as const;
type Span = keyof typeof spans;

const metricTitles = Object.fromEntries(Object.entries(metrics).map(([name, { title }]) => [name, title])) as Record<
  Metric,
  string
>;

export function Overview({ onSignedOut }: SectionProps) {
  const [hours, setHours] = useState<Span>('24');
  const [metric, setMetric] = useState<Metric>('requests');
  const data = useData<AdminNumbers>(`numbers?hours=${hours}`, refreshMs);
  return (
    <WithData data={data} onSignedOut={onSignedOut}>
      {(numbers) => (
        <>
          <Tiles numbers={numbers} />
          <section class="card chart" aria-label="Numbers over time">
            <div class="choices">
              <Choice<Metric> label="Number" value={metric} choices={metricTitles} onChange={setMetric} />
              <Choice<Span> label="Time" value={hours} choices={spans} onChange={setHours} />
            </div>
            <Chart numbers={numbers} metric={metric} hours={Number(hours)} span={spans[hours]} />
          </section>
        </>
      )}
    </WithData>
  );
}

function Tiles({ numbers: { rooms, channels, storedBytes, nodes } }: { numbers: AdminNumbers }) {
  const tiles = {
    Rooms: formatCount(rooms),
    'Live channels': formatCount(channels),
    'Stored files': formatBytes(storedBytes),
    Nodes: formatCount(nodes),
  };
  return (
    <dl class="tiles">
      {Object.entries(tiles).map(([title, value]) => (
        <div key={title} class="card">
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
