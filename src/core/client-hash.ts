/** A name for a client in logs and lists: the same on every node and after a restart, and not its address. */
import { createHmac } from 'node:crypto';
import type { ClientId } from './ports.ts';

const hexDigits = 12;

export type ClientHash = (client: ClientId) => string;

/** Keyed, since all IPv4 addresses are tried in minutes against a plain hash. Nodes that share the secret agree. */
export function createClientHash(secret: string): ClientHash {
  return (client) => createHmac('sha256', secret).update(`client\n${client}`).digest('hex').slice(0, hexDigits);
}
