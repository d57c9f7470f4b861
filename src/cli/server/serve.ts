/** `poproom serve`: the server in the foreground, until it is told to stop. */
import { flushCompileCache } from 'node:module';
import { constants } from 'node:os';
import { type Config, readConfig } from '../../config.ts';
import { lanAddresses } from '../../lan-addresses.ts';
import { createLog } from '../../log.ts';
import { startServer } from '../../server.ts';
import type { Input } from '../command.ts';
import { UsageError } from '../usage-error.ts';

const lastWayOutMs = 30_000;
const firstAnswersMs = 50;

export async function serve({ args }: Input): Promise<void> {
  if (args.length > 0)
    throw new UsageError(`"poproom serve" takes no "${args[0]}"; its settings are environment variables, see --help.`);

  const config = readConfig();
  const log = createLog(config.logLevel);
  const running = await startServer(config, log);
  onStopSignals(stop, endAtOnce);
  await announce(config, running.port);
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
    setTimeout(() => process.exit(1), lastWayOutMs).unref();
    try {
      await running.stop();
      log.info({}, 'stopped');
    } catch (err) {
      process.exitCode = 1;
      log.error({ err }, 'could not stop cleanly');
    }
    log.close();
  }

  function endAtOnce(signal: StopSignal): void {
    log.warn({ signal }, 'ended before it had stopped');
    log.close();
    process.exit(128 + constants.signals[signal]);
  }
}

type StopSignal = 'SIGINT' | 'SIGTERM';

/** One Ctrl-C may come twice, from the terminal and from npx; a second one is one that comes later. */
const onceMoreAfterMs = 1000;

function onStopSignals(first: (signal: StopSignal) => void, onceMore: (signal: StopSignal) => void): void {
  let since: number | undefined;
  const told = (signal: StopSignal) => {
    if (since === undefined) {
      since = performance.now();
      first(signal);
    } else if (performance.now() - since > onceMoreAfterMs) onceMore(signal);
  };
  process.on('SIGINT', told).on('SIGTERM', told);
}

/** For a person at a terminal; anything else reads the log. */
async function announce(config: Config, port: number): Promise<void> {
  if (!process.stdout.isTTY) return;
  const own = config.publicUrl ?? `http://localhost:${port}`;
  const near = lanAddresses(config.host).map((address) => `http://${address}:${port}`);
  const rows = [
    ['open', own],
    ...near.map((url) => ['from other devices', url]),
    ['rooms', config.store === 'sqlite:' ? `SQLite in ${config.dataDir}` : 'Redis'],
    [
      'files',
      config.files === 'disk:' ? `on the disk in ${config.dataDir}/files` : `S3, bucket ${config.files.bucket}`,
    ],
    ['read the API', `${own}/docs`],
  ];
  console.log(`\n  Poproom is ready\n\n${rows.map(([what, where]) => `  ${what?.padEnd(20)} ${where}`).join('\n')}\n`);
  const scan = config.publicUrl ?? near[0];
  if (scan) console.log(indent((await import('uqr')).renderUnicodeCompact(scan, { border: 1 })));
}

const indent = (text: string) => text.replaceAll(/^/gm, '  ');
