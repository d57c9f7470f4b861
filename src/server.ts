/** The composition root: creates all components for the configured engine, starts and stops them. */
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { isSea } from 'node:sea';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from './config.ts';
import { createClientHash } from './core/client-hash.ts';
import { type ClientLog, createClientLog } from './core/client-log.ts';
import type { CoreDeps } from './core/deps.ts';
import { createFiles } from './core/files.ts';
import { collectWhenQuiet } from './core/garbage.ts';
import { quotas } from './core/limits.ts';
import { MemoryBudget, memoryLimits } from './core/memory-budget.ts';
import { answerOperator } from './core/operator-requests.ts';
import type { Clock, Log, Store } from './core/ports.ts';
import { createRooms, type Rooms } from './core/rooms.ts';
import { createStorageQuota } from './core/storage-quota.ts';
import { createSweeper, type Sweeper } from './core/sweep.ts';
import { Turns } from './core/turns.ts';
import { closeToOthers } from './engine/data-folder.ts';
import { openEngine, totalMaxBytes } from './engine/open.ts';
import { createApp } from './http/app.ts';
import type { PageLimits } from './http/page/html.ts';
import { lanAddresses } from './http/page/lan-addresses.ts';
import { type PageSource, pageInExecutable, pageInFolder } from './http/page/source.ts';
import { createAuthorizer } from './http/request/authorize.ts';
import { compileBodySchemas, largestContentBody } from './http/request/json-body.ts';
import { createRequestIds } from './http/request/request-id.ts';
import { createResumption } from './http/request/resumption.ts';
import { validatorOf } from './http/request/validator.ts';
import { createRequestLog } from './http/response/request-log.ts';
import { createHandlers } from './http/routes/handlers.ts';
import { createMetrics } from './http/routes/metrics.ts';
import { createProbes } from './http/routes/probes.ts';
import { createHttpServer, idleTimeoutSeconds } from './http/server.ts';
import { createUpgrade } from './http/upgrade.ts';
import { createLive, type LiveChannel } from './live/index.ts';
import { largestFile } from './protocol/largest-file.ts';
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
  // The folder is the same from src/ and from dist/.
  page: isSea() ? pageInExecutable : pageInFolder(new URL('../dist/web/', import.meta.url)),
  lostLogLines: () => 0,
};

export async function startServer(config: Config, log: Log, given: Partial<ServerOptions> = {}): Promise<Running> {
  const options = { ...defaults, ...given };
  const { clock, monotonic, heartbeatMs, idleTimeoutMs, sweepEveryMs, eraseEveryMs, page, lostLogLines } = options;
  for (const { path, mode, reason } of closeToOthers(config.dataDir)) {
    log.warn({ path, mode: mode.toString(8), reason }, 'other users of this machine can open this file or folder');
  }
  const { store, bus, blobs, secret, close: closeEngine } = await openEngine(config, clock, eraseEveryMs);
  const hashClient = createClientHash(secret);
  const maxStoredBytes = totalMaxBytes(config);
  const quotaRules = { client: config.clientMaxBytes, key: config.keyMaxBytes, total: maxStoredBytes };
  const quota = createStorageQuota(quotaRules, hashClient);
  const parts: CoreDeps = { rooms: store.rooms, blobs, bus, storage: store.storage, quota, clock, secret };
  const clientLog = createClientLog({ log, hash: hashClient, isDebug: config.logLevel === 'debug' });
  const rooms = createRooms(parts, {
    lifetime: config.roomTtl,
    longestLifetime: config.roomMaxTtl,
    largestContent: config.contentMax,
  });
  const largestMessage = largestContentBody(config.contentMax);
  const memory = new MemoryBudget(memoryLimits(largestMessage));
  const turns = new Turns();
  const live = createLive({
    parts,
    rooms,
    log,
    turns,
    clientLog,
    heartbeatMs,
    channelsPerClient: config.maxChannels,
    maxMessageBytes: largestMessage,
    validate: async (schema, value) => (await validatorOf(schema))(value),
  });
  const sweeper = createSweeper(parts, {
    everyMs: sweepEveryMs,
    monotonic,
    done: (swept) => log.info(swept, 'swept'),
    failed: (err) => log.error({ err }, 'sweep failed'),
    doubted: (why) =>
      log.warn(why, 'the clock jumped or may be ahead: nothing is deleted until it has been steady for 10 minutes'),
  });
  const { inbox } = store;
  const stopAnswering = inbox && answerOperator({ inbox, store: store.rooms, rooms, clock, log });
  let stopping = false;
  const isStopping = () => stopping;
  const shared = { config, clientLog, store, parts, rooms, live, sweeper, idleTimeoutMs, page, monotonic, isStopping };
  const bounds = { maxStoredBytes, memory, turns };
  const server = await openHttp({ ...shared, ...bounds, sweepEveryMs, lostLogLines }).catch(async (error) => {
    live.stop();
    await stopAnswering?.();
    await closeEngine();
    throw error;
  });

  // Node's own list of connections does not include WebSockets.
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => void sockets.add(socket.on('close', onClose)));
  // One function for all connections, to save memory of idle live channels.
  function onClose(this: Socket): void {
    sockets.delete(this);
  }

  let backgroundTimer: NodeJS.Timeout | undefined;
  let stopCollecting = () => {};
  function startBackgroundWork(): void {
    sweeper.start();
    stopCollecting = collectWhenQuiet();
    Promise.all([compileBodySchemas(), live.prepare()]).catch((err) =>
      log.warn({ err }, 'could not load modules in advance'),
    );
  }

  let stopped: Promise<void> | undefined;
  function stop(): Promise<void> {
    stopped ??= drainAndEnd();
    return stopped;
  }

  /** A load balancer sends requests until its next check of /readyz, so they are served until then. */
  async function drainAndEnd(): Promise<void> {
    stopping = true;
    if (config.drain > 0) await pause(config.drain * 1000);
    await end();
  }

  async function end(): Promise<void> {
    stopping = true;
    clearTimeout(backgroundTimer);
    stopCollecting();
    live.stop();
    await close(server, sockets, finishWithinMs - config.drain * 1000);
    clientLog.stop();
    await sweeper.stop();
    await stopAnswering?.();
    await closeEngine();
  }

  try {
    const port = await listen(server, config);
    backgroundTimer = setTimeout(startBackgroundWork, backgroundWorkAfterMs);
    return { port, networkUrls: networkUrls(config.host, port), stop };
  } catch (error) {
    await end();
    throw error;
  }
}

interface HttpParts {
  config: Config;
  clientLog: ClientLog;
  store: Store;
  parts: CoreDeps;
  rooms: Rooms;
  live: LiveChannel;
  sweeper: Sweeper;
  maxStoredBytes: number;
  sweepEveryMs: number;
  idleTimeoutMs: number;
  page: PageSource;
  monotonic: Clock;
  isStopping: () => boolean;
  memory: MemoryBudget;
  turns: Turns;
  lostLogLines: () => number;
}

async function openHttp(given: HttpParts): Promise<Server> {
  const { config, clientLog, store, parts, rooms, live, sweeper, idleTimeoutMs, page, monotonic, isStopping } = given;
  const { maxStoredBytes, sweepEveryMs, memory, turns } = given;
  const { blobs, clock, secret } = parts;
  const metrics = config.metrics
    ? await createMetrics({
        rooms: () => store.rooms.countRooms(clock()),
        channels: live.size,
        lostLogLines: given.lostLogLines,
        storage: store.storage.usage,
        maxStoredBytes,
      })
    : undefined;
  const nextRequestId = createRequestIds();
  const authorizer = createAuthorizer({
    keys: store.keys,
    rates: store.rates,
    clock,
    quotas: quotas({ free: config.freeLimit, pro: config.proLimit }),
    trustedProxies: config.trustedProxies,
    requireApiKey: config.requireApiKey,
  });
  const resumption = createResumption(secret, clock);
  const handlers = createHandlers({
    rooms,
    files: createFiles(parts),
    probes: createProbes({
      store,
      blobs,
      maxStoredBytes,
      clock,
      largestContent: config.contentMax,
      monotonic,
      lastSweptAt: sweeper.lastSweptAt,
      sweepEveryMs,
      isStopping,
    }),
    live,
    links: config,
    page: {
      source: page,
      limits: pageLimits(config),
      address: () => config.publicUrl ?? networkUrls(config.host, (server.address() as AddressInfo).port)[0],
    },
    largestContent: config.contentMax,
    metrics: metrics?.text,
  });
  const requestLog = createRequestLog(clientLog, metrics?.observe ?? (() => undefined));
  const server = createHttpServer({
    app: createApp({
      authorizer,
      origins: config,
      resumption,
      handlers,
      clientLog,
      nextRequestId,
      isStopping,
      idleTimeoutMs,
      requestLog,
      memory,
      turns,
    }),
    onUpgrade: createUpgrade({
      authorizer,
      resumption,
      live,
      links: config,
      origins: config,
      nextRequestId,
      requestLog,
    }),
    nextRequestId,
    headersFor: authorizer.headersFor,
    idleTimeoutMs,
  });
  return server;
}

function networkUrls(host: string, port: number): string[] {
  return lanAddresses(host).map((address) => `http://${address}:${port}`);
}

function pageLimits({ roomTtl, roomMaxTtl, contentMax }: Config): PageLimits {
  return { roomTtl, roomMaxTtl, contentMax, fileMax: largestFile };
}

function listen(server: Server, { port, host }: Config): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Closes idle connections immediately, and busy ones when they finish or after `withinMs`. */
function close(server: Server, sockets: Set<Socket>, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, withinMs);
    server.close(() => {
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
  });
}
