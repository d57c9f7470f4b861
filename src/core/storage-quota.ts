/** Storage quotas of clients, and the errors when they are exceeded. */
import type { ClientHash } from './clients.ts';
import { PoproomError } from './errors.ts';
import type { ClientId, Owner } from './ports/basics.ts';
import type { ReachedLimit, StorageLimits } from './ports/clients.ts';
import { toTimestamp } from './timestamp.ts';

/** In bytes; 0 means no limit. */
interface QuotaRules {
  /** Of an address without a key: an IPv4 address or an IPv6 /64. */
  client: number;
  /** Of an API key. */
  key: number;
  /** Of all files. */
  total: number;
}

export type StorageQuota = ReturnType<typeof createStorageQuota>;

/** A customer with a /48 has 65,536 /64 networks, each of which counts as one client. */
const clientsPerNetwork = 4;

export function createStorageQuota(rules: QuotaRules, hash: ClientHash) {
  const total = limitOf(rules.total);
  const ofAddress = { client: limitOf(rules.client), network: limitOf(clientsPerNetwork * rules.client), total };
  const ofKey = { client: limitOf(rules.key), network: Number.POSITIVE_INFINITY, total };
  return {
    ownerOf(client: ClientId): Owner {
      const network = networkOf(client);
      return { client: hash(client), network: network && hash(network) };
    },
    limitsOf: (client: ClientId): StorageLimits => (isKey(client) ? ofKey : ofAddress),
    /** Whether long texts in the client's rooms count: true for addresses, false for API keys. */
    countsTexts: (client: ClientId) => rules.client !== 0 && !isKey(client),
    textLimits: ofAddress,
  };
}

const isKey = (client: ClientId) => client.startsWith('key:');

const limitOf = (bytes: number) => (bytes === 0 ? Number.POSITIVE_INFINITY : bytes);

/** The /48 of an IPv6 client, whose id looks like `2001:db8:1:2::/64`. */
function networkOf(client: ClientId): string | undefined {
  const groups = /^([0-9a-f]*:[0-9a-f]*:[0-9a-f]*):[0-9a-f]*::\/64$/.exec(client)?.[1];
  return groups && `${groups}::/48`;
}

export function overQuota(limit: ReachedLimit): PoproomError {
  const { scope, used, maximum } = limit;
  const details = quotaDetails(limit);
  if (scope === 'total')
    return new PoproomError('STORAGE_FULL', 'The server has no space left for files.', { details });
  const who = scope === 'client' ? 'You are' : 'Your network is';
  const message = `${who} using ${inMiB(used)} of ${inMiB(maximum)}. Remove files, or wait until rooms expire.`;
  return new PoproomError('QUOTA_EXCEEDED', message, { details });
}

export const quotaDetails = ({ scope, used, maximum, freesAt }: ReachedLimit): Record<string, unknown> => ({
  scope,
  used,
  maximum,
  ...(freesAt !== undefined && { freesAt: toTimestamp(freesAt) }),
});

const inMiB = (bytes: number) => `${Number((bytes / 1024 ** 2).toFixed(1))} MiB`;
