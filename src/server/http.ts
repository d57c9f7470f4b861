/** Creates the HTTP server of a service. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import type { Config } from '../config.ts';
import type { TransferBudget } from '../core/defence/transfer-budget.ts';
import { quotas } from '../core/limits.ts';
import { databaseBytes, diskSpace } from '../engine/data-folder.ts';
import { filesPlaceOf } from '../engine/open.ts';
import { createApp } from '../http/app.ts';
import { expiryOf } from '../http/certificate.ts';
import { limitConnections } from '../http/connections.ts';
import { serverLimits, takesReports } from '../http/page/server-limits.ts';
import { createAuthorizer, createFreeRequests } from '../http/request/authorize.ts';
import { createRequestIds, forwardedUser } from '../http/request/request.ts';
import { createRequestLog } from '../http/response/send.ts';
import { endpointPathOf } from '../http/router.ts';
import { createHandlers } from '../http/routes/handlers.ts';
import { createMetrics, type Gauges } from '../http/routes/metrics.ts';
import { createErrorPage, createPageReader } from '../http/routes/page-handlers.ts';
import { createProbes, type Probes } from '../http/routes/probes.ts';
import { createHttpServer } from '../http/server.ts';
import { createUpgrade } from '../http/upgrade.ts';
import { lanAddresses } from '../http/urls.ts';
import { countBroken, countMalformed } from '../metrics/instruments.ts';
import type { Service } from './service.ts';

export async function createHttp(service: Service): Promise<Server> {
  const { config, options, instruments, engine, live, clientLog, budgets, turns, stopping, admin } = service;
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
  const metrics =
    instruments && (await createMetrics(instruments, await metricSources(service, probes, openConnections)));
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
    onBroken: () => instruments && countBroken(instruments),
  });
  const page = createPageReader(
    {
      source: options.page,
      limits: serverLimits(config),
      address: () => config.publicUrl ?? networkUrls(config, (server.address() as AddressInfo).port)[0],
    },
    config,
  );
  const handlers = createHandlers({
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
    serverLimits: serverLimits(config),
    largestContent: config.contentMax,
    metrics: metrics?.text,
    metricsToken: config.metricsToken,
    admin: admin?.operations,
  });
  const { connections } = admin ?? {};
  const endpointPath = endpointPathOf(config);
  const shared = { authorizer, freeRequests, origins: config, nextRequestId, requestLog, connections, endpointPath };
  const server = createHttpServer({
    app: createApp({
      ...shared,
      ...options,
      handlers,
      errorPage: createErrorPage(page),
      stopping: stopping.signal,
      budgets,
      turns,
      fileMax: config.fileMax,
      isIndexable: !config.demo,
    }),
    ...shared,
    ...options,
    onUpgrade: createUpgrade({ ...shared, live, links: config }),
    headersFor: authorizer.headersFor,
    onMalformed: () => instruments && countMalformed(instruments),
    certificate: service.certificate,
  });
  limitConnections(server, budgets.descriptors, config.trustedProxies);
  return server;
}

async function metricSources(service: Service, probes: Probes, connections: Gauges['connections']): Promise<Gauges> {
  const { config, engine, options, live, budgets, turns, sweeper, maxStoredBytes } = service;
  const { store } = engine;
  const { default: ownPackage } = await import('../../package.json', { with: { type: 'json' } });
  return {
    version: ownPackage.version,
    store: config.store === 'sqlite:' ? 'sqlite' : 'redis',
    files: 'folder' in filesPlaceOf(config) ? 'disk' : 's3',
    rooms: () => store.rooms.countRooms(options.clock()),
    channels: live.size,
    connections,
    lostLogLines: options.lostLogLines,
    clientWork: () => turns.budget.total,
    storage: store.storage.usage,
    maxStoredBytes,
    disks: () => diskSpace(config),
    databaseBytes: () => databaseBytes(config),
    queues: () => ({
      ...{ store: store.queueLength(), 'large-messages': turns.waiting },
      webhooks: service.webhooks.dispatcher.queueLength(),
    }),
    heldBytes: () => ({
      requests: heldOf(budgets.bodies),
      responses: heldOf(budgets.responses),
      downloads: heldOf(budgets.downloads),
      archives: heldOf(budgets.archives),
      live: { bytes: live.unreadBytes(), limit: budgets.responses.maximum },
    }),
    checks: async () => (await probes.ready()).checks,
    lastSweptAt: sweeper.lastSweptAt,
    certificateExpiresAt: () => service.certificate && expiryOf(service.certificate),
  };
}

const heldOf = ({ total, maximum }: TransferBudget) => ({ bytes: total, limit: maximum });

export function networkUrls({ host, tlsCert }: Config, port: number): string[] {
  return lanAddresses(host).map((address) => `${tlsCert ? 'https' : 'http'}://${address}:${port}`);
}
