/** `poproom serve`: runs the server in the foreground until a signal stops it. */
import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { constants } from 'node:os';
import {
  type Config,
  ConfigError,
  demoNote,
  inspectConfig,
  readConfig,
  serveOptions,
  settingNames,
} from '../../config.ts';
import { PoproomError } from '../../core/errors.ts';
import { FolderHangs } from '../../engine/data-folder.ts';
import { filesPlaceOf } from '../../engine/open.ts';
import { CertificateError } from '../../http/certificate.ts';
import { hiddenAdmin, pathRemovedFix } from '../../http/urls.ts';
import { createLog, type OpenLog } from '../../log.ts';
import { type Running, startServer } from '../../server.ts';
import { type Input, nearestName } from '../command.ts';
import { onStopSignals, type StopSignal, UsageError } from '../errors.ts';
import { indented } from '../text-width.ts';

const maxStopMs = 30_000;
/** For a slow log reader to take the last lines. */
const logFlushMs = 1000;
const forcedLogFlushMs = 100;
const logOpenDelayMs = 50;

export async function serve(input: Input): Promise<void> {
  const { args } = input;
  if (args.length > 0)
    throw new UsageError(
      `"poproom serve" takes no arguments, but got "${args[0]}"; use options or environment variables, see poproom serve --help.`,
    );

  const options = Object.fromEntries(Object.entries(serveOptions).map(([key, option]) => [key, input.value(option)]));
  const config = readConfig(undefined, options);
  const log = createLog(config.logLevel);
  // Node would write warnings to standard error, and block if nobody reads it.
  process.removeAllListeners('warning').on('warning', (err) => log.warn({ err }, 'warning from Node'));
  const { unknown, warnings } = inspectConfig(undefined, options);
  for (const text of warnings) log.warn({}, text);
  for (const name of unknown) log.warn({ setting: name }, describeUnknown(name));
  const hidden = hiddenAdmin(config);
  if (hidden) log.warn({}, `${hidden} ${pathRemovedFix}`);
  if (config.demo) log.warn({}, demoNote(config));
  const running = await start(config, log, input.isSet('accept-new-secret'));
  onStopSignals(stop, endNow);
  if (process.stdout.isTTY) log.print(await announcement(config, running));
  // Answer clients that wait for the server before loading the log writer.
  await new Promise((resolve) => setTimeout(resolve, logOpenDelayMs));
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
    setTimeout(() => end(1), maxStopMs).unref();
    try {
      await running.stop();
      log.info({}, 'stopped');
    } catch (err) {
      process.exitCode = 1;
      log.error({ err }, 'could not stop cleanly');
    }
    await log.close(logFlushMs);
    // Otherwise the process exits when the last file of an aborted upload is removed.
    if (log.isBlocked()) end(1);
  }

  async function endNow(signal: StopSignal): Promise<void> {
    log.warn({ signal }, 'second stop signal: exiting without finishing the shutdown');
    await log.close(forcedLogFlushMs);
    end(128 + constants.signals[signal]);
  }

  /** `process.exit` waits for all threads, so a thread that hangs in a log write would block it forever. */
  function end(exitCode: number): void {
    if (log.isBlocked()) process.kill(process.pid, 'SIGKILL');
    process.exit(exitCode);
  }
}

async function start(config: Config, log: OpenLog, acceptNewSecret: boolean): Promise<Running> {
  try {
    return await startServer(config, log, { lostLogLines: log.lostLines, acceptNewSecret });
  } catch (error) {
    if (error instanceof FolderHangs) {
      // A thread hangs in the file system, so a normal exit would wait for it.
      writeSync(process.stderr.fd, `poproom: ${error.message}\n`);
      process.kill(process.pid, 'SIGKILL');
    }
    throw explainStart(error, config);
  }
}

/** Shown only on a terminal. */
async function announcement(config: Config, { port, networkUrls }: Running): Promise<string> {
  const url = config.publicUrl ?? `${config.tlsCert ? 'https' : 'http'}://localhost:${port}`;
  const place = filesPlaceOf(config);
  const rows = [
    ['open', url],
    ...networkUrls.map((networkUrl) => ['from other devices', networkUrl]),
    ['rooms', config.store === 'sqlite:' ? `SQLite in ${config.dataDir}` : 'Redis'],
    ['files', 'folder' in place ? place.folder : `S3, bucket ${place.bucket.bucket}`],
    ['API docs', `${url}/docs`],
    ...(config.demo ? [['demonstration', 'short rooms and small files only']] : []),
  ];
  const table = `\n  Poproom is ready\n\n${rows.map(([what, where]) => `  ${what?.padEnd(20)} ${where}`).join('\n')}\n\n`;
  const scan = config.publicUrl ?? networkUrls[0];
  return scan ? `${table}${indented((await import('uqr')).renderUnicodeCompact(scan, { border: 1 }))}\n` : table;
}

/** Explains why a server cannot start, with the address or the files that it was given. Returns other errors as they are. */
function explainStart(error: unknown, { port, host }: Config): unknown {
  if (error instanceof CertificateError) return new ConfigError([error.message]);
  const { code, syscall } = error as NodeJS.ErrnoException;
  const isWrongHost = code === 'EADDRNOTAVAIL' || syscall === 'getaddrinfo';
  if (isWrongHost)
    return new UsageError(`"${host}" is not an address of this machine; correct --host or POPROOM_HOST.`);
  if (syscall !== 'listen') return error;
  if (code === 'EADDRINUSE') return refusal(`Port ${port} is in use. Choose another one, such as --port ${port + 1}.`);
  if (code !== 'EACCES') return error;
  return refusal(`Port ${port} needs the rights of an administrator. Choose another one, such as --port 8080.`);
}

const refusal = (sentence: string) => new PoproomError('UNAVAILABLE', sentence);

/** Reports names that are not settings, with the one that was probably meant. */
function describeUnknown(name: string): string {
  const meant = nearestName(name, settingNames);
  return `${name} is not a setting. ${meant ? `Did you mean ${meant}?` : '"poproom serve --help" lists all settings.'}`;
}
