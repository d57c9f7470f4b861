/** Charges of texts. Recorded in the room, so that the text is discharged when its room ends. */
import type { Owner, RoomRecord, StorageAccounts } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import type { StorageCharges } from './charges.ts';
import type { Keys } from './keys.ts';
import * as scripts from './storage-scripts.ts';

interface NotedCharge {
  before: number;
  expiresAt: number;
}

export interface TextCharges extends Pick<StorageAccounts, 'chargeText'> {
  /** For the text of a restored room. */
  restoreTextCharge(
    record: Pick<RoomRecord, 'code' | 'owner' | 'textCharge' | 'expiresAt'>,
    now: number,
  ): Promise<void>;
  dischargeEndedTexts(shard: Pick<Keys['shards'][number], 'endedTexts'>): Promise<void>;
}

export function createTextCharges(redis: Redis, keys: Keys, charges: StorageCharges): TextCharges {
  const { charge, discharge, leftFor } = charges;

  /** Sets the charge of a text, regardless of limits. */
  async function setTextCharge(code: RoomCode, owner: Owner, bytes: number, expiresAt: number, now: number) {
    if (bytes > 0) await charge({ blob: textName(code), owner, size: bytes, expiresAt }, now);
    else await discharge(textName(code), owner);
  }

  /** Recorded in the room first, so that the text is discharged when its room ends, whatever happens in between. */
  async function noteTextCharge(code: RoomCode, bytes: number): Promise<NotedCharge | undefined> {
    const { room } = keys.ofRoom(code);
    const reply = await redis.run(scripts.noteTextCharge, [room], [bytes]);
    if (reply === null) return undefined;
    const [before, expiresAt] = reply as [string, string];
    return { before: Number(before), expiresAt: Number(expiresAt) };
  }

  /** The room may have ended, or its expiry may have been changed, before its text was charged. */
  async function followRoom(code: RoomCode, owner: Owner, expiresAt: number, now: number): Promise<void> {
    const { room } = keys.ofRoom(code);
    const reply = await redis.send(room, ['HMGET', room, 'textCharge', 'expiresAt']);
    const [charged, movedTo] = reply as (string | null)[];
    const blob = textName(code);
    if (charged === null) await discharge(blob, owner);
    else if (Number(movedTo) !== expiresAt) await charges.moveCharges([{ blob, owner }], Number(movedTo), now);
  }

  async function dischargeEndedTexts({ endedTexts }: Pick<Keys['shards'][number], 'endedTexts'>): Promise<void> {
    const ended = (await redis.send(endedTexts, ['HKEYS', endedTexts])) as string[];
    for (const code of ended) {
      const owner = await redis.send(endedTexts, ['HGET', endedTexts, code]);
      if (owner === null) continue;
      const [client = '', network] = String(owner).split(' ');
      await discharge(textName(code), { client, network: network || undefined });
      await redis.send(endedTexts, ['HDEL', endedTexts, code]);
    }
  }

  return {
    async chargeText({ code, owner, bytes }, limits, now) {
      const noted = await noteTextCharge(code, bytes);
      if (!noted) return undefined;
      const { before, expiresAt } = noted;
      if (bytes <= before) {
        await setTextCharge(code, owner, bytes, expiresAt, now);
        return void (await followRoom(code, owner, expiresAt, now));
      }
      const request = {
        ...{ blob: textName(code), owner, expiresAt, deadline: now },
        ...{ least: bytes, most: bytes },
      };
      for (const scope of ['client', 'network'] as const) {
        const { limit } = await leftFor(request, scope, limits[scope], { bytes, limit: undefined }, now);
        if (!limit) continue;
        await setTextCharge(code, owner, before, expiresAt, now);
        await noteTextCharge(code, before);
        return { ...limit, used: limit.used + before };
      }
      return void (await followRoom(code, owner, expiresAt, now));
    },

    async restoreTextCharge({ code, owner, textCharge, expiresAt }, now) {
      if (owner && textCharge) await setTextCharge(code, owner, textCharge, expiresAt, now);
    },

    dischargeEndedTexts,
  };
}

/** Differs from every blob name. */
export const textName = (code: string) => `text:${code}`;
