/** Creates the HTTP server of a service, and its metrics for Prometheus. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createProbes, type Probes } from '../core/health.ts';
import { quotas } from '../core/limits.ts';
import type { MaybePromise } from '../core/ports/basics.ts';
import { databaseBytes, diskSpace } from '../engine/data-folder.ts';
import { filesPlaceOf } from '../engine/open.ts';
import { createApp } from '../http/app.ts';
import { expiryOf } from '../http/certificate.ts';
import { limitConnections } from '../http/connections.ts';
import { serverLimits, takesReports } from '../http/page/server-limits.ts';
import { createAuthorizer, createFreeRequests } from '../http/request/authorize.ts';
import { createRequestIds, forwardedUser } from '../http/request/request.ts';
import { createRequestLog, type Observation } from '../http/response/send.ts';
import { endpointPathOf } from '../http/router.ts';
import { adminHandlers } from '../http/routes/admin-handlers.ts';
import { contentHandlers } from '../http/routes/content-handlers.ts';
import { fileHandlers } from '../http/routes/file-handlers.ts';
import type { HandlerDeps, Handlers } from '../http/routes/handler.ts';
import { createErrorPage, createPageReader, operationHandlers, pageHandlers } from '../http/routes/page-handlers.ts';
import { roomHandlers } from '../http/routes/room-handlers.ts';
import { uploadHandlers } from '../http/routes/upload-handlers.ts';
import { createHttpServer } from '../http/server.ts';
import { networkUrls } from '../http/urls.ts';
import { definitions, type MetricKey, type Reading, type Source, sample, textOf } from '../metrics/definitions.ts';
import { activeSeconds, countRefusal, type Instruments } from '../metrics/instruments.ts';
import type { Service } from './service.ts';

export async function createHttp(service: Service): Promise<Server> {
  const { config, options, instruments, engine, live, clientLog, budgets, stopping, admin } = service;
  const allLimits = serverLimits(config);
  const probes = createProbes({
    ...options,
    ...engine,
    mayEvict: service.eviction.isRisky,
    maxStoredBytes: service.maxStoredBytes,
    lastSweptAt: service.sweeper.lastSweptAt,
    largestContent: config.contentMax,
    isStopping: () => stopping.signal.aborted,
  });
  const openConnections = () => promisify(server.getConnections.bind(server))();
  const metrics = await createMetrics(service, probes, openConnections);
  await admin?.ready();
  const nextRequestId = createRequestIds();
  const authorizer = createAuthorizer({
    ...config,
    ...engine.store,
    clock: options.clock,
    quotas: quotas({ free: config.freeLimit, pro: config.proLimit }),
  });
  const freeRequests = createFreeRequests(engine.secret, engine.store.rates, options.clock);
  const requestLog = createRequestLog(clientLog, {
    observe: metrics?.observe,
    onFailure: service.outages.suspect,
    // The status of the response was successful.
    onBroken: () => instruments?.refusals.with('http', 'INTERNAL', 'response').add(),
  });
  const address = () => config.publicUrl ?? networkUrls(config, (server.address() as AddressInfo).port)[0];
  const page = createPageReader({ source: options.page, limits: allLimits, address }, config);
  const deps: HandlerDeps = {
    ...service,
    userOf: (raw) =>
      config.create === 'proxy' ? forwardedUser(raw, config.userHeader, config.trustedProxies) : undefined,
    reports: takesReports(config) ? service.reports : undefined,
    limits: service.deps.limits,
    storedBytes: (client) => engine.store.storage.usageOf(service.deps.quota.ownerOf(client).client),
    probes,
    links: config,
    origins: config,
    page,
    serverLimits: allLimits,
    largestContent: config.contentMax,
    metrics: metrics?.text,
    metricsToken: config.metricsToken,
    admin: admin?.operations,
  };
  const handlers: Handlers = {
    ...roomHandlers(deps),
    ...contentHandlers(deps),
    ...fileHandlers(deps),
    ...uploadHandlers(deps),
    ...operationHandlers(deps),
    ...adminHandlers(deps),
    ...pageHandlers(deps),
  };
  const { connections } = admin ?? {};
  const endpointPath = endpointPathOf(config);
  const shared = { authorizer, freeRequests, origins: config, nextRequestId, requestLog, connections, endpointPath };
  const server = createHttpServer({
    app: createApp({
      ...service,
      ...shared,
      ...options,
      handlers,
      errorPage: createErrorPage(page),
      stopping: stopping.signal,
      fileMax: config.fileMax,
      isIndexable: !config.demo,
    }),
    ...shared,
    ...options,
    live,
    links: config,
    onMalformed: () => instruments?.refusals.with('http', 'VALIDATION_FAILED', 'malformed').add(),
    certificate: service.certificate,
  });
  limitConnections(server, budgets.descriptors, config.trustedProxies);
  return server;
}

/** Undefined if metrics are disabled. `connections` counts the open ones. */
async function createMetrics(service: Service, probes: Probes, connections: () => Promise<number>) {
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
