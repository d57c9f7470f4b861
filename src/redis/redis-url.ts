/** Where Redis is, as POPROOM_STORE says it. */

export interface RedisTarget {
  mode: 'single' | 'sentinel' | 'cluster';
  tls: boolean;
  nodes: { host: string; port: number }[];
  username: string | undefined;
  password: string | undefined;
  database: number | undefined;
  /** The name under which Sentinel knows the server. */
  sentinel: string | undefined;
  /** What the names of all keys begin with. */
  prefix: string;
}

/**
 * `redis://[user:password@]host[:port][,host[:port]…][/database][?cluster | ?sentinel=NAME][&prefix=NAME]`,
 * `rediss://` with TLS.
 * Throws a sentence for people that does not repeat the address, which may hold a password.
 */
export function parseRedisUrl(text: string): RedisTarget {
  const [, scheme, , login, hosts = '', database, query = ''] =
    /^(rediss?):\/\/(([^@/]*)@)?([^/?]+)(?:\/(\d*))?(?:\?(.*))?$/.exec(text) ?? [];
  if (!scheme) throw new Error('must look like redis://host:6379');
  const [username = '', password] = (login ?? '').split(/:(.*)/s).map(decodeURIComponent);
  const options = new URLSearchParams(query);
  const sentinel = options.get('sentinel') ?? undefined;
  const mode = sentinel ? 'sentinel' : options.has('cluster') ? 'cluster' : 'single';
  for (const name of options.keys()) {
    if (!['cluster', 'sentinel', 'prefix'].includes(name))
      throw new Error(`has the option "${name}", which is not known`);
  }
  const nodes = hosts.split(',').map((host) => nodeOf(host, mode === 'sentinel' ? 26_379 : 6_379));
  if (mode === 'single' && nodes.length > 1) throw new Error('names several servers: add ?cluster or ?sentinel=NAME');
  if (mode === 'cluster' && database) throw new Error('names a database, which a cluster does not have');
  return {
    mode,
    tls: scheme === 'rediss',
    nodes,
    username: username || undefined,
    password: password || undefined,
    database: database ? Number(database) : undefined,
    sentinel,
    prefix: options.get('prefix') ?? 'pop',
  };
}

function nodeOf(text: string, usualPort: number): { host: string; port: number } {
  const [, host, port] = /^(\[[0-9a-f:.]+\]|[^:\s]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  if (!host) throw new Error('must look like redis://host:6379');
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port ?? usualPort) };
}
