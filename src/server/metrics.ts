/** The metrics for Prometheus: those of the server, of its process and of Node. */
import { setTimeout as pause } from 'node:timers/promises';
import type { MaybePromise } from '../core/ports/basics.ts';
import { databaseBytes, diskSpace } from '../engine/data-folder.ts';
import { filesPlaceOf } from '../engine/open.ts';
import { expiryOf } from '../http/certificate.ts';
import type { Observation } from '../http/response/send.ts';
import type { Probes } from '../http/routes/probes.ts';
import { definitions, type MetricKey } from '../metrics/definitions.ts';
import { type Reading, type Source, sample, textOf } from '../metrics/family.ts';
import { activeSeconds, countRefusal, type Instruments } from '../metrics/instruments.ts';
import type { Service } from './service.ts';

/** Undefined if metrics are disabled. `connections` counts the open ones. */
export async function createMetrics(service: Service, probes: Probes, connections: () => Promise<number>) {
  const { instruments } = service;
  if (!instruments) return undefined;
  const { measureProcess } = await import('../metrics/process.ts');
  const ofProcess = measureProcess();
  const { running, ...measured } = instruments;
  const readings = Object.entries(await createReadings(service, running, probes, connections));
  const samples = readings.map(([key, read]) => [key, sample(definitions[key as SampledKey], read)]);
  const sources: Sources = { ...measured, ...(Object.fromEntries(samples) as Record<SampledKey, Source>) };
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

/** Prometheus waits for 10 seconds by default. */
const timeoutMs = 3000;

/** A store that does not respond in time makes its own metrics unavailable, and no others. */
async function ownText(sources: Sources): Promise<string> {
  const { unreadable, ...others } = definitions;
  const late = pause(timeoutMs, undefined, { ref: false });
  const reading = Object.entries(others).map(async ([key, definition]) => {
    const source = sources[key as keyof Sources];
    const lines = await Promise.race([Promise.try(() => source.lines()), late]).catch(() => undefined);
    return lines && textOf(definition, lines);
  });
  const texts = await Promise.all(reading);
  const missing = texts.filter((text) => text === undefined).length;
  return [textOf(unreadable, [`${unreadable.name} ${missing}`]), ...texts.filter((text) => text)].join('\n');
}

type SampledKey = Exclude<MetricKey, keyof Instruments | 'unreadable'>;

/** The values that are read when Prometheus asks for the metrics. */
async function createReadings(
  service: Service,
  running: Instruments['running'],
  probes: Probes,
  connections: () => Promise<number>,
): Promise<Record<SampledKey, () => MaybePromise<Reading>>> {
  const { config, engine, options, live, budgets, turns, sweeper, webhooks, maxStoredBytes } = service;
  const { store } = engine;
  const { default: ownPackage } = await import('../../package.json', { with: { type: 'json' } });
  const stores = [config.store === 'sqlite:' ? 'sqlite' : 'redis', 'folder' in filesPlaceOf(config) ? 'disk' : 's3'];
  const held = () => ({
    requests: budgets.bodies,
    responses: budgets.responses,
    downloads: budgets.downloads,
    archives: budgets.archives,
    live: { total: live.unreadBytes(), maximum: budgets.responses.maximum },
  });
  const queues = () => ({
    ...{ store: store.queueLength(), 'large-messages': turns.waiting },
    ...{ webhooks: webhooks.dispatcher.queueLength(), files: running.fileOperations },
  });
  return {
    buildInfo: () => [[[ownPackage.version, ...stores], 1]],
    ready: async () => byLabel((await probes.ready()).checks, (verdict) => (verdict === 'ok' ? 1 : 0)),
    connections,
    rooms: () => store.rooms.countRooms(options.clock()),
    lastSweep: () => sweeper.lastSweptAt() / 1000,
    channels: live.size,
    databaseBytes: () => databaseBytes(config),
    uploadsInProgress: () => running.uploads,
    storedBytes: async () => byLabel({ ...(await store.storage.usage()) }, (bytes) => bytes),
    storedBytesLimit: () => maxStoredBytes,
    diskFree: async () => byLabel(await diskSpace(config), ({ free }) => free),
    diskSize: async () => byLabel(await diskSpace(config), ({ size }) => size),
    queues: () => byLabel(queues(), (length) => length),
    heldBytes: () => byLabel(held(), ({ total }) => total),
    heldBytesLimit: () => byLabel(held(), ({ maximum }) => maximum),
    loopActive: activeSeconds,
    clientWork: () => turns.budget.total / 1000,
    certificateExpiry: () => service.certificate && expiryOf(service.certificate) / 1000,
    logLinesLost: options.lostLogLines,
  };
}

const byLabel = <T>(values: Readonly<Record<string, T>>, toNumber: (value: T) => number): Reading =>
  Object.entries(values).map(([name, value]) => [[name], toNumber(value)] as const);

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Labels are never removed, so clients must not be able to create new ones. */
const knownMethod = (method: string): string => (methods.has(method) ? method : 'other');
