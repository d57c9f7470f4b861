/** The metrics of the process and of Node, with the names that dashboards for Node expect. */
import { readdir, readFile } from 'node:fs/promises';
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { getHeapSpaceStatistics, type HeapSpaceInfo } from 'node:v8';
import { type Definition, Histogram, linesOf, type Reading, textOf } from './definitions.ts';

type Row = [type: Definition['type'], name: string, help: string, reading: Reading, labels?: readonly string[]];

let shared: ReturnType<typeof startMeasuring> | undefined;

/** Starts the measurements once, however many servers a process has. */
export function measureProcess() {
  shared ??= startMeasuring();
  return shared;
}

function startMeasuring() {
  const delays = monitorEventLoopDelay();
  delays.enable();
  const collections = new Histogram(garbageCollections);
  const observer = new PerformanceObserver((list) => {
    for (const { detail, duration } of list.getEntries() as CollectionEntry[]) {
      const kind = collectionKinds.get(detail.kind);
      if (kind) collections.with(kind).observe(duration / 1000);
    }
  });
  observer.observe({ entryTypes: ['gc'] });

  return {
    async text(): Promise<string> {
      const askedAt = performance.now();
      await nextTurn();
      const lag = (performance.now() - askedAt) / 1000;
      const rows = [...(await processRows()), ...lagRows(lag, delays), ...resourceRows(), ...memoryRows()];
      delays.reset();
      const texts = rows.map(([type, name, help, reading, labels = []]) => {
        const definition = { type, name, help, labels };
        return textOf(definition, linesOf(definition, reading));
      });
      return [...texts, textOf(garbageCollections, collections.lines())].filter((text) => text).join('\n');
    },
  };
}

type CollectionEntry = PerformanceEntry & { detail: { kind: number } };

const garbageCollections: Definition = {
  name: 'nodejs_gc_duration_seconds',
  type: 'histogram',
  labels: ['kind'],
  help: 'Duration of garbage collections by kind: major, minor, incremental or weakcb.',
  buckets: [0.001, 0.01, 0.1, 1, 2, 5],
};

const collectionKinds = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

async function processRows(): Promise<Row[]> {
  const { user, system } = process.cpuUsage();
  const [memory, openFiles, maxFiles] = await Promise.all([memoryOf(), countOpenFiles(), readMaxFiles()]);
  return [
    ['counter', 'process_cpu_user_seconds_total', 'CPU time in user mode.', user / 1e6],
    ['counter', 'process_cpu_system_seconds_total', 'CPU time in the kernel.', system / 1e6],
    ['counter', 'process_cpu_seconds_total', 'CPU time in user mode and in the kernel.', (user + system) / 1e6],
    ['gauge', 'process_start_time_seconds', 'When the process started, in seconds since 1970.', startedAt],
    ['gauge', 'process_resident_memory_bytes', 'Resident memory.', memory.resident],
    ['gauge', 'process_virtual_memory_bytes', 'Virtual memory.', memory.virtual],
    ['gauge', 'process_heap_bytes', 'Data segment of the process.', memory.data],
    ['gauge', 'process_open_fds', 'Open file descriptors.', openFiles],
    ['gauge', 'process_max_fds', 'Maximum number of open file descriptors.', maxFiles],
  ];
}

const startedAt = Math.round(Date.now() / 1000 - process.uptime());

/** Only Linux tells more than the resident memory. */
async function memoryOf(): Promise<{ resident: number; virtual?: number; data?: number }> {
  const status = await readProc('status');
  if (status === undefined) return { resident: process.memoryUsage.rss() };
  const bytesOf = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
  return { resident: bytesOf('VmRSS'), virtual: bytesOf('VmSize'), data: bytesOf('VmData') };
}

/** Without the one that lists them. */
async function countOpenFiles(): Promise<number | undefined> {
  const open = await readdir('/proc/self/fd').catch(() => undefined);
  return open && open.length - 1;
}

async function readMaxFiles(): Promise<number | undefined> {
  const limit = /^Max open files\s+(\d+)/m.exec((await readProc('limits')) ?? '')?.[1];
  return limit === undefined ? undefined : Number(limit);
}

const readProc = (name: string) => readFile(`/proc/self/${name}`, 'utf8').catch(() => undefined);

/** Since the previous request of the metrics. Without values if there was no time for a sample. */
function lagRows(lag: number, delays: ReturnType<typeof monitorEventLoopDelay>): Row[] {
  const seconds = (nanoseconds: number) => (delays.count === 0 ? undefined : nanoseconds / 1e9);
  const percentile = (n: number) =>
    [`p${n}_`, `${n}th percentile of the delays`, seconds(delays.percentile(n))] as const;
  const values = [
    ['', 'Current delay', lag],
    ['min_', 'Lowest delay', seconds(delays.min)],
    ['max_', 'Highest delay', seconds(delays.max)],
    ['mean_', 'Mean delay', seconds(delays.mean)],
    ['stddev_', 'Standard deviation of the delays', seconds(delays.stddev)],
    ...[percentile(50), percentile(90), percentile(99)],
  ] as const;
  return values.map(([name, what, value]) => {
    return ['gauge', `nodejs_eventloop_lag_${name}seconds`, `${what} of the event loop.`, value];
  });
}

/** Node exposes handles and requests only to itself, and may stop doing so. */
const internals = process as { _getActiveHandles?: () => object[]; _getActiveRequests?: () => object[] };

/** The sums have no type: Prometheus reserves their names for counters, and they are none. */
function resourceRows(): Row[] {
  const resources = process.getActiveResourcesInfo();
  const handles = internals._getActiveHandles?.().map(nameOfClass);
  const requests = internals._getActiveRequests?.().map(nameOfClass);
  const rows = (name: string, what: string, types: string[] | undefined): Row[] => [
    ['gauge', `nodejs_active_${name}`, `Active ${what} by type.`, types && countByType(types), ['type']],
    ['untyped', `nodejs_active_${name}_total`, `Active ${what}.`, types?.length],
  ];
  return [
    ...rows('resources', 'resources that keep the event loop alive', resources),
    ...rows('handles', 'libuv handles', handles),
    ...rows('requests', 'libuv requests', requests),
  ];
}

const nameOfClass = (instance: object) => instance.constructor.name;

const countByType = (types: readonly string[]): Reading =>
  [...Map.groupBy(types, (type) => type)].map(([type, same]) => [[type], same.length] as const);

function memoryRows(): Row[] {
  const { heapTotal, heapUsed, external } = process.memoryUsage();
  const spaces = getHeapSpaceStatistics();
  const perSpace = (name: string, help: string, bytesOf: (space: HeapSpaceInfo) => number): Row => {
    const reading = spaces.map((space) => [[space.space_name.replace('_space', '')], bytesOf(space)] as const);
    return ['gauge', `nodejs_heap_space_size_${name}_bytes`, help, reading, ['space']];
  };
  const version = [process.version, ...process.versions.node.split('.')];
  const versionLabels = ['version', 'major', 'minor', 'patch'];
  return [
    ['gauge', 'nodejs_heap_size_total_bytes', 'Size of the heap.', heapTotal],
    ['gauge', 'nodejs_heap_size_used_bytes', 'Used bytes of the heap.', heapUsed],
    ['gauge', 'nodejs_external_memory_bytes', 'Memory outside of the heap.', external],
    perSpace('total', 'Size of each heap space.', (space) => space.space_size),
    perSpace('used', 'Used bytes of each heap space.', (space) => space.space_used_size),
    perSpace('available', 'Free bytes of each heap space.', (space) => space.space_available_size),
    ['gauge', 'nodejs_version_info', 'Always 1. The version of Node.', [[version, 1]], versionLabels],
  ];
}
