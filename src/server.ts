/** The composition root: picks the drivers, puts the parts together, starts and stops them. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openDiskBlobs } from './blobs/disk.ts';
import { createLocalBus } from './bus/local.ts';
import type { Config } from './config.ts';
import { createFiles } from './core/files.ts';
import { guardRules, quotas } from './core/limits.ts';
import type { Parts } from './core/parts.ts';
import type { Clock, KeyStore, Log } from './core/ports.ts';
import { createRooms } from './core/rooms.ts';
import { createSweeper } from './core/sweep.ts';
import { createApp } from './http/app.ts';
import { createGate } from './http/gate.ts';
import { createHandlers } from './http/handlers.ts';
import { createHttpServer } from './http/listen.ts';
import { createMetrics } from './http/metrics.ts';
import { prepareBodies } from './http/prepare-bodies.ts';
import { createProbes } from './http/probes.ts';
import { createRequestIds } from './http/request-id.ts';
import { keepSecret } from './secret.ts';
import { openSqliteKeys, openSqliteStore } from './store/sqlite/index.ts';

export interface Running {
  port: number;
  /** Finishes what runs, writes what is in memory, and closes everything. */
  stop(): Promise<void>;
}

const sweepEveryMs = 30_000;
const finishWithinMs = 25_000;
/** What a start can do without waits until the first requests are through. */
const settleInMs = 300;

export async function startServer(config: Config, log: Log, clock: Clock = Date.now): Promise<Running> {
  const secret = config.secret ?? keepSecret(config.dataDir);
  const store = openSqliteStore({ folder: config.dataDir, rules: guardRules(config.missLimit), now: clock() });
  const blobs = openDiskBlobs({ folder: join(config.dataDir, 'files'), minFree: config.minFreeDisk });
  const parts: Parts = { rooms: store.rooms, blobs, bus: createLocalBus(), clock, secret };
  let stopping = false;
  const isStopping = () => stopping;

  const sweeper = createSweeper(parts, {
    everyMs: sweepEveryMs,
    done: (swept) => log.info(swept, 'swept'),
    failed: (err) => log.error({ err }, 'sweep failed'),
  });
  const metrics = config.metrics ? await createMetrics(() => store.rooms.countRooms(clock())) : undefined;
  const nextRequestId = createRequestIds();
  const gate = createGate({
    keys: store.keys,
    rates: store.rates,
    clock,
    quotas: quotas({ free: config.freeLimit, pro: config.proLimit }),
    trustedProxies: config.trustedProxies,
    requireApiKey: config.requireApiKey,
  });
  const handlers = createHandlers({
    rooms: createRooms(parts, {
      lifetime: config.roomTtl,
      longestLifetime: config.roomMaxTtl,
      largestContent: config.contentMax,
    }),
    files: createFiles(parts),
    probes: createProbes({ store, blobs, clock, lastSweptAt: sweeper.lastSweptAt, sweepEveryMs, isStopping }),
    links: config,
    largestContent: config.contentMax,
    metrics: metrics?.text,
  });
  const app = createApp({
    gate,
    handlers,
    log,
    nextRequestId,
    isStopping,
    observe: metrics?.observe ?? (() => undefined),
  });
  const server = createHttpServer({ app, nextRequestId, headersFor: gate.headersFor });

  let afterwards: NodeJS.Timeout | undefined;
  function settleIn(): void {
    sweeper.start();
    void prepareBodies();
  }

  async function stop(): Promise<void> {
    stopping = true;
    clearTimeout(afterwards);
    await close(server);
    await sweeper.stop();
    await store.close();
  }

  try {
    const port = await listen(server, config);
    afterwards = setTimeout(settleIn, settleInMs);
    return { port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The keys alone, beside a server that may be running. */
export function openKeys(config: Config): KeyStore & { close(): Promise<void> } {
  return openSqliteKeys(config.dataDir);
}

function listen(server: Server, { port, host }: Config): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Idle connections go at once, busy ones when they are done or their time is up. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), finishWithinMs);
    server.close(() => {
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
  });
}
