/** Creates everything behind HTTP: the core on the stores of the engine, live channels, and background work. */
import type { Config } from '../config.ts';
import { answerOperator, createReports } from '../core/admin/admin.ts';
import { createClientHash, createClientLog } from '../core/clients.ts';
import { chain } from '../core/concurrency.ts';
import { createCreation } from '../core/creation.ts';
import { collectWhenQuiet } from '../core/defence/garbage.ts';
import { createBudgets } from '../core/defence/transfer-budget.ts';
import { Turns, WorkBudget } from '../core/defence/work.ts';
import type { CoreDeps } from '../core/deps.ts';
import { hasCode } from '../core/errors.ts';
import { createClaims, createFileSpace, createFiles } from '../core/files/files.ts';
import { createUploads } from '../core/files/uploads.ts';
import { createZips } from '../core/files/zips.ts';
import { watchEviction, watchOutages } from '../core/health.ts';
import { createIdempotency } from '../core/idempotency.ts';
import { createLinks } from '../core/links.ts';
import { noLiveMeter } from '../core/live-gateway.ts';
import type { Clock, Log } from '../core/ports/basics.ts';
import type { EventBus } from '../core/ports/rooms.ts';
import { createRooms } from '../core/rooms.ts';
import { createStorageQuota } from '../core/storage-quota.ts';
import { createSweeper } from '../core/sweep.ts';
import { createWebhooks } from '../core/webhooks/webhooks.ts';
import { type Engine, totalMaxBytes } from '../engine/open.ts';
import { startAdmin } from '../http/admin/admin-interface.ts';
import type { CertificatePem } from '../http/certificate.ts';
import { availableDescriptors } from '../http/connections.ts';
import type { PageSource } from '../http/page/source.ts';
import { compileBodySchemas, largestContentBody, validatorOf } from '../http/request/parse-body.ts';
import { idleTimeoutSeconds } from '../http/server.ts';
import { createLive } from '../live/gateway.ts';
import {
  createInstruments,
  liveMeterOf,
  measureDelay,
  meterBlobs,
  meteredSender,
  meterStore,
} from '../metrics/instruments.ts';
import { roomLimitsOf } from '../protocol/limits.ts';
import { eraseEveryMs } from '../store/sqlite/writer.ts';
import { createWebhookSender } from '../webhooks/sender.ts';

/** A sweep interval and an erase interval together are less than 30 seconds. */
export const sweepEveryMs = 15_000;

/** Clocks and intervals of a server, which tests replace. */
export const defaultOptions = {
  clock: Date.now as Clock,
  /** A monotonic clock in milliseconds, unaffected by changes of the system clock. */
  monotonic: (() => performance.now()) as Clock,
  heartbeatMs: 25_000,
  /** How many clients should reconnect per second if all of them lose their live channels. */
  reconnectsPerSecond: 1_000,
  /** A connection may be idle for this long. */
  idleTimeoutMs: idleTimeoutSeconds * 1000,
  sweepEveryMs,
  /** How often deleted text is erased from the files of the embedded engine. */
  eraseEveryMs,
  /** Whether the PINs of stored rooms may become invalid. */
  acceptNewSecret: false,
  /** How often the files of the certificate are compared. */
  certificateCheckMs: 10_000,
  /** How often a lost store is asked whether it responds again. */
  outageCheckMs: 1000,
  /** How often the store is asked whether it may evict rooms. */
  evictionCheckMs: 60_000,
  /** How often blocks of addresses by other nodes are read, how many there may be, and how often activity is stored. */
  blockCheckMs: 2000,
  maxBlocks: 500,
  activityReportMs: 5000,
  /** How often rooms with webhooks are compared with what was reported. */
  webhookScanMs: 5000,
  /** The number of lost log lines, for the metrics. */
  lostLogLines: () => 0,
};

export type ServerOptions = typeof defaultOptions & { page: PageSource };

/** Work that is not needed for the start is delayed until the first requests have been served. */
const backgroundWorkAfterMs = 300;

export type Service = ReturnType<typeof createService>;

export function createService(config: Config, log: Log, opened: Engine, options: ServerOptions) {
  const instruments = config.metrics ? createInstruments() : undefined;
  const engine = instruments
    ? { ...opened, store: meterStore(opened.store, instruments), blobs: meterBlobs(opened.blobs, instruments) }
    : opened;
  const { store, blobs, secret } = engine;
  const { clock, monotonic } = options;
  const hashClient = createClientHash(secret);
  const maxStoredBytes = totalMaxBytes(config);
  const quotaRules = { client: config.clientMaxBytes, key: config.keyMaxBytes, total: maxStoredBytes };
  const quota = createStorageQuota(quotaRules, hashClient);
  const limits = roomLimitsOf(config);
  const work = new WorkBudget(config.workLimit);
  const bus: EventBus = {
    publish(code, change) {
      engine.bus.publish(code, change);
      webhooks.dispatcher.notice(code);
    },
    subscribe: (code, listener) => engine.bus.subscribe(code, listener),
  };
  const longestAgeMs = config.demo ? config.roomMaxTtl * 1000 : undefined;
  const deps: CoreDeps = { ...store, blobs, bus, quota, limits, clock, work, longestAgeMs, secret };
  const webhookSender = createWebhookSender(config.webhookHosts);
  const webhooks = createWebhooks({
    core: { ...deps, webhooks: store.webhooks },
    sender: instruments ? meteredSender(webhookSender, instruments) : webhookSender,
    // Without hosts, only those of rooms that have ended are to be removed.
    scanEveryMs: config.webhookHosts.length > 0 ? options.webhookScanMs : options.sweepEveryMs,
    onFailure: (err) => onBackgroundFailure(err, 'could not deliver webhooks'),
  });
  const clientLog = createClientLog({ log, hash: hashClient, isDebug: config.logLevel === 'debug' });
  const rooms = createRooms(deps, {
    lifetime: config.roomTtl,
    longestLifetime: config.roomMaxTtl,
    largestContent: config.contentMax,
  });
  const space = createFileSpace(deps);
  const maxMessageBytes = largestContentBody(config.contentMax);
  const turns = new Turns(work);
  const stores = { rooms: store.ping, files: blobs.ping };
  const outages = watchOutages({ stores, log, monotonic, everyMs: options.outageCheckMs });
  /** The outage is logged once. A line for each room would hide it. */
  function onBackgroundFailure(err: unknown, message: string): void {
    outages.suspect();
    if (!hasCode(err, 'UNAVAILABLE')) log.warn({ err }, message);
  }
  const live = createLive({
    ...options,
    core: deps,
    rooms,
    onFailure: onBackgroundFailure,
    turns,
    clientLog,
    channelsPerClient: config.maxChannels,
    maxMessageBytes,
    validate: (schema, value) => chain(validatorOf(schema), (check) => check(value)),
    meter: instruments ? liveMeterOf(instruments) : noLiveMeter,
  });
  const { adminToken: token, trustedProxies } = config;
  const adminDeps = { store, secret, rooms, channels: live.size, hashClient, trustedProxies, ...options, log };
  return {
    config,
    outages,
    eviction: watchEviction({ store, isAllowed: config.allowEviction, log, everyMs: options.evictionCheckMs }),
    options,
    instruments,
    stopMeasuring: instruments && measureDelay(instruments.loopDelay.with()),
    engine,
    deps,
    clientLog,
    rooms,
    creation: createCreation({ ...store, mode: config.create, password: config.createPassword, secret, clock }),
    space,
    idempotency: createIdempotency({ store: store.idempotency, secret, hashClient, clock }),
    files: createFiles(deps, space),
    uploads: createUploads(deps, space),
    claims: createClaims(deps),
    zips: createZips(deps),
    webhooks,
    reports: createReports(deps, hashClient, log),
    roomLinks: createLinks(deps, config.roomMaxTtl),
    budgets: createBudgets(maxMessageBytes, availableDescriptors(), monotonic),
    turns,
    maxStoredBytes,
    live,
    sweeper: createSweeper(deps, {
      everyMs: options.sweepEveryMs,
      monotonic,
      done: (swept) => log.info(swept, 'swept'),
      failed(err) {
        outages.suspect();
        instruments?.sweepFailures.with().add();
        // The store is reported as lost, once.
        if (!hasCode(err, 'UNAVAILABLE')) log.error({ err }, 'sweep failed');
      },
      doubted: (why) =>
        log.warn(why, 'the clock jumped or may be ahead: nothing is deleted until it has been steady for 10 minutes'),
    }),
    stopOperatorRequests: store.inbox && answerOperator({ inbox: store.inbox, store: store.rooms, rooms, clock, log }),
    /** Undefined without a token. */
    admin: token === undefined ? undefined : startAdmin({ token, ...adminDeps }),
    stopping: new AbortController(),
    /** Replaced when its files change; undefined without HTTPS. */
    certificate: undefined as CertificatePem | undefined,
  };
}

export async function endService(service: Service): Promise<void> {
  const { live, clientLog, outages, eviction, sweeper, webhooks, stopOperatorRequests, admin, engine } = service;
  service.stopMeasuring?.();
  live.stop();
  clientLog.stop();
  outages.stop();
  eviction.stop();
  await sweeper.stop();
  await webhooks.dispatcher.stop();
  await stopOperatorRequests?.();
  await admin?.stop();
  await engine.close();
}

/** Work that the start does not need. */
export function startBackgroundWork({ sweeper, live, webhooks }: Service, log: Log): () => void {
  let stopCollecting = () => {};
  const timer = setTimeout(() => {
    sweeper.start();
    webhooks.dispatcher.start();
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
