/** Ranges of addresses: parsing, canonical form, and which addresses they contain. */
import { BlockList, isIP, SocketAddress } from 'node:net';
import { groupsOf } from '../request/client-address.ts';

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
  return isLoopback(range.address) || isIn('127.0.0.1') || isIn('::1');
}

const isLoopback = createMatcher([
  { address: '127.0.0.0', prefix: 8, family: 'ipv4' },
  { address: '::1', prefix: 128, family: 'ipv6' },
]);

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
