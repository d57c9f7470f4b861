/** `poproom serve`: the server in the foreground, until it is onSignal to stop. */
import { flushCompileCache } from 'node:module';
import { constants } from 'node:os';
import { type Config, readConfig } from '../../config.ts';
import type { Log } from '../../core/ports.ts';
import { createLog } from '../../log.ts';
import { type Running, startServer } from '../../server.ts';
import type { Input } from '../command.ts';
import { UsageError } from '../usage-error.ts';

const lastWayOutMs = 30_000;
/** For a slow reader of the log to take the last lines. */
const lastLinesMs = 1000;
const lastWordMs = 100;
const firstAnswersMs = 50;

export async function serve({ args }: Input): Promise<void> {
  if (args.length > 0)
    throw new UsageError(`"poproom serve" takes no "${args[0]}"; its settings are environment variables, see --help.`);

  const config = readConfig();
  const log = createLog(config.logLevel);
  logWarnings(log);
  const running = await startServer(config, log, { lostLogLines: log.lostLines });
  onStopSignals(stop, endNow);
  if (process.stdout.isTTY) log.print(await announcement(config, running));
  // Whoever waits for the server to come up gets an answer before the log's writer is loaded.
  await new Promise((resolve) => setTimeout(resolve, firstAnswersMs));
  try {
    await log.open();
  } catch (error) {
    await running.stop();
    throw error;
  }
  log.info({ port: running.port, host: config.host, dataDir: config.dataDir }, 'listening');
  flushCompileCache();

  async function stop(signal: StopSignal): Promise<void> {
    log.info({ signal }, 'stopping');
    setTimeout(() => end(1), lastWayOutMs).unref();
    try {
      await running.stop();
      log.info({}, 'stopped');
    } catch (err) {
      process.exitCode = 1;
      log.error({ err }, 'could not stop cleanly');
    }
    await log.close(lastLinesMs);
    // Otherwise it ends when the last file of an upload that was cut off is removed.
    if (log.isBlocked()) end(1);
  }

  async function endNow(signal: StopSignal): Promise<void> {
    log.warn({ signal }, 'ended before it had stopped');
    await log.close(lastWordMs);
    end(128 + constants.signals[signal]);
  }

  /** `process.exit` waits for all threads, and one that hangs in a write to the log would keep it for ever. */
  function end(exitCode: number): void {
    if (log.isBlocked()) process.kill(process.pid, 'SIGKILL');
    process.exit(exitCode);
  }
}

/** Node would write its warnings to standard error, and wait for whoever reads that. */
function logWarnings(log: Log): void {
  process.removeAllListeners('warning').on('warning', (err) => log.warn({ err }, 'warning of the runtime'));
}

/** SIGHUP: the terminal is gone. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type StopSignal = (typeof stopSignals)[number];

/** One Ctrl-C may come twice, from the terminal and from npx; a second one is one that comes later. */
const onceMoreAfterMs = 1000;

function onStopSignals(first: (signal: StopSignal) => void, onceMore: (signal: StopSignal) => void): void {
  let since: number | undefined;
  const onSignal = (signal: StopSignal) => {
    if (since === undefined) {
      since = performance.now();
      first(signal);
    } else if (performance.now() - since > onceMoreAfterMs) onceMore(signal);
  };
  for (const signal of stopSignals) process.on(signal, onSignal);
}

/** For a person at a terminal; anything else reads the log. */
async function announcement(config: Config, { port, networkUrls }: Running): Promise<string> {
  const own = config.publicUrl ?? `http://localhost:${port}`;
  const rows = [
    ['open', own],
    ...networkUrls.map((url) => ['from other devices', url]),
    ['rooms', config.store === 'sqlite:' ? `SQLite in ${config.dataDir}` : 'Redis'],
    [
      'files',
      config.files === 'disk:' ? `on the disk in ${config.dataDir}/files` : `S3, bucket ${config.files.bucket}`,
    ],
    ['read the API', `${own}/docs`],
  ];
  const table = `\n  Poproom is ready\n\n${rows.map(([what, where]) => `  ${what?.padEnd(20)} ${where}`).join('\n')}\n\n`;
  const scan = config.publicUrl ?? networkUrls[0];
  return scan ? `${table}${indent((await import('uqr')).renderUnicodeCompact(scan, { border: 1 }))}\n` : table;
}

const indent = (text: string) => text.replaceAll(/^/gm, '  ');
