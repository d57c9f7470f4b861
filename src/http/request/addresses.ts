/** Addresses: the client of a request, whether a trusted proxy forwarded it, and ranges of addresses. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from 'node:net';
import type { ClientId } from '../../core/ports/basics.ts';

/** The address that a request counts against. */
export function clientAddress(request: IncomingMessage, proxies: BlockList): ClientId {
  return countAs(fullAddress(request, proxies));
}

/** The address itself, where a client counts by its IPv6 /64. */
export function fullAddress(request: IncomingMessage, proxies: BlockList): string {
  const peer = normalize(request.socket.remoteAddress ?? '');
  const forwarded = request.headers['x-forwarded-for'];
  if (forwarded === undefined || !isTrusted(peer, proxies)) return peer;
  return rightmostUntrusted(String(forwarded), peer, proxies);
}

/** The client at the other end of a socket. */
export function clientOf(address: string | undefined): ClientId {
  return countAs(normalize(address ?? ''));
}

export function cameThroughProxy(request: IncomingMessage, proxies: BlockList): boolean {
  return isProxy(request.socket.remoteAddress, proxies);
}

/** Whether the other end of a socket is a trusted proxy. */
export function isProxy(address: string | undefined, proxies: BlockList): boolean {
  return isTrusted(normalize(address ?? ''), proxies);
}

/**
 * The user that a trusted proxy named in a header. A second value may be from the client, so there must be exactly one.
 * Node reads headers as Latin-1, and proxies send UTF-8.
 */
export function forwardedUser(request: IncomingMessage, header: string, proxies: BlockList): string | undefined {
  if (!cameThroughProxy(request, proxies)) return undefined;
  const [value, ...more] = request.headersDistinct[header.toLowerCase()] ?? [];
  const bytes = Buffer.from(value?.trim() ?? '', 'latin1');
  const user = isUtf8(bytes) ? bytes.toString('utf8') : '';
  return more.length === 0 && isUserName.test(user) ? user : undefined;
}

/** Without control and invisible characters, which could disguise a name in the admin interface. */
const isUserName = /^[^\p{C}\p{Zl}\p{Zp}]{1,254}$/u;

/** Entries left of the rightmost untrusted address can be forged. */
function rightmostUntrusted(forwarded: string, peer: string, proxies: BlockList): string {
  let nearest = peer;
  for (const part of forwarded.split(',').reverse()) {
    const address = normalize(withoutPort(part.trim()));
    if (!isIPv4(address) && !isIPv6(address)) return nearest;
    nearest = address;
    if (!isTrusted(address, proxies)) return address;
  }
  return nearest;
}

function withoutPort(text: string): string {
  return /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text;
}

function isTrusted(address: string, proxies: BlockList): boolean {
  return proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Normalizes an address. IPv4-mapped IPv6 becomes IPv4. */
function normalize(address: string): string {
  // Node's check for IPv6 is a regular expression that takes longer than the rest of the work.
  if (!address.includes(':') || !isIPv6(address)) return address;
  const plain = new SocketAddress({ address, family: 'ipv6' }).address;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1] ?? plain;
}

/** A household has a /64: counting single addresses would give it 2^64 limits. */
function countAs(address: string): ClientId {
  return address.includes(':') ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address;
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail?.split(':').filter(Boolean) ?? [];
  const gap = tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...gap, ...right];
}

export interface AddressRange {
  /** The first address, with all other bits 0. */
  address: string;
  prefix: number;
  family: 'ipv4' | 'ipv6';
}

/** Parses `198.51.100.7`, `198.51.100.0/24` or the same of IPv6; undefined if it is none of these. */
export function parseRange(text: string): AddressRange | undefined {
  const [, address = '', length] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text.trim()) ?? [];
  const version = isIP(address);
  const bits = version === 6 ? 128 : 32;
  const prefix = length === undefined ? bits : Number(length);
  if (version === 0 || prefix > bits) return undefined;
  const unmapped = version === 6 ? unmap(address, prefix) : undefined;
  if (unmapped) return unmapped;
  const parts = version === 6 ? groupsOf(hexIPv6(address)).map((group) => Number.parseInt(group, 16)) : octets(address);
  const size = version === 6 ? 16 : 8;
  const masked = parts.map((part, i) => part & maskOf(prefix - i * size, size));
  if (version === 4) return { address: masked.join('.'), prefix, family: 'ipv4' };
  const written = masked.map((group) => group.toString(16)).join(':');
  return { address: hexIPv6(written), prefix, family: 'ipv6' };
}

export const formatRange = ({ address, prefix }: AddressRange): string => `${address}/${prefix}`;

/** Whether one of the ranges contains an address. `::/0` does not contain IPv4 addresses. */
export function createMatcher(ranges: readonly AddressRange[]): (address: string) => boolean {
  if (ranges.length === 0) return () => false;
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const { address, prefix, family } of ranges) lists[family].addSubnet(address, prefix, family);
  return (address) => {
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    return lists[family].check(address, family);
  };
}

/** Whether the range contains this machine as it reaches itself. */
export function containsLoopback(range: AddressRange): boolean {
  const isIn = createMatcher([range]);
  return createMatcher(loopback)(range.address) || isIn('127.0.0.1') || isIn('::1');
}

const loopback: AddressRange[] = [
  { address: '127.0.0.0', prefix: 8, family: 'ipv4' },
  { address: '::1', prefix: 128, family: 'ipv6' },
];

const octets = (address: string) => address.split('.').map(Number);

/** `::ffff:198.51.100.0/120` is `198.51.100.0/24`: clients with such addresses count as IPv4. */
function unmap(address: string, prefix: number): AddressRange | undefined {
  const [, ipv4] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(new SocketAddress({ address, family: 'ipv6' }).address) ?? [];
  return ipv4 === undefined || prefix < 96 ? undefined : parseRange(`${ipv4}/${prefix - 96}`);
}

/** The shortest form, without a part in dotted decimals. */
const hexIPv6 = (address: string) => new URL(`http://[${address}]/`).hostname.slice(1, -1);

/** A mask of `size` bits, of which the first `bits` are set. */
function maskOf(bits: number, size: number): number {
  const set = Math.min(Math.max(bits, 0), size);
  return ((2 ** set - 1) * 2 ** (size - set)) >>> 0;
}
