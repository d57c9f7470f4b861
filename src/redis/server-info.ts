/** Reads the state of the servers of a Redis, and decides whether Poproom can use them. */
import type { OpenedClient } from './client.ts';
import type { RedisTarget } from './redis-url.ts';
import { scriptWhenFull } from './script.ts';

type ServerInfo = ReadonlyMap<string, string>;

type Servers = Pick<OpenedClient, 'sendToAll'>;

/** The settings name servers of another kind, or servers that accept no writes. */
export class UnusableRedis extends Error {
  override name = 'UnusableRedis';
}

/** Rejects with the reason if these servers do not accept writes. */
export async function assertUsable({ sendToAll }: Servers, target: RedisTarget): Promise<void> {
  try {
    // Managed services may not allow INFO.
    const infos = (await sendToAll(['INFO', 'server']).catch(() => [])).map(parseInfo);
    for (const info of infos) assertMode(info.get('redis_mode'), target);
    await assertAcceptsWrites(sendToAll);
    if (target.mode === 'cluster') for (const state of await sendToAll(['CLUSTER', 'INFO'])) assertComplete(state);
  } catch (error) {
    throw explain(error, target);
  }
}

/** Redis does not start a script that may write if it accepts no writes, for example as a replica. Writes nothing. */
export async function assertAcceptsWrites(sendToAll: OpenedClient['sendToAll']): Promise<void> {
  await sendToAll(['EVAL', empty.text, '0']).catch(async (error) => {
    if (!isUnknownFlag(error)) throw error;
    await sendToAll(['PING']);
  });
}

const empty = scriptWhenFull('return 1');

/** Redis before version 7. */
export const isUnknownFlag = (error: unknown): boolean => String(error).includes('Error compiling script');

function assertMode(mode: string | undefined, target: RedisTarget): void {
  if (target.mode !== 'single') return;
  if (mode === 'sentinel') throw new UnusableRedis('it is a Sentinel; add ?sentinel=NAME with the name of its primary');
  if (mode === 'cluster') throw new UnusableRedis('it is a server of a cluster; add ?cluster');
}

function assertComplete(state: unknown): void {
  if (parseInfo(state).get('cluster_state') === 'fail') throw new UnusableRedis(incomplete);
}

const incomplete =
  'the cluster is incomplete, some of its slots have no server; create it with "redis-cli --cluster create", or check its servers';

/** By the start of the message of Redis. */
const explanations: readonly [RegExp, (target: RedisTarget) => string][] = [
  [/^READONLY/, () => 'it is a read-only replica; name its primary, or its Sentinels with ?sentinel=NAME'],
  [/^CLUSTERDOWN|no server of the cluster/, () => incomplete],
  [/^ERR unknown command 'SENTINEL/, () => 'it is not a Sentinel; name the Sentinels, or remove ?sentinel'],
  [
    /^ERR (unknown command 'CLUSTER|This instance has cluster support disabled)/,
    () => 'it is not a cluster; remove ?cluster',
  ],
  [/^ERR No such master/, ({ sentinel }) => `its Sentinels know no primary with the name ${sentinel?.name}`],
];

/** Returns other errors as they are. */
export function explain(error: unknown, target: RedisTarget): unknown {
  const message = error instanceof Error ? error.message : '';
  const sentence = explanations.find(([pattern]) => pattern.test(message))?.[1](target);
  return sentence === undefined ? error : new UnusableRedis(sentence, { cause: error });
}

export const parseInfo = (text: unknown): ServerInfo =>
  new Map([...String(text).matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name = '', value = '']) => [name, value]));

/**
 * How the servers make room when their memory is full: `noeviction` if all of them reject writes, otherwise the policy
 * of one that evicts. Undefined if one does not tell, as some managed services.
 */
export async function evictionPolicyOf(redis: Servers): Promise<string | undefined> {
  const policies = (await infoPolicies(redis)) ?? (await configuredPolicies(redis)) ?? [];
  const evicting = policies.find((policy) => policy !== undefined && policy !== 'noeviction');
  return evicting ?? (policies.includes(undefined) ? undefined : policies[0]);
}

type Policies = (string | undefined)[] | undefined;

async function infoPolicies(redis: Servers): Promise<Policies> {
  const replies = await redis.sendToAll(['INFO', 'memory']).catch(noneIfDenied);
  const policies = replies?.map((reply) => parseInfo(reply).get('maxmemory_policy'));
  return policies?.includes(undefined) ? undefined : policies;
}

async function configuredPolicies(redis: Servers): Promise<Policies> {
  const replies = await redis.sendToAll(['CONFIG', 'GET', 'maxmemory-policy']).catch(noneIfDenied);
  return replies?.map((reply) => configValue(reply, 'maxmemory-policy'));
}

/** A list or an object, depending on the version of the protocol. */
export const configValue = (reply: unknown, name: string): string | undefined =>
  Array.isArray(reply) ? (reply[1] as string) : (reply as Record<string, string>)[name];

/** A server that rejects a command responds. */
export function noneIfDenied(error: unknown): undefined {
  if ((error as { code?: string }).code !== 'INTERNAL') throw error;
}
