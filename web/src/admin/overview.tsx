/** The current numbers, and a chart of one of them over time. */
import { useState } from 'preact/hooks';
import type { AdminNumbers, AdminPoint } from '../../../src/protocol/types.ts';
import { formatBytes, formatCount, formatShortTime } from './api.ts';
import { Choice, useData, WithData } from './section.tsx';

const refreshMs = 10_000;

const spans = { '6': '6 hours', '24': '24 hours', '168': '7 days' } as const;
type Span = keyof typeof spans;

type Metric = Exclude<keyof AdminPoint, 'at'>;

const metrics: Record<Metric, string> = {
  requests: 'Requests',
  refused: 'Refused requests',
  failed: 'Failed requests',
  received: 'Bytes received',
  sent: 'Bytes sent',
  roomsCreated: 'New rooms',
  rooms: 'Rooms',
  channels: 'Live channels',
  storedBytes: 'Stored files',
};
/** A gauge has a value at a time; others are counted over an interval. */
const gauges: ReadonlySet<Metric> = new Set(['rooms', 'channels', 'storedBytes']);
const inBytes: ReadonlySet<Metric> = new Set(['received', 'sent', 'storedBytes']);

export function Overview() {
  const [hours, setHours] = useState<Span>('24');
  const [metric, setMetric] = useState<Metric>('requests');
  const data = useData<AdminNumbers>(`numbers?hours=${hours}`, refreshMs);
  return (
    <WithData data={data}>
      {(numbers) => (
        <>
          <Tiles numbers={numbers} />
          <section class="card chart" aria-label="Numbers over time">
            <div class="choices">
              <Choice label="Number" value={metric} choices={metrics} onChange={setMetric} />
              <Choice label="Time" value={hours} choices={spans} onChange={setHours} />
            </div>
            <Chart numbers={numbers} metric={metric} hours={hours} />
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

/** In units of the drawing, which is scaled to the width of the page. */
const [width, height] = [600, 180];

function Chart({ numbers, metric, hours }: { numbers: AdminNumbers; metric: Metric; hours: Span }) {
  const { points, intervalSeconds } = numbers;
  const format = inBytes.has(metric) ? formatBytes : formatCount;
  const values = points.map((point) => point[metric]);
  const highest = Math.max(0, ...values);
  const top = roundUp(highest);
  const intervalMs = intervalSeconds * 1000;
  const end = Math.floor(Date.now() / intervalMs) * intervalMs + intervalMs;
  const start = end - Number(hours) * 3600_000;
  const per = gauges.has(metric) ? '' : ` per ${intervalSeconds === 3600 ? 'hour' : `${intervalSeconds / 60} minutes`}`;
  const title = `${metrics[metric]}${per}, last ${spans[hours]}`;
  const summary = `${title}: highest ${format(highest)}, latest ${format(values.at(-1) ?? 0)}`;
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
