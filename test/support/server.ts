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
import { overhear } from './overhear.ts';
import { createSecrets, figures } from './secrets.ts';

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** What it runs with. */
  readonly settings: Readonly<Record<string, string>>;
  /** What the server logged so far, as text. */
  readonly logged: () => string;
  readonly clock: TestClock;
  readonly api: ReturnType<typeof createApi>;
  /** A clean stop, unless it is stopped, and a new start on the same folder, with settings added. */
  restart(env?: Record<string, string>): Promise<void>;
  /** Looks at the figures, and stops it. */
  stop(): Promise<void>;
}

/** The one way of time in the server. */
export interface TestClock {
  /** What the wall clock shows; set it, and it leaps there. */
  now: number;
  /** What has passed, however the wall clock was set. */
  passed: number;
  /** Time passes. */
  advance(ms: number): void;
}

const quietDefaults = {
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
  surroundings: Partial<
    Pick<ServerOptions, 'heartbeatMs' | 'idleTimeoutMs' | 'sweepEveryMs' | 'eraseEveryMs' | 'page'>
  > = {},
): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-'));
  const clock: TestClock = {
    // Never ahead of the file system's own time: by such a clock, the bytes of an upload under way would look old.
    now: Date.UTC(2026, 0, 15, 9, 30),
    passed: 0,
    advance(ms) {
      this.now += ms;
      this.passed += ms;
    },
  };
  const clocks = { clock: () => clock.now, monotonic: () => clock.passed };
  const secrets = createSecrets();
  const lines: string[] = [];
  const log = collect(lines);
  let settings: Record<string, string> = { ...quietDefaults, POPROOM_DATA_DIR: folder, ...engineUnderTest(), ...env };
  const start = () => startServer(readConfig(settings), log, { ...clocks, ...surroundings });
  let running: Running = await start();
  let stopped: Promise<void> | undefined;
  const url = () => `http://127.0.0.1:${running.port}`;
  const hearNoMore = overhear(() => running.port, secrets);
  const counted: string[] = [];
  const countAndStop = async () => {
    counted.push(await figures(url()));
    await running.stop();
  };
  const stop = () => {
    stopped ??= countAndStop();
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
    hearNoMore();
    await stop().catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
    secrets.assertAbsentFrom(counted.join('\n'), 'the figures');
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
