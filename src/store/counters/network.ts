/** Who a visitor of a room is to the counters. */
import type { AccessAttempt, ClientId } from '../../core/ports.ts';

/** The network of a client, as far as its address tells: 16 bits of IPv4, 32 of IPv6. An API key is its own. */
export function networkOf(client: ClientId): string {
  if (client.startsWith('key:')) return client;
  const separator = client.includes(':') ? ':' : '.';
  return client.split(separator, 2).join(separator);
}

/** Who tries a PIN. Pages of other sites are told apart from their visitor, whom they could lock out otherwise. */
export function guesserOf({ client, isCrossSite }: Pick<AccessAttempt, 'client' | 'isCrossSite'>): ClientId {
  return isCrossSite ? `${client}#cross-site` : client;
}
