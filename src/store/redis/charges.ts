/** Charges of blobs and texts to the accounts of clients and networks. */
import type { Owner, ReachedLimit, StorageRequest } from '../../core/ports.ts';
import type { Redis } from '../../redis/connection.ts';
import { type Keys, netMs } from './keys.ts';
import * as scripts from './storage-scripts.ts';

export type Upload = Pick<StorageRequest, 'blob' | 'owner'>;

export interface ChargedFile extends Upload {
  size: number;
  expiresAt: number;
}

interface Claim extends Omit<StorageRequest, 'owner' | 'deadline'> {
  limit: number;
}

interface Charged {
  /** -1 if too little is left. */
  bytes: number;
  used: number;
  freesAt: number | undefined;
}

export interface Left {
  bytes: number;
  limit: ReachedLimit | undefined;
}

/** A safety net for the trash, like `netMs` for rooms. */
const keptMs = netMs + 86_400_000;

export type StorageCharges = ReturnType<typeof createCharges>;

export function createCharges(redis: Redis, keys: Keys) {
  async function chargeAccount(account: string, claim: Claim, now: number): Promise<Charged> {
    const { blob, least, most, limit, expiresAt } = claim;
    const args = [now, blob, least, most, Number.isFinite(limit) ? limit : '', expiresAt + keptMs];
    const reply = await redis.run(scripts.chargeBlob, keys.usage(account), args);
    const [bytes, used, first] = reply as [number, number, string];
    return { bytes, used, freesAt: first === '0' ? undefined : Number(first) - keptMs };
  }

  async function charge({ blob, owner, size, expiresAt }: ChargedFile, now: number): Promise<void> {
    const claim = { blob, least: 0, most: size, limit: Number.POSITIVE_INFINITY, expiresAt };
    await Promise.all(accountsOf(owner).map((account) => chargeAccount(account, claim, now)));
  }

  async function discharge(blob: string, owner: Owner): Promise<void> {
    await Promise.all(accountsOf(owner).map((one) => redis.run(scripts.dischargeBlob, keys.usage(one), [blob])));
  }

  /** Each charge ends at the same time. Those that do not exist are not created. */
  async function moveCharges(charged: readonly Upload[], expiresAt: number, now: number): Promise<void> {
    const blobs = new Map<string, string[]>();
    for (const { blob, owner } of charged) {
      for (const account of accountsOf(owner)) blobs.set(account, [...(blobs.get(account) ?? []), blob]);
    }
    const move = ([account, names]: [string, string[]]) =>
      redis.run(scripts.moveCharges, keys.usage(account), [now, expiresAt + keptMs, ...names]);
    await Promise.all([...blobs].map(move));
  }

  async function leftFor(
    request: StorageRequest,
    scope: 'client' | 'network',
    limit: number,
    before: Left,
    now: number,
  ) {
    const account = request.owner[scope];
    if (account === undefined) return before;
    const claim = { ...request, most: before.bytes, limit };
    const { bytes, used, freesAt } = await chargeAccount(account, claim, now);
    if (bytes === before.bytes) return before;
    return { bytes, limit: { scope, used, maximum: limit, freesAt } } satisfies Left;
  }

  return { charge, discharge, moveCharges, leftFor };
}

const accountsOf = ({ client, network }: Owner) => (network === undefined ? [client] : [client, network]);
