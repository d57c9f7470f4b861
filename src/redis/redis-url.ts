/** Parses the Redis URL in POPROOM_STORE. */

export interface RedisTarget extends Login {
  mode: 'single' | 'sentinel' | 'cluster';
  nodes: Address[];
  database: number | undefined;
  /** The name of the primary in Sentinel, and the login for the Sentinels. */
  sentinel: ({ name: string } & Login) | undefined;
  /** The prefix of all keys. */
  prefix: string;
}

export type Address = { host: string; port: number };

export type Login = { tls: boolean; username: string | undefined; password: string | undefined };

const knownOptions = ['cluster', 'sentinel', 'sentinelUser', 'sentinelPassword', 'sentinelTls', 'prefix'];

/**
 * `redis://[user:password@]host[:port][,host[:port]…][/database][?cluster | ?sentinel=NAME][&prefix=NAME]`,
 * `rediss://` with TLS. Options for the Sentinels: `sentinelUser=`, `sentinelPassword=`, `sentinelTls=`.
 * Throws an error whose message does not contain the URL, which may contain a password.
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
  if (mode === 'single' && nodes.length > 1) throw new Error('names several servers; add ?cluster or ?sentinel=NAME');
  if (mode === 'cluster' && database) throw new Error('names a database, which a cluster does not support');
  return {
    mode,
    ...login,
    nodes,
    database: database ? Number(database) : undefined,
    sentinel,
    prefix: options.get('prefix') ?? 'pop',
  };
}

/** The servers as `host:port`, without the password. */
export const hostsOf = ({ nodes }: RedisTarget): string => nodes.map(addressOf).join(', ');

export const addressOf = ({ host, port }: Address): string => `${host}:${port}`;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('has an invalid percent-encoding in its user or password; write % as %25');
  }
}

/** The Sentinels use the login of the servers, unless the options override it. */
function sentinelIn(options: URLSearchParams, servers: Login): RedisTarget['sentinel'] {
  for (const option of options.keys()) {
    if (!knownOptions.includes(option)) throw new Error(`has the unknown option "${option}"`);
  }
  const name = options.get('sentinel');
  if (!name) {
    const orphan = knownOptions.find((option) => option.startsWith('sentinel') && options.has(option));
    if (orphan) throw new Error(`has the option "${orphan}" without ?sentinel=NAME`);
    return undefined;
  }
  return { name, tls: sentinelTls(options.get('sentinelTls'), servers), ...sentinelUser(options, servers) };
}

function sentinelTls(value: string | null, { tls }: Login): boolean {
  if (value === null) return tls;
  if (value !== 'true' && value !== 'false') throw new Error('must have "sentinelTls" set to true or false');
  return value === 'true';
}

/** A separate password implies a separate user. An empty password means none. */
function sentinelUser(options: URLSearchParams, { username, password }: Login): Omit<Login, 'tls'> {
  const [ownUser, ownPassword] = [options.get('sentinelUser'), options.get('sentinelPassword')];
  if (ownUser === null && ownPassword === null) return { username, password };
  return { username: ownUser || undefined, password: (ownPassword ?? password) || undefined };
}

function nodeOf(text: string, usualPort: number): Address {
  const [, host, port = usualPort] = /^(\[[0-9a-f:.]+\]|[^:@\s]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  if (!host) throw new Error('must look like redis://host:6379');
  if (Number(port) < 1 || Number(port) > 65_535) throw new Error('has a port outside the range 1 to 65535');
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}
