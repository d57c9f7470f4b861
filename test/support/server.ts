/** A real server on a free port, in a temporary folder, with a clock that tests can set. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { readConfig } from '../../src/config.ts';
import type { Log } from '../../src/core/ports.ts';
import { type Running, type ServerOptions, startServer } from '../../src/server.ts';
import { createApi } from './api.ts';
import { engineUnderTest } from './engine.ts';
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
  POPROOM_METRICS: 'true',
  POPROOM_LOG_LEVEL: 'debug',
};

export async function startTestServer(
  t: TestContext,
  env: Record<string, string> = {},
  options: Partial<
    Pick<
      ServerOptions,
      | 'heartbeatMs'
      | 'idleTimeoutMs'
      | 'sweepEveryMs'
      | 'eraseEveryMs'
      | 'page'
      | 'acceptNewSecret'
      | 'certificateCheckMs'
      | 'outageCheckMs'
    >
  > = {},
): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-'));
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
      running = await start();
      stopped = undefined;
    },
    stop,
  };
  t.after(async () => {
    stopRecording();
    await stop().catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
    secrets.assertAbsentFrom(metrics.join('\n'), 'the metrics');
    secrets.assertAbsentFrom(lines.join('\n'), 'the log');
  });
  return server;
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
