/** The composition root: creates all components for the configured engine, starts and stops them. */
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { isSea } from 'node:sea';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Config } from './config.ts';
import { createClientHash } from './core/client-hash.ts';
import { createClientLog } from './core/client-log.ts';
import type { CoreDeps } from './core/deps.ts';
import { hasCode } from './core/errors.ts';
import { createClaims } from './core/files/claims.ts';
import { createFiles } from './core/files/files.ts';
import { createFileSpace } from './core/files/space.ts';
import { createUploads } from './core/files/uploads.ts';
import { createZips } from './core/files/zips.ts';
import { collectWhenQuiet } from './core/garbage.ts';
import { createIdempotency } from './core/idempotency.ts';
import { quotas, type RoomLimits } from './core/limits.ts';
import { MemoryBudget, memoryLimits } from './core/memory-budget.ts';
import { noLiveMeter } from './core/meters.ts';
import { answerOperator } from './core/operator-requests.ts';
import { type Outages, watchOutages } from './core/outages.ts';
import type { Clock, Log } from './core/ports.ts';
import { createRooms } from './core/rooms.ts';
import { createStorageQuota } from './core/storage-quota.ts';
import { createSweeper, type SweepWatch } from './core/sweep.ts';
import { Turns } from './core/turns.ts';
import { assertFolderResponds, closeToOthers } from './engine/data-folder.ts';
import { databaseBytes, diskSpace } from './engine/disk-space.ts';
import { type Engine, filesPlaceOf, openEngine, totalMaxBytes } from './engine/open.ts';
import { type StartedAdmin, startAdmin } from './http/admin/start.ts';
import { createApp } from './http/app.ts';
import { basePathOf } from './http/base-path.ts';
import { type CertificatePair, expiryOf, openCertificate } from './http/certificate.ts';
import type { PageLimits } from './http/page/html.ts';
import { lanAddresses } from './http/page/lan-addresses.ts';
import { serverLimits } from './http/page/server-limits.ts';
import { type PageSource, pageInExecutable, pageInFolder } from './http/page/source.ts';
import { createAuthorizer } from './http/request/authorize.ts';
import { compileBodySchemas, largestContentBody } from './http/request/json-body.ts';
import { createRequestIds } from './http/request/request-id.ts';
import { createResumption } from './http/request/resumption.ts';
import { createTicketing } from './http/request/ticketing.ts';
import { validatorOf } from './http/request/validator.ts';
import { createRequestLog } from './http/response/request-log.ts';
import { createHandlers } from './http/routes/handlers.ts';
import { createMetrics, type Gauges } from './http/routes/metrics.ts';
import { createErrorPage, createPageReader } from './http/routes/page.ts';
import { createProbes, type Probes } from './http/routes/probes.ts';
import { createHttpServer, idleTimeoutSeconds, replaceCertificate } from './http/server.ts';
import { createUpgrade } from './http/upgrade.ts';
import { createLive } from './live/index.ts';
import { measureDelay } from './metrics/event-loop.ts';
import {
  countBroken,
  countMalformed,
  createInstruments,
  type Instruments,
  liveMeterOf,
} from './metrics/instruments.ts';
import { meterBlobs } from './metrics/metered-blobs.ts';
import { meterStore } from './metrics/metered-store.ts';
import { eraseEveryMs } from './store/sqlite/writer.ts';

export interface Running {
  port: number;
  /** The URLs for other devices in the local network. */
  networkUrls: string[];
  /** Finishes running requests, writes what is in memory, and closes everything. Repeated calls share one promise. */
  stop(): Promise<void>;
}

/** A sweep interval and an erase interval together are less than 30 seconds. */
export const sweepEveryMs = 15_000;
/** Time from the stop signal until connections are closed. */
const finishWithinMs = 25_000;
/** How often the stop looks for connections that are idle now. */
const idleCheckMs = 100;
/** Work that is not needed for the start is delayed until the first requests have been served. */
const backgroundWorkAfterMs = 300;

/** Clocks, intervals and the page, which tests replace. */
export interface ServerOptions {
  clock: Clock;
  /** A monotonic clock in milliseconds, unaffected by changes of the system clock. */
  monotonic: Clock;
  heartbeatMs: number;
  /** A connection may be idle for this long. */
  idleTimeoutMs: number;
  sweepEveryMs: number;
  /** How often deleted text is erased from the files of the embedded engine. */
  eraseEveryMs: number;
  /** Whether the PINs of stored rooms may become invalid. */
  acceptNewSecret: boolean;
  /** How often the files of the certificate are compared. */
  certificateCheckMs: number;
  /** How often a lost store is asked whether it responds again. */
  outageCheckMs: number;
  /** How often blocks of addresses by other nodes are read, how many there may be, and how often activity is stored. */
  blockCheckMs: number;
  maxBlocks: number;
  activityReportMs: number;
  page: PageSource;
  /** The number of lost log lines, for the metrics. */
  lostLogLines: () => number;
}

const defaults: ServerOptions = {
  clock: Date.now,
  monotonic: () => performance.now(),
  heartbeatMs: 25_000,
  idleTimeoutMs: idleTimeoutSeconds * 1000,
  sweepEveryMs,
  eraseEveryMs,
  acceptNewSecret: false,
  certificateCheckMs: 10_000,
  outageCheckMs: 1000,
  blockCheckMs: 2000,
  maxBlocks: 500,
  activityReportMs: 5000,
  // The folder is the same from src/ and from dist/.
  page: isSea() ? pageInExecutable : pageInFolder(new URL('../dist/web/', import.meta.url)),
  lostLogLines: () => 0,
};

export async function startServer(config: Config, log: Log, given: Partial<ServerOptions> = {}): Promise<Running> {
  const options = { ...defaults, ...given };
  await assertFolderResponds(config.dataDir);
  const certificate = openCertificate({ cert: config.tlsCert, key: config.tlsKey });
  warnOfOpenFiles(config.dataDir, log);
  const instruments = config.metrics ? createInstruments() : undefined;
  const engine = metered(await openEngine(config, options.clock, options), instruments);
  const service = createService(config, log, engine, options, instruments);
  service.certificate = certificate?.pair;
  const admin = createAdminInterface(service, log);
  const server = await createHttp(service, admin).catch(async (error) => {
    await endService(service, admin);
    throw error;
  });
  const closeConnections = trackConnections(server);
  let stopBackgroundWork = () => {};
  const stopWatching = certificate?.watch({
    everyMs: options.certificateCheckMs,
    log,
    use(pair) {
      replaceCertificate(server, pair);
      service.certificate = pair;
    },
  });

  async function end(): Promise<void> {
    service.stopping.abort();
    stopBackgroundWork();
    stopWatching?.();
    service.live.stop();
    await closeConnections(finishWithinMs - config.drain * 1000);
    await endService(service, admin);
  }

  /** A load balancer sends requests until its next check of /readyz, so they are served until then. */
  async function drainAndEnd(): Promise<void> {
    service.stopping.abort();
    if (config.drain > 0) await pause(config.drain * 1000);
    await end();
  }

  let stopped: Promise<void> | undefined;
  function stop(): Promise<void> {
    stopped ??= drainAndEnd();
    return stopped;
  }

  try {
    const port = await listen(server, config);
    stopBackgroundWork = startBackgroundWork(service, log);
    return { port, networkUrls: networkUrls(config, port), stop };
  } catch (error) {
    await end();
    throw error;
  }
}

function warnOfOpenFiles(dataDir: string, log: Log): void {
  for (const { path, mode, reason } of closeToOthers(dataDir)) {
    log.warn({ path, mode: mode.toString(8), reason }, 'other users of this machine can open this file or folder');
  }
}

function metered(engine: Engine, instruments: Instruments | undefined): Engine {
  if (!instruments) return engine;
  const { store, blobs } = engine;
  return { ...engine, store: meterStore(store, instruments), blobs: meterBlobs(blobs, instruments) };
}

type Service = ReturnType<typeof createService>;

/** Everything behind HTTP. */
function createService(
  config: Config,
  log: Log,
  engine: Engine,
  options: ServerOptions,
  instruments: Instruments | undefined,
) {
  const { store, bus, blobs, secret } = engine;
  const { clock } = options;
  const hashClient = createClientHash(secret);
  const maxStoredBytes = totalMaxBytes(config);
  const quotaRules = { client: config.clientMaxBytes, key: config.keyMaxBytes, total: maxStoredBytes };
  const quota = createStorageQuota(quotaRules, hashClient);
  const limits = roomLimits(config);
  const deps: CoreDeps = { rooms: store.rooms, blobs, bus, storage: store.storage, quota, limits, clock, secret };
  const clientLog = createClientLog({ log, hash: hashClient, isDebug: config.logLevel === 'debug' });
  const rooms = createRooms(deps, {
    lifetime: config.roomTtl,
    longestLifetime: config.roomMaxTtl,
    largestContent: config.contentMax,
  });
  const space = createFileSpace(deps);
  const maxMessageBytes = largestContentBody(config.contentMax);
  const turns = new Turns();
  const outages = watchOutages({
    stores: { rooms: store.ping, files: blobs.ping },
    log,
    monotonic: options.monotonic,
    everyMs: options.outageCheckMs,
  });
  return {
    config,
    outages,
    options,
    instruments,
    stopMeasuring: instruments && measureDelay(instruments.loopDelay.with()),
    engine,
    deps,
    clientLog,
    rooms,
    space,
    idempotency: createIdempotency({ store: store.idempotency, secret, hashClient, clock }),
    files: createFiles(deps, space),
    uploads: createUploads(deps, space),
    claims: createClaims(deps),
    zips: createZips(deps),
    memory: new MemoryBudget(memoryLimits(maxMessageBytes)),
    turns,
    maxStoredBytes,
    live: createLive({
      parts: deps,
      rooms,
      log,
      turns,
      clientLog,
      heartbeatMs: options.heartbeatMs,
      channelsPerClient: config.maxChannels,
      maxMessageBytes,
      validate: async (schema, value) => (await validatorOf(schema))(value),
      meter: instruments ? liveMeterOf(instruments) : noLiveMeter,
    }),
    sweeper: createSweeper(deps, sweepOptions(options, log, outages, instruments)),
    stopOperatorRequests: store.inbox && answerOperator({ inbox: store.inbox, store: store.rooms, rooms, clock, log }),
    hashClient,
    stopping: new AbortController(),
    /** Replaced when its files change; undefined without HTTPS. */
    certificate: undefined as CertificatePair | undefined,
  };
}

function sweepOptions(
  { sweepEveryMs, monotonic }: ServerOptions,
  log: Log,
  outages: Outages,
  instruments: Instruments | undefined,
): SweepWatch {
  return {
    everyMs: sweepEveryMs,
    monotonic,
    done: (swept) => log.info(swept, 'swept'),
    failed(err) {
      outages.suspect();
      if (instruments) instruments.sweepFailures.with().add();
      // The store is reported as lost; a stack every 15 seconds would add nothing.
      log.error(hasCode(err, 'UNAVAILABLE') ? { reason: err.message } : { err }, 'sweep failed');
    },
    doubted: (why) =>
      log.warn(why, 'the clock jumped or may be ahead: nothing is deleted until it has been steady for 10 minutes'),
  };
}

async function endService(service: Service, admin: StartedAdmin | undefined): Promise<void> {
  const { live, clientLog, outages, sweeper, stopOperatorRequests, engine } = service;
  service.stopMeasuring?.();
  live.stop();
  clientLog.stop();
  outages.stop();
  await sweeper.stop();
  await stopOperatorRequests?.();
  await admin?.stop();
  await engine.close();
}

/** Work that the start does not need. */
function startBackgroundWork({ sweeper, live }: Service, log: Log): () => void {
  let stopCollecting = () => {};
  const timer = setTimeout(() => {
    sweeper.start();
    stopCollecting = collectWhenQuiet();
    Promise.all([compileBodySchemas(), live.prepare()]).catch((err) =>
      log.warn({ err }, 'could not load modules in advance'),
    );
  }, backgroundWorkAfterMs);
  return () => {
    clearTimeout(timer);
    stopCollecting();
  };
}

function createAdminInterface({ config, options, engine, rooms, live, hashClient }: Service, log: Log) {
  const { adminToken: token, trustedProxies } = config;
  if (token === undefined) return undefined;
  const { store, secret } = engine;
  return startAdmin({ token, store, secret, rooms, channels: live.size, hashClient, trustedProxies, ...options, log });
}

async function createHttp(service: Service, admin: StartedAdmin | undefined): Promise<Server> {
  const { config, options, instruments, engine, live, clientLog, memory, turns, stopping } = service;
  const { idleTimeoutMs } = options;
  const isStopping = () => stopping.signal.aborted;
  const probes = createProbes({ ...probeSources(service), isStopping });
  const openConnections = () => promisify(server.getConnections.bind(server))();
  const metrics =
    instruments && (await createMetrics(instruments, await metricSources(service, probes, openConnections)));
  await admin?.ready();
  const nextRequestId = createRequestIds();
  const authorizer = createAuthorizer({
    keys: engine.store.keys,
    rates: engine.store.rates,
    clock: options.clock,
    quotas: quotas({ free: config.freeLimit, pro: config.proLimit }),
    trustedProxies: config.trustedProxies,
    requireApiKey: config.requireApiKey,
  });
  const resumption = createResumption(engine.secret, options.clock);
  const requestLog = createRequestLog(clientLog, {
    observe: metrics?.observe ?? (() => undefined),
    onFailure: service.outages.suspect,
    onBroken: () => instruments && countBroken(instruments),
  });
  const page = createPageReader(
    {
      source: options.page,
      limits: pageLimits(config),
      serverLimits: serverLimits(config),
      address: () => config.publicUrl ?? networkUrls(config, (server.address() as AddressInfo).port)[0],
    },
    config,
  );
  const handlers = createHandlers({
    rooms: service.rooms,
    files: service.files,
    uploads: service.uploads,
    claims: service.claims,
    zips: service.zips,
    space: service.space,
    idempotency: service.idempotency,
    limits: service.deps.limits,
    storedBytes: (client) => engine.store.storage.usageOf(service.deps.quota.ownerOf(client).client),
    probes,
    live,
    links: config,
    origins: config,
    page,
    serverLimits: serverLimits(config),
    largestContent: config.contentMax,
    metrics: metrics?.text,
    metricsToken: config.metricsToken,
    admin: admin?.service,
  });
  const { connections } = admin ?? {};
  const shared = { authorizer, resumption, origins: config, nextRequestId, requestLog, connections };
  const server = createHttpServer({
    app: createApp({
      ...shared,
      ticketing: createTicketing(engine.secret, options.clock),
      handlers,
      errorPage: createErrorPage(page),
      isStopping,
      idleTimeoutMs,
      memory,
      turns,
      fileMax: config.fileMax,
    }),
    onUpgrade: createUpgrade({ ...shared, live, links: config }),
    nextRequestId,
    headersFor: authorizer.headersFor,
    onMalformed: () => instruments && countMalformed(instruments),
    idleTimeoutMs,
    basePath: basePathOf(config.publicUrl),
    certificate: service.certificate,
  });
  return server;
}

async function metricSources(service: Service, probes: Probes, connections: Gauges['connections']): Promise<Gauges> {
  const { config, engine, options, live, memory, turns, sweeper, maxStoredBytes } = service;
  const { store } = engine;
  const { default: ownPackage } = await import('../package.json', { with: { type: 'json' } });
  return {
    version: ownPackage.version,
    store: config.store === 'sqlite:' ? 'sqlite' : 'redis',
    files: 'folder' in filesPlaceOf(config) ? 'disk' : 's3',
    rooms: () => store.rooms.countRooms(options.clock()),
    channels: live.size,
    connections,
    lostLogLines: options.lostLogLines,
    storage: store.storage.usage,
    maxStoredBytes,
    disks: () => diskSpace(config),
    databaseBytes: () => databaseBytes(config),
    queues: () => ({ store: store.queueLength(), 'large-messages': turns.waiting }),
    heldBytes: () => ({
      requests: { bytes: memory.total, limit: memory.maximum },
      live: { bytes: live.unreadBytes(), limit: memory.maximum },
    }),
    checks: async () => (await probes.ready()).checks,
    lastSweptAt: sweeper.lastSweptAt,
    certificateExpiresAt: () => service.certificate && expiryOf(service.certificate),
  };
}

function probeSources({ config, options, engine: { store, blobs }, sweeper, maxStoredBytes }: Service) {
  const { clock, monotonic, sweepEveryMs } = options;
  const { lastSweptAt } = sweeper;
  return {
    store,
    blobs,
    maxStoredBytes,
    clock,
    monotonic,
    sweepEveryMs,
    lastSweptAt,
    largestContent: config.contentMax,
  };
}

function networkUrls({ host, tlsCert }: Config, port: number): string[] {
  return lanAddresses(host).map((address) => `${tlsCert ? 'https' : 'http'}://${address}:${port}`);
}

const roomLimits = ({ contentMax, fileMax, roomMaxFiles, roomMaxBytes }: Config): RoomLimits => ({
  textBytes: contentMax,
  fileBytes: fileMax,
  filesPerRoom: roomMaxFiles,
  fileBytesPerRoom: roomMaxBytes,
});

function pageLimits({ roomTtl, roomMaxTtl, contentMax, fileMax }: Config): PageLimits {
  return { roomTtl, roomMaxTtl, contentMax, fileMax };
}

function listen(server: Server, { port, host }: Config): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Returns a function that closes idle connections immediately, and busy ones once they are idle or after some time. */
function trackConnections(server: Server): (withinMs: number) => Promise<void> {
  // Node's own list of connections does not include WebSockets.
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => void sockets.add(socket.on('close', onClose)));
  // One function for all connections, to save memory of idle live channels.
  function onClose(this: Socket): void {
    sockets.delete(this);
  }
  return (withinMs) =>
    new Promise((resolve) => {
      const deadline = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, withinMs);
      // Also connections whose last response was not announced as the last, because it began before the stop.
      const idleCheck = setInterval(() => server.closeIdleConnections(), idleCheckMs);
      server.close(() => {
        clearTimeout(deadline);
        clearInterval(idleCheck);
        resolve();
      });
      server.closeIdleConnections();
    });
}
