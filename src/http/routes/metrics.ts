/** Metrics for Prometheus: those of the server, of its process and of Node. */
import type { MaybePromise } from '../../core/ports/basics.ts';
import type { StorageUsage } from '../../core/ports/clients.ts';
import { definitions, type MetricKey } from '../../metrics/definitions.ts';
import { type Definition, type Reading, type Source, sample, textOf } from '../../metrics/family.ts';
import { activeSeconds, countRefusal, type Instruments } from '../../metrics/instruments.ts';
import type { Observation } from '../response/send.ts';

/** The values that are read when Prometheus scrapes the metrics. */
export interface Gauges {
  version: string;
  store: 'sqlite' | 'redis';
  files: 'disk' | 's3';
  rooms: () => Promise<number>;
  channels: () => number;
  connections: () => Promise<number>;
  lostLogLines: () => number;
  /** Milliseconds of all clients. */
  clientWork: () => number;
  storage: () => Promise<StorageUsage>;
  /** 0 for no limit. */
  maxStoredBytes: number;
  /** By the name of the folder. */
  disks: () => Promise<Readonly<Record<string, { free: number; size: number }>>>;
  /** Undefined without a database file. */
  databaseBytes: () => Promise<number | undefined>;
  queues: () => Readonly<Record<string, number>>;
  heldBytes: () => Readonly<Record<string, { bytes: number; limit: number }>>;
  /** By the name of the check: `ok`, or what is wrong. */
  checks: () => Promise<Readonly<Record<string, string>>>;
  /** Milliseconds since the epoch. */
  lastSweptAt: () => number;
  /** Milliseconds since the epoch; undefined without a certificate. */
  certificateExpiresAt: () => number | undefined;
}

export async function createMetrics(instruments: Instruments, gauges: Gauges) {
  const { measureProcess } = await import('../../metrics/process.ts');
  const ofProcess = measureProcess();
  const { running, ...measured } = instruments;
  const sources: Sources = { ...measured, ...samplesOf(running, gauges) };
  return {
    observe({ method, route, status, seconds, error }: Observation): void {
      instruments.requests.with(knownMethod(method), route, String(status)).observe(seconds);
      if (error !== undefined) countRefusal(instruments, 'http', error);
    },
    async text(): Promise<string> {
      const [own, others] = await Promise.all([ownText(sources), ofProcess.text()]);
      return `${own}\n${others}`;
    },
  };
}

type Sources = Record<Exclude<MetricKey, 'unreadable'>, Source>;

/** A store that does not respond makes its own metrics unavailable, and no others. */
async function ownText(sources: Sources): Promise<string> {
  const { unreadable, ...others } = definitions;
  const reading = Object.entries(others).map(([key, definition]) =>
    textWithin(definition, sources[key as keyof Sources]),
  );
  const texts = await Promise.all(reading);
  const missing = texts.filter((text) => text === undefined).length;
  return [textOf(unreadable, [`${unreadable.name} ${missing}`]), ...texts.filter((text) => text)].join('\n');
}

/** Prometheus waits for 10 seconds by default. */
const timeoutMs = 3000;

/** Undefined if the metric could not be read in time. */
async function textWithin(definition: Definition, source: Source): Promise<string | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), timeoutMs);
  try {
    const lines = await Promise.race([source.lines(), late]);
    return lines && textOf(definition, lines);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

type SampledKey = Exclude<MetricKey, keyof Instruments | 'unreadable'>;

function samplesOf(running: Instruments['running'], gauges: Gauges): Record<SampledKey, Source> {
  const { version, store, files, checks, disks, storage, heldBytes, queues } = gauges;
  const readings: Record<SampledKey, () => MaybePromise<Reading>> = {
    buildInfo: () => [[[version, store, files], 1]],
    ready: async () => byLabel(await checks(), (verdict) => (verdict === 'ok' ? 1 : 0)),
    connections: gauges.connections,
    rooms: gauges.rooms,
    lastSweep: () => gauges.lastSweptAt() / 1000,
    channels: gauges.channels,
    databaseBytes: gauges.databaseBytes,
    uploadsInProgress: () => running.uploads,
    storedBytes: async () => byLabel({ ...(await storage()) }, (bytes) => bytes),
    storedBytesLimit: () => gauges.maxStoredBytes,
    diskFree: async () => byLabel(await disks(), ({ free }) => free),
    diskSize: async () => byLabel(await disks(), ({ size }) => size),
    queues: () => byLabel({ ...queues(), files: running.fileOperations }, (length) => length),
    heldBytes: () => byLabel(heldBytes(), ({ bytes }) => bytes),
    heldBytesLimit: () => byLabel(heldBytes(), ({ limit }) => limit),
    loopActive: activeSeconds,
    clientWork: () => gauges.clientWork() / 1000,
    certificateExpiry: () => inSeconds(gauges.certificateExpiresAt()),
    logLinesLost: gauges.lostLogLines,
  };
  const samples = Object.entries(readings).map(([key, read]) => [key, sample(definitions[key as SampledKey], read)]);
  return Object.fromEntries(samples);
}

const byLabel = <T>(values: Readonly<Record<string, T>>, toNumber: (value: T) => number): Reading =>
  Object.entries(values).map(([name, value]) => [[name], toNumber(value)] as const);

const inSeconds = (moment: number | undefined) => (moment === undefined ? undefined : moment / 1000);

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Labels are never removed, so clients must not be able to create new ones. */
const knownMethod = (method: string): string => (methods.has(method) ? method : 'other');
