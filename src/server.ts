/** The composition root: creates all components for the configured engine, starts and stops them. */
import { isSea } from 'node:sea';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from './config.ts';
import type { Log } from './core/ports/basics.ts';
import {
  assertFolderResponds,
  assertFolderWritable,
  assertOnlyOwnerWrites,
  closeToOthers,
} from './engine/data-folder.ts';
import { openEngine } from './engine/open.ts';
import { secretFiles } from './engine/secret.ts';
import { openCertificate } from './http/certificate.ts';
import { listen, trackConnections } from './http/connections.ts';
import { pageInExecutable, pageInFolder } from './http/page/source.ts';
import { replaceCertificate } from './http/server.ts';
import { networkUrls } from './http/urls.ts';
import { createHttp } from './server/http.ts';
import {
  createService,
  defaultOptions,
  endService,
  type ServerOptions,
  startBackgroundWork,
} from './server/service.ts';

export interface Running {
  port: number;
  /** The URLs for other devices in the local network. */
  networkUrls: string[];
  /** Finishes running requests, writes what is in memory, and closes everything. Repeated calls share one promise. */
  stop(): Promise<void>;
}

/** Time from the stop signal until connections are closed. */
const finishWithinMs = 25_000;

/** The folder is the same from src/ and from dist/. */
export const builtPage = isSea() ? pageInExecutable : pageInFolder(new URL('../dist/web/', import.meta.url));

export async function startServer(config: Config, log: Log, given: Partial<ServerOptions> = {}): Promise<Running> {
  const options = { ...defaultOptions, page: builtPage, ...given };
  await assertFolderResponds(config.dataDir);
  if (config.store === 'sqlite:' || config.files === 'disk:') assertFolderWritable(config.dataDir);
  for (const path of secretFiles(config)) assertOnlyOwnerWrites(path);
  const certificate = openCertificate({ certFile: config.tlsCert, keyFile: config.tlsKey });
  for (const { path, mode, reason } of closeToOthers(config.dataDir))
    log.warn({ path, mode: mode.toString(8), reason }, 'other users of this machine can open this file or folder');
  const service = createService(config, log, await openEngine(config, options.clock, options), options);
  service.certificate = certificate?.pem;
  const server = await createHttp(service).catch(async (error) => {
    await endService(service);
    throw error;
  });
  const closeConnections = trackConnections(server);
  let stopBackgroundWork = () => {};
  const stopWatching = certificate?.watch({
    everyMs: options.certificateCheckMs,
    log,
    use(pem) {
      replaceCertificate(server, pem);
      service.certificate = pem;
    },
  });

  async function end(): Promise<void> {
    service.stopping.abort();
    stopBackgroundWork();
    stopWatching?.();
    service.live.stop();
    await closeConnections(finishWithinMs - config.drain * 1000);
    await endService(service);
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
