/** The hosts that webhooks may use: POPROOM_WEBHOOK_HOSTS, and which of their addresses. */
import { BlockList, isIP } from 'node:net';

export interface WebhookHost {
  /** A host name in lower case, or an address; with `isWildcard`, the names below it. */
  host: string;
  isWildcard: boolean;
  /** Undefined for the usual port of HTTP or HTTPS. */
  port: number | undefined;
  /** Whether its address may be one of a private network. */
  isPrivate: boolean;
}

/** Throws an error whose message continues the name of the setting. */
export const parseWebhookHosts = (text: string): WebhookHost[] => (text.match(/[^\s,]+/g) ?? []).map(parseHost);

function parseHost(text: string): WebhookHost {
  const [, prefix, star, name = '', digits] =
    /^(private:)?(\*\.)?([^:/?#@*\s]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = URL.parse(`http://${name}/`)?.hostname;
  const port = digits === undefined ? undefined : Number(digits);
  const isWildcard = star !== undefined;
  const isAddress = host !== undefined && isIP(bare(host)) > 0;
  const isValid = host && (port === undefined || (port > 0 && port < 65_536)) && !(isWildcard && (isAddress || prefix));
  if (isValid) return { host: withoutDot(host), isWildcard, port, isPrivate: prefix !== undefined || isAddress };
  const examples = 'ntfy.sh, *.example.org, hooks.example.org:8443 or private:homeassistant.local:8123';
  throw new Error(`must be a list of hosts, for example ${examples}; got "${text}"`);
}

/** The entry that allows a URL; undefined if none does. */
export function findHost(hosts: readonly WebhookHost[], { protocol, hostname, port }: URL): WebhookHost | undefined {
  const name = withoutDot(hostname);
  const usual = protocol === 'https:' ? 443 : 80;
  const isPort = (allowed = usual) => (port === '' ? usual : Number(port)) === allowed;
  const isName = ({ host, isWildcard }: WebhookHost) => (isWildcard ? name.endsWith(`.${host}`) : name === host);
  return hosts.find((entry) => isName(entry) && isPort(entry.port));
}

const withoutDot = (host: string) => host.replace(/\.$/, '');
/** IPv6 addresses in URLs have brackets. */
export const bare = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/** Whether a request to this host may be sent to this address, which is the one of the connection. */
export function isPermitted({ host, isPrivate }: WebhookHost, address: string): boolean {
  const reach = reachOf(address);
  if (bare(host) === address) return reach !== 'nowhere';
  return reach === 'public' || (isPrivate && reach === 'private');
}

/** `special`: of one machine or link, such as the metadata services of clouds. `nowhere`: not one host. */
type Reach = 'public' | 'private' | 'special' | 'nowhere';

export function reachOf(address: string): Reach {
  if (isIP(address) === 4) return reachIn(address, 'ipv4');
  const groups = isIP(address) === 6 ? groupsOf(address) : undefined;
  if (!groups) return 'nowhere';
  const embedded = embeddedIpv4(groups);
  return embedded === undefined ? reachIn(address, 'ipv6') : reachIn(embedded, 'ipv4');
}

function reachIn(address: string, family: 'ipv4' | 'ipv6'): Reach {
  if (nowhere.check(address, family)) return 'nowhere';
  if (special.check(address, family)) return 'special';
  if (privateRanges.check(address, family)) return 'private';
  return family === 'ipv4' || globalIpv6.check(address, family) ? 'public' : 'special';
}

/** Of IPv4-mapped and IPv4-compatible addresses, and of those that NAT64 and 6to4 translate. */
function embeddedIpv4(groups: readonly number[]): string | undefined {
  const [a = 0, b = 0, c = 0] = groups;
  const last = groups.slice(6) as [number, number];
  const isZero = (from: number, to: number) => groups.slice(from, to).every((group) => group === 0);
  if (isZero(0, 5) && groups[5] === 0xffff) return dotted(last);
  if (a === 0x64 && b === 0xff9b && isZero(2, 6)) return dotted(last);
  if (a === 0x2002) return dotted([b, c]);
  // :: and ::1 are not IPv4-compatible addresses.
  if (isZero(0, 6) && (last[0] !== 0 || last[1] > 1)) return dotted(last);
  return undefined;
}

const dotted = ([high, low]: readonly [number, number]) => [high >> 8, high & 255, low >> 8, low & 255].join('.');

/** The eight groups of an IPv6 address. The URL parser writes them without dots and leading zeros. */
function groupsOf(address: string): number[] | undefined {
  const canonical = URL.parse(`http://[${address}]/`)?.hostname;
  if (!canonical) return undefined;
  const [head = '', tail] = bare(canonical).split('::');
  const numbers = (part: string) => (part.match(/[^:]+/g) ?? []).map((group) => Number.parseInt(group, 16));
  const [first, last] = [numbers(head), numbers(tail ?? '')];
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}

/** Built when it is first used. Node's check of IPv6 addresses alone would take 5 % of the start of a server. */
function ranges(...cidrs: string[]) {
  let list: BlockList | undefined;
  return {
    check(address: string, family: 'ipv4' | 'ipv6'): boolean {
      list ??= cidrs.reduce(withSubnet, new BlockList());
      return list.check(address, family);
    },
  };
}

function withSubnet(list: BlockList, cidr: string): BlockList {
  const [address = '', prefix] = cidr.split('/');
  list.addSubnet(address, Number(prefix), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return list;
}

const nowhere = ranges('0.0.0.0/8', '224.0.0.0/4', '240.0.0.0/4', '::/128', 'ff00::/8');

/** Link-local addresses, the services of clouds for their machines, and reserved ranges. */
const special = ranges(
  ...['169.254.0.0/16', '168.63.129.16/32', '100.100.100.200/32', 'fe80::/10', 'fec0::/10'],
  ...['fd00:ec2::254/128', 'fd20:ce::254/128'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['64:ff9b:1::/48', '2001::/32', '2001:db8::/32', '100::/64'],
);

const privateRanges = ranges(
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8', '100.64.0.0/10'],
  ...['::1/128', 'fc00::/7'],
);

const globalIpv6 = ranges('2000::/3');
