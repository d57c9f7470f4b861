/** A real server on a free port, in a temporary folder, with a clock that tests can set. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { readConfig } from '../../src/config.ts';
import type { Log } from '../../src/core/ports/basics.ts';
import type { ServerOptions } from '../../src/server/service.ts';
import { type Running, startServer } from '../../src/server.ts';
import { createApi } from './api.ts';
import { createDatabase } from './data-folder.ts';
import { engineUnderTest, isDistributed } from './engine.ts';
import { eventually } from './eventually.ts';
import { recordTraffic } from './record-traffic.ts';
import { createSecrets, metricLabels } from './secrets.ts';

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** Its current settings. */
  readonly settings: Readonly<Record<string, string>>;
  /** The log so far, as text. */
  readonly logged: () => string;
  readonly clock: TestClock;
  readonly api: ReturnType<typeof createApi>;
  /** Stops the server if it runs, and starts it in the same folder with these additional settings. */
  restart(env?: Record<string, string>): Promise<void>;
  /** Reads the metrics, and stops the server. */
  stop(): Promise<void>;
}

/** The clock of the server. */
export interface TestClock {
  /** The wall clock. Tests may set it. */
  now: number;
  /** The monotonic clock, independent of the wall clock. */
  elapsed: number;
  /** Advances both clocks. */
  advance(ms: number): void;
}

const testDefaults = {
  PORT: '0',
  POPROOM_HOST: '127.0.0.1',
  POPROOM_TRUSTED_PROXIES: '127.0.0.1',
  POPROOM_MIN_FREE_DISK: '0',
  // All tests are the same client, and share a busy machine.
  POPROOM_WORK_LIMIT: '0',
  POPROOM_METRICS: 'true',
  POPROOM_LOG_LEVEL: 'debug',
};

type TestServerOptions = Partial<
  Pick<
    ServerOptions,
    | 'heartbeatMs'
    | 'reconnectsPerSecond'
    | 'idleTimeoutMs'
    | 'sweepEveryMs'
    | 'eraseEveryMs'
    | 'page'
    | 'acceptNewSecret'
    | 'certificateCheckMs'
    | 'outageCheckMs'
    | 'evictionCheckMs'
    | 'blockCheckMs'
    | 'maxBlocks'
    | 'activityReportMs'
    | 'webhookScanMs'
  >
>;

export async function startTestServer(
  t: TestContext,
  env: Record<string, string> = {},
  options: TestServerOptions = {},
): Promise<TestServer> {
  const { server, finish } = await createTestServer(env, options);
  t.after(finish);
  return server;
}

/**
 * A server that all tests of a process with these settings share, for tests that use rooms of their own and no clock.
 * It saves about 80 ms of CPU time per test. Limits per client are too high to be reached.
 */
export async function sharedServer(t: TestContext, env: Record<string, string> = {}): Promise<TestServer> {
  const key = JSON.stringify(env);
  const settings = { ...highLimits, ...env };
  const shared = sharedServers.get(key) ?? { created: createTestServer(settings), users: 0, closing: undefined };
  sharedServers.set(key, shared);
  clearTimeout(shared.closing);
  shared.users += 1;
  t.after(async () => {
    shared.users -= 1;
    if (shared.users === 0) shared.closing = setTimeout(() => void closeShared(key), closeAfterMs);
    await (await shared.created).assertNoSecrets();
  });
  const { server } = await shared.created;
  // Rooms of earlier tests may expire, and those of later ones do not.
  server.clock.now = Math.max(server.clock.now, Date.now());
  return withoutControl(server);
}

interface SharedServer {
  created: Promise<CreatedServer>;
  users: number;
  closing: NodeJS.Timeout | undefined;
}

/** All tests are the same client. */
const highLimits = {
  POPROOM_FREE_LIMIT: '1000000',
  POPROOM_MISS_LIMIT: '1000000',
  POPROOM_CLIENT_MAX_BYTES: '0',
};
/** By their settings. */
const sharedServers = new Map<string, SharedServer>();
/** Longer than the pause between two tests or files. */
const closeAfterMs = 1000;

async function closeShared(key: string): Promise<void> {
  const shared = sharedServers.get(key);
  sharedServers.delete(key);
  await (await shared?.created)?.finish();
}

/** The other tests need the server as it is. */
function withoutControl(server: TestServer): TestServer {
  const refuse = () => {
    throw new Error('Other tests share this server: use startTestServer to stop it or to set its clock.');
  };
  const clock = {
    get now() {
      return server.clock.now;
    },
    elapsed: 0,
    advance: refuse,
  };
  return Object.defineProperties({} as TestServer, {
    ...Object.getOwnPropertyDescriptors(server),
    clock: { value: clock },
    restart: { value: refuse },
    stop: { value: refuse },
  });
}

interface CreatedServer {
  server: TestServer;
  /** Fails if the new part of the log, or the metrics, contain a secret. */
  assertNoSecrets(): Promise<void>;
  /** Stops the server, removes its folder, and checks its log. */
  finish(): Promise<void>;
}

async function createTestServer(env: Record<string, string>, options: TestServerOptions = {}): Promise<CreatedServer> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-'));
  if (!isDistributed) await createDatabase(folder);
  const clock: TestClock = {
    // Never ahead of the time of the file system, or unfinished uploads would look old.
    now: Date.UTC(2026, 0, 15, 9, 30),
    elapsed: 0,
    advance(ms) {
      this.now += ms;
      this.elapsed += ms;
    },
  };
  const clocks = { clock: () => clock.now, monotonic: () => clock.elapsed };
  const secrets = createSecrets();
  const lines: string[] = [];
  let checkedLines = 0;
  const log = collect(lines);
  let settings: Record<string, string> = { ...testDefaults, POPROOM_DATA_DIR: folder, ...engineUnderTest(), ...env };
  const start = () => startServer(readConfig(settings), log, { ...clocks, ...options });
  let running: Running = await start();
  let stopped: Promise<void> | undefined;
  const url = () => `http://127.0.0.1:${running.port}`;
  const stopRecording = recordTraffic(() => running.port, secrets);
  const metrics: string[] = [];
  const readMetricsAndStop = async () => {
    metrics.push(await metricLabels(url()));
    await running.stop();
  };
  const stop = () => {
    stopped ??= readMetricsAndStop();
    return stopped;
  };
  const check = () => {
    secrets.assertAbsentFrom(metrics.splice(0).join('\n'), 'the metrics');
    secrets.assertAbsentFrom(lines.slice(checkedLines).join('\n'), 'the log');
    checkedLines = lines.length;
  };

  const server: TestServer = {
    get url() {
      return url();
    },
    get port() {
      return running.port;
    },
    folder,
    get settings() {
      return settings;
    },
    clock,
    logged: () => lines.join('\n'),
    api: createApi(url, secrets),
    async restart(more = {}) {
      await stop();
      settings = { ...settings, ...more };
      running = await eventually('its port is free', () => start().catch(laterIfPortIsTaken));
      stopped = undefined;
    },
    stop,
  };
  return {
    server,
    async assertNoSecrets() {
      metrics.push(await metricLabels(url()));
      check();
    },
    async finish() {
      stopRecording();
      await stop().catch(() => undefined);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
      check();
    },
  };
}

/** While a server was stopped, another process may have taken its port for a moment. */
function laterIfPortIsTaken(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EADDRINUSE') throw error;
}

function collect(lines: string[]): Log {
  const write = (level: string) => (fields: object, message: string) => {
    lines.push(JSON.stringify({ level, message, ...fields }, errorsAsText));
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

function errorsAsText(_key: string, value: unknown): unknown {
  return value instanceof Error ? `${value.stack}\n${String(value.cause ?? '')}` : value;
}
