/** Where Redis is, as POPROOM_STORE says it. */

export interface RedisTarget extends Login {
  mode: 'single' | 'sentinel' | 'cluster';
  nodes: Address[];
  database: number | undefined;
  /** The name under which Sentinel knows the server, and how the Sentinels themselves are spoken to. */
  sentinel: ({ name: string } & Login) | undefined;
  /** What the names of all keys begin with. */
  prefix: string;
}

export interface Address {
  host: string;
  port: number;
}

export interface Login {
  tls: boolean;
  username: string | undefined;
  password: string | undefined;
}

const knownOptions = ['cluster', 'sentinel', 'sentinelUser', 'sentinelPassword', 'sentinelTls', 'prefix'];

/**
 * `redis://[user:password@]host[:port][,host[:port]…][/database][?cluster | ?sentinel=NAME][&prefix=NAME]`,
 * `rediss://` with TLS. What is particular to the Sentinels: `sentinelUser=`, `sentinelPassword=`, `sentinelTls=`.
 * Throws a sentence for people that does not repeat the address, which may hold a password.
 */
export function parseRedisUrl(text: string): RedisTarget {
  const [, scheme, , credentials, hosts = '', database, query = ''] =
    /^(rediss?):\/\/(([^@/]*)@)?([^/?]+)(?:\/(\d*))?(?:\?(.*))?$/.exec(text) ?? [];
  if (!scheme) throw new Error('must look like redis://host:6379');
  const [username = '', password] = (credentials ?? '').split(/:(.*)/s).map(decoded);
  const login = { tls: scheme === 'rediss', username: username || undefined, password: password || undefined };
  const options = new URLSearchParams(query);
  const sentinel = sentinelIn(options, login);
  const mode = sentinel ? 'sentinel' : options.has('cluster') ? 'cluster' : 'single';
  const nodes = hosts.split(',').map((host) => nodeOf(host, mode === 'sentinel' ? 26_379 : 6_379));
  if (mode === 'single' && nodes.length > 1) throw new Error('names several servers: add ?cluster or ?sentinel=NAME');
  if (mode === 'cluster' && database) throw new Error('names a database, which a cluster does not have');
  return {
    mode,
    ...login,
    nodes,
    database: database ? Number(database) : undefined,
    sentinel,
    prefix: options.get('prefix') ?? 'pop',
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('has a % in its user or password that is not part of a code such as %40; % itself is %25');
  }
}

/** The Sentinels are spoken to as the servers are, but for what is said otherwise. */
function sentinelIn(options: URLSearchParams, servers: Login): RedisTarget['sentinel'] {
  for (const option of options.keys()) {
    if (!knownOptions.includes(option)) throw new Error(`has the option "${option}", which is not known`);
  }
  const name = options.get('sentinel');
  if (!name) {
    const lost = knownOptions.find((option) => option.startsWith('sentinel') && options.has(option));
    if (lost) throw new Error(`has the option "${lost}", but no ?sentinel=NAME`);
    return undefined;
  }
  return { name, tls: sentinelTls(options.get('sentinelTls'), servers), ...sentinelUser(options, servers) };
}

function sentinelTls(said: string | null, { tls }: Login): boolean {
  if (said === null) return tls;
  if (said !== 'true' && said !== 'false') throw new Error('must have true or false as "sentinelTls"');
  return said === 'true';
}

/** A password of their own comes with a user of their own; an empty one means that they want none. */
function sentinelUser(options: URLSearchParams, { username, password }: Login): Omit<Login, 'tls'> {
  const [ownUser, ownPassword] = [options.get('sentinelUser'), options.get('sentinelPassword')];
  if (ownUser === null && ownPassword === null) return { username, password };
  return { username: ownUser || undefined, password: (ownPassword ?? password) || undefined };
}

function nodeOf(text: string, usualPort: number): Address {
  const [, host, port = usualPort] = /^(\[[0-9a-f:.]+\]|[^:@\s]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  if (!host) throw new Error('must look like redis://host:6379');
  if (Number(port) < 1 || Number(port) > 65_535) throw new Error('names a port that is not from 1 to 65535');
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}
