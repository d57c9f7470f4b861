/** The address that a request counts against, and whether a trusted proxy forwarded it. */
import type { IncomingMessage } from 'node:http';
import { type BlockList, isIPv4, isIPv6, SocketAddress } from 'node:net';
import type { ClientId } from '../../core/ports.ts';

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
  // Node's check for IPv6 is a regular expression that takes longer than the rest of this file.
  if (!address.includes(':') || !isIPv6(address)) return address;
  const plain = new SocketAddress({ address, family: 'ipv6' }).address;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1] ?? plain;
}

/** A household has a /64: counting single addresses would give it 2^64 limits. */
function countAs(address: string): ClientId {
  return address.includes(':') ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address;
}

/** The eight groups of an IPv6 address. */
export function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail?.split(':').filter(Boolean) ?? [];
  const gap = tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...gap, ...right];
}
