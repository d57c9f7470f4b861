/** A real Redis on a free port, for as long as a test file runs. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { eventually } from './eventually.ts';

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** `SIGSTOP`, `SIGCONT`, `SIGKILL` … */
  signal(name: NodeJS.Signals): void;
  /** Ends it and starts it again on the same port, with what it had written down. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startRedis(settings: readonly string[] = []): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-redis-'));
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...settings];
  let child = launch(args);
  await answers(port);

  async function end(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    await ended;
  }

  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    signal: (name) => void child.kill(name),
    async restart() {
      await end();
      child = launch(args);
      await answers(port);
    },
    async stop() {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Three servers that share the slots among them. */
export async function startRedisCluster(): Promise<{ url: string; stop(): Promise<void> }> {
  const servers = await Promise.all(
    [1, 2, 3].map((n) => startRedis(['--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${n}.conf`])),
  );
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`);
  execFileSync('redis-cli', ['--cluster', 'create', ...hosts, '--cluster-yes'], { stdio: 'ignore' });
  await eventually('the cluster has come together', () =>
    servers.every(({ port }) => {
      const state = execFileSync('redis-cli', ['-p', String(port), 'cluster', 'info']).toString();
      return state.includes('cluster_state:ok') && state.includes('cluster_known_nodes:3');
    }),
  );
  return {
    url: `redis://${hosts.join(',')}?cluster`,
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

function launch(args: readonly string[]): ChildProcess {
  const child = spawn('redis-server', args, { stdio: 'ignore' });
  child.on('error', () => undefined);
  return child;
}

async function answers(port: number): Promise<void> {
  await eventually('Redis answers', async () => {
    const client = createClient({ url: `redis://127.0.0.1:${port}`, socket: { reconnectStrategy: false } });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.ping();
      client.destroy();
      return true;
    } catch {
      return false;
    }
  });
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
