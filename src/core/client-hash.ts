/** Identifies a client in logs and lists without its address, the same on every node and after a restart. */
import { createHmac } from 'node:crypto';
import type { ClientId } from './ports.ts';

const hexDigits = 12;

export type ClientHash = (client: ClientId) => string;

/** Keyed, because a plain hash of an IPv4 address can be reversed in minutes. All nodes share the secret. */
export function createClientHash(secret: string): ClientHash {
  return (client) => createHmac('sha256', secret).update(`client\n${client}`).digest('hex').slice(0, hexDigits);
}
