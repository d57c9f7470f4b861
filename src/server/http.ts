/** Creates the HTTP server of a service. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { quotas } from '../core/limits.ts';
import { createApp } from '../http/app.ts';
import { limitConnections } from '../http/connections.ts';
import { serverLimits, takesReports } from '../http/page/server-limits.ts';
import { createAuthorizer, createFreeRequests } from '../http/request/authorize.ts';
import { createRequestIds, forwardedUser } from '../http/request/request.ts';
import { createRequestLog } from '../http/response/send.ts';
import { endpointPathOf } from '../http/router.ts';
import { adminHandlers } from '../http/routes/admin-handlers.ts';
import { contentHandlers } from '../http/routes/content-handlers.ts';
import { fileHandlers } from '../http/routes/file-handlers.ts';
import type { HandlerDeps, Handlers } from '../http/routes/handler.ts';
import { operationHandlers } from '../http/routes/operation-handlers.ts';
import { createErrorPage, createPageReader, pageHandlers } from '../http/routes/page-handlers.ts';
import { createProbes } from '../http/routes/probes.ts';
import { roomHandlers } from '../http/routes/room-handlers.ts';
import { uploadHandlers } from '../http/routes/upload-handlers.ts';
import { createHttpServer } from '../http/server.ts';
import { networkUrls } from '../http/urls.ts';
import { createMetrics } from './metrics.ts';
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
