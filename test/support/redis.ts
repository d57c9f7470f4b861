/** A real Redis on a free port, for the duration of a test file. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { eventually } from './eventually.ts';
import { freePort } from './listen.ts';

export interface RedisServer {
  /** The id of the current process. */
  readonly pid: number;
  readonly port: number;
  readonly url: string;
  /** `SIGSTOP`, `SIGCONT`, `SIGKILL` … */
  signal(name: NodeJS.Signals): void;
  /** Stops it and starts it again on the same port, with its persisted data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** `configuration`: lines of the configuration file. Sentinels need one. */
export async function startRedis(
  settings: readonly string[] = [],
  configuration: readonly string[] = [],
): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-redis-'));
  const file = join(folder, 'redis.conf');
  await writeFile(file, configuration.join('\n'));
  let port = await freePort();
  const args = ['--bind', '127.0.0.1', '--dir', folder, '--save', '', ...settings];
  const launch = () => launchRedis([file, '--port', String(port), ...args]);
  let child = launch();
  for (let tries = 1; !(await hasStarted(child, port)); tries++) {
    if (tries === 5) throw new Error('Redis exits immediately after its start.');
    // Another program may have taken the port.
    port = await freePort();
    child = launch();
  }

  async function end(): Promise<void> {
    if (hasEnded(child)) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    await ended;
  }

  return {
    get pid() {
      return child.pid as number;
    },
    port,
    url: `redis://127.0.0.1:${port}`,
    signal: (name) => void child.kill(name),
    async restart() {
      await end();
      child = launch();
      if (!(await hasStarted(child, port))) throw new Error('Redis did not start again.');
    },
    async stop() {
      await end();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export interface RedisCluster {
  readonly url: string;
  readonly servers: readonly RedisServer[];
  /** Waits until all servers report a healthy cluster. */
  waitUntilHealthy(): Promise<void>;
  stop(): Promise<void>;
}

/** Three servers that share the slots. */
export async function startRedisCluster(settings: readonly string[] = []): Promise<RedisCluster> {
  const own = ['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf', ...settings];
  const servers = await Promise.all([1, 2, 3].map(() => startRedis(own)));
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`);
  execFileSync('redis-cli', ['--cluster', 'create', ...hosts, '--cluster-yes'], { stdio: 'ignore' });
  const isHealthy = ({ port }: RedisServer) => {
    const state = redisCli(port, 'cluster', 'info');
    return state.includes('cluster_state:ok') && state.includes('cluster_known_nodes:3');
  };
  const waitUntilHealthy = () =>
    eventually('the cluster is healthy', () => servers.every(isHealthy)).then(() => undefined);
  await waitUntilHealthy();
  return {
    url: `redis://${hosts.join(',')}?cluster`,
    servers,
    waitUntilHealthy,
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

export interface RedisWithSentinels {
  readonly url: string;
  readonly primary: RedisServer;
  /** Waits until the replica has all writes of the primary. */
  waitForReplication(): Promise<void>;
  stop(): Promise<void>;
}

/** A primary and its replica with one password, and three Sentinels with another. */
export async function startRedisWithSentinels(): Promise<RedisWithSentinels> {
  const [password, sentinelPassword] = ['of the servers', 'of the Sentinels'];
  // By default, the primary waits for more replicas before it syncs the first one.
  const withoutDelay = ['--repl-diskless-sync-delay', '0'];
  const login = ['--requirepass', password, '--masterauth', password, ...withoutDelay];
  const primary = await startRedis(login);
  const replica = await startRedis([...login, '--replicaof', '127.0.0.1', String(primary.port)]);
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(primary.port, password, sentinelPassword)));
  await eventually('the Sentinels know each other and the replica', () =>
    sentinels.every(({ port }) => {
      const state = redisCli(port, '--no-auth-warning', '-a', sentinelPassword, 'sentinel', 'master', sentinelName);
      return /num-slaves\n1\n/.test(state) && /num-other-sentinels\n2\n/.test(state) && /flags\nmaster\n/.test(state);
    }),
  );
  const offsetOf = ({ port }: RedisServer) =>
    /master_repl_offset:(\d+)/.exec(redisCli(port, '--no-auth-warning', '-a', password, 'info', 'replication'))?.[1];
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const [forServers, forSentinels] = [password, sentinelPassword].map(encodeURIComponent);
  return {
    url: `redis://:${forServers}@${hosts}?sentinel=${sentinelName}&sentinelPassword=${forSentinels}`,
    primary,
    async waitForReplication() {
      const offset = Number(offsetOf(primary));
      await eventually('the replica has all writes', () => Number(offsetOf(replica)) >= offset);
    },
    async stop() {
      await Promise.all(sentinels.map((sentinel) => sentinel.stop()));
      await Promise.all([primary.stop(), replica.stop()]);
    },
  };
}

const sentinelName = 'poproom';

/** A Sentinel stores its state in its configuration file. */
const startSentinel = (primary: number, password: string, own: string) =>
  startRedis(
    ['--sentinel'],
    [
      `requirepass "${own}"`,
      `sentinel sentinel-pass "${own}"`,
      `sentinel monitor ${sentinelName} 127.0.0.1 ${primary} 2`,
      `sentinel auth-pass ${sentinelName} "${password}"`,
      `sentinel down-after-milliseconds ${sentinelName} 1000`,
      `sentinel failover-timeout ${sentinelName} 5000`,
    ],
  );

const redisCli = (port: number, ...command: string[]) =>
  execFileSync('redis-cli', ['-p', String(port), ...command], { encoding: 'utf8' });

/** `npm run test:stores` also tests Valkey. */
const program = process.env.POPROOM_TEST_REDIS_SERVER ?? 'redis-server';

function launchRedis(args: readonly string[]): ChildProcess {
  const child = spawn(program, args, { stdio: 'ignore' });
  child.on('error', () => undefined);
  return child;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

/** Waits until Redis responds or has exited. Returns whether it runs. */
async function hasStarted(child: ChildProcess, port: number): Promise<boolean> {
  await eventually('Redis responds', async () => {
    if (hasEnded(child)) return true;
    const client = createClient({ url: `redis://127.0.0.1:${port}`, socket: { reconnectStrategy: false } });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.ping();
      // If another Redis has taken the port, this one exits soon.
      const isOurs = (await client.info('server')).includes(`process_id:${child.pid}\r\n`);
      client.destroy();
      return isOurs;
    } catch (error) {
      // Redis runs, and requires a password.
      return (error as Error).message.startsWith('NOAUTH');
    }
  });
  return !hasEnded(child);
}
