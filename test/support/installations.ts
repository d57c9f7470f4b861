/** A server on each engine, and the ways in which it can interrupt an upload. */
import { installationSettings, startTwoNodes, withoutLimits } from './nodes.ts';
import { type Cleanup, dataFolder, type ServerProcess, startProcess } from './process.ts';
import { startRedis } from './redis.ts';
import { startS3 } from './s3.ts';

export interface Installation {
  /** The server that clients reach at the moment. */
  current(): ServerProcess;
  /** Interrupts all uploads in another way than by a broken connection. */
  interrupt(): Promise<void>;
}

type Env = Record<string, string>;

/** Starts an installation of each engine. */
export const installations = { embedded: startEmbedded, distributed: startDistributed };

/** An interruption kills the server and starts it again. */
async function startEmbedded(t: Cleanup, env: Env): Promise<Installation> {
  const folder = await dataFolder(t);
  const settings = { ...withoutLimits, ...env };
  let server = await startProcess(t, folder, settings);
  return {
    current: () => server,
    async interrupt() {
      await server.end('SIGKILL');
      server = await startProcess(t, folder, settings);
    },
  };
}

/** An interruption moves the clients to another node. */
async function startDistributed(t: Cleanup, env: Env): Promise<Installation> {
  const [redis, s3] = await Promise.all([startRedis(), startS3()]);
  t.after(() => Promise.all([redis.stop(), s3.stop()]));
  const nodes = await startTwoNodes(t, installationSettings({ redis, s3 }, { ...withoutLimits, ...env }));
  let current = 0;
  return {
    current: () => nodes[current] as ServerProcess,
    async interrupt() {
      current = 1 - current;
    },
  };
}
