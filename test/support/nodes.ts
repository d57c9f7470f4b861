/** Several server processes with one Redis and one S3 store, as behind a load balancer. */
import { distributedSettings } from './engine.ts';
import { type Cleanup, createSuiteCleanup, dataFolder, type ServerProcess, startProcess } from './process.ts';
import type { RedisServer } from './redis.ts';
import type { TestS3 } from './s3.ts';

export interface Stores {
  redis: Pick<RedisServer, 'url'>;
  s3: TestS3;
}

type Env = Record<string, string>;

/** For tests that do not test limits. */
export const withoutLimits = { POPROOM_FREE_LIMIT: '0', POPROOM_PRO_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };

/** The settings that all nodes of an installation share. Its data is separate from other tests. */
export function installationSettings({ redis, s3 }: Stores, env: Env = {}): Env {
  const stores = distributedSettings({ redis: redis.url, s3: s3.endpoint, bucket: s3.bucket });
  return { ...stores, ...s3.env, POPROOM_TRUSTED_PROXIES: '127.0.0.1', ...env };
}

export async function startNode(t: Cleanup, settings: Env): Promise<ServerProcess> {
  return startProcess(t, await dataFolder(t), settings);
}

/** Two nodes of one installation, each with its own folder. */
export async function startTwoNodes(t: Cleanup, settings: Env): Promise<[ServerProcess, ServerProcess]> {
  return Promise.all([startNode(t, settings), startNode(t, settings)]);
}

export interface SharedNodes {
  readonly settings: Env;
  readonly nodes: readonly [ServerProcess, ServerProcess, ServerProcess];
  stop(): Promise<void>;
}

/** Three nodes for all tests of a suite. Without `limits`, they have none. */
export async function startSharedNodes(stores: Stores, limits: Env = {}): Promise<SharedNodes> {
  const settings = installationSettings(stores, { ...withoutLimits, ...limits });
  const suite = createSuiteCleanup();
  const [[one, two], three] = await Promise.all([startTwoNodes(suite, settings), startNode(suite, settings)]);
  return { settings, nodes: [one, two, three], stop: suite.end };
}
