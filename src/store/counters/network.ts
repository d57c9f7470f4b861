/** Identifies clients for counters. */
import type { AccessAttempt, ClientId } from '../../core/ports.ts';

/** The network of a client: 16 bits of IPv4, 32 of IPv6. An API key is its own network. */
export function networkOf(client: ClientId): string {
  if (client.startsWith('key:')) return client;
  const separator = client.includes(':') ? ':' : '.';
  return client.split(separator, 2).join(separator);
}

/** The id for PIN attempts. Cross-site requests count separately, so that they cannot lock out the visitor. */
export function guesserOf({ client, isCrossSite }: Pick<AccessAttempt, 'client' | 'isCrossSite'>): ClientId {
  return isCrossSite ? `${client}#cross-site` : client;
}
