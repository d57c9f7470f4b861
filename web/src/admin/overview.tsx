/** The current numbers, and a chart of one of them over time. */
import { useState } from 'preact/hooks';
import type { AdminNumbers, AdminPoint } from '../../../src/protocol/types.ts';
import { formatBytes, formatCount, formatShortTime } from './api.ts';
import { Choice, type SectionProps, useData, WithData } from './section.tsx';

const refreshMs = 10_000;

const spans = { '6': '6 hours', '24': '24 hours', '168': '7 days' } as const;
type Span = keyof typeof spans;

type Metric = Exclude<keyof AdminPoint, 'at'>;

interface MetricRule {
  title: string;
  format: (value: number) => string;
  /** A gauge has a value at a time; others are counted over an interval. */
  isGauge?: true;
}

const metrics: Record<Metric, MetricRule> = {
  requests: { title: 'Requests', format: formatCount },
  refused: { title: 'Refused requests', format: formatCount },
  failed: { title: 'Failed requests', format: formatCount },
  received: { title: 'Bytes received', format: formatBytes },
  sent: { title: 'Bytes sent', format: formatBytes },
  roomsCreated: { title: 'New rooms', format: formatCount },
  rooms: { title: 'Rooms', format: formatCount, isGauge: true },
  channels: { title: 'Live channels', format: formatCount, isGauge: true },
  storedBytes: { title: 'Stored files', format: formatBytes, isGauge: true },
};

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

interface ChartProps {
  numbers: AdminNumbers;
  metric: Metric;
  hours: number;
  /** Such as "24 hours". */
  span: string;
}

/** In units of the drawing, which is scaled to the width of the page. */
const [width, height] = [600, 180];

/** A bar chart of one number over time, as SVG. */
function Chart({ numbers: { points, intervalSeconds }, metric, hours, span }: ChartProps) {
  const { title, format, isGauge } = metrics[metric];
  const values = points.map((point) => point[metric]);
  const highest = Math.max(0, ...values);
  const top = roundUp(highest);
  const intervalMs = intervalSeconds * 1000;
  const end = Math.floor(Date.now() / intervalMs) * intervalMs + intervalMs;
  const start = end - hours * 3600_000;
  const per = isGauge ? '' : ` per ${intervalSeconds === 3600 ? 'hour' : `${intervalSeconds / 60} minutes`}`;
  const summary = `${title}${per}, last ${span}: highest ${format(highest)}, latest ${format(values.at(-1) ?? 0)}`;
  const edges = [start, (start + end) / 2, end].map((at) => formatShortTime(new Date(at).toISOString()));
  return (
    <figure>
      <figcaption>{summary}</figcaption>
      <div class="plot">
        <span class="top" aria-hidden="true">
          {format(top)}
        </span>
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={summary}>
          <path class="grid" d={`M0 1H${width}M0 ${height / 2}H${width}M0 ${height - 1}H${width}`} />
          <path class="bars" d={bars(points, metric, { start, end, top, intervalMs })} />
        </svg>
      </div>
      <div class="times" aria-hidden="true">
        {edges.map((edge) => (
          <span key={edge}>{edge}</span>
        ))}
      </div>
    </figure>
  );
}

type Scale = Record<'start' | 'end' | 'top' | 'intervalMs', number>;

/** One path for all bars. A value above 0 is at least a pixel high. */
function bars(points: readonly AdminPoint[], metric: Metric, { start, end, top, intervalMs }: Scale): string {
  const x = (at: number) => ((at - start) / (end - start)) * width;
  const barWidth = x(start + intervalMs) * 0.8;
  return points
    .filter((point) => Date.parse(point.at) >= start && point[metric] > 0)
    .map((point) => {
      const barHeight = Math.max(1.5, (point[metric] / top) * (height - 2));
      return `M${x(Date.parse(point.at)).toFixed(1)} ${height}v${-barHeight.toFixed(1)}h${barWidth.toFixed(1)}V${height}z`;
    })
    .join('');
}

/** The next of 1, 2, 5, 10, 20, … */
function roundUp(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}
