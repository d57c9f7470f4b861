/** Claims of one-time files. */
import { randomBytes } from 'node:crypto';
import type { FileStore, GuardRules, MissingReason } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import type { Redis } from '../../redis/connection.ts';
import * as scripts from './claim-scripts.ts';
import { clearUp } from './clear-up.ts';
import { fileOf } from './file-list.ts';
import { type Keys, netMs } from './keys.ts';

export type ClaimList = Pick<FileStore, 'claimFile' | 'findClaim' | 'receiveFile' | 'releaseClaim'>;

export function createClaimList(redis: Redis, keys: Keys, { rememberExpiredMs }: GuardRules): ClaimList {
  const newSalt = () => randomBytes(8).toString('hex');

  return {
    async claimFile(code, fileId, { hash, expiresAt }, now) {
      const { room, files, removed, claims } = keys.ofRoom(code);
      const args = [now, rememberExpiredMs, fileId, hash, expiresAt, expiresAt - now + netMs];
      const reply = await redis.run(scripts.claimFile, [room, files, removed, claims], args);
      const [outcome, value = ''] = reply as [string, string?];
      if (outcome === 'claimed') return { claimed: fileOf(value) };
      if (outcome === 'claimed-until') return { claimedUntil: Number(value) };
      return outcome as 'not-once' | 'no-file' | MissingReason;
    },

    async findClaim(fileId, now) {
      const index = keys.roomOfFile(fileId);
      const code = await redis.send(index, ['GET', index]);
      if (code === null) return undefined;
      const { room, files, claims } = keys.ofRoom(code as RoomCode);
      const reply = await redis.run(scripts.findClaim, [room, files, claims], [now, fileId]);
      if (reply === null) return undefined;
      const [hash, expiresAt] = reply as [string, string];
      return { hash, expiresAt: Number(expiresAt) };
    },

    async receiveFile(code, claimHash, now) {
      const { room, files, removed, removals, claims, blobs, trash, trashOwners, storedBytes } = keys.ofRoom(code);
      const touched = [room, files, removed, removals, claims, blobs, trash, trashOwners, storedBytes];
      const args = [now, rememberExpiredMs, claimHash, newSalt(), code];
      const reply = await redis.run(scripts.receiveFile, touched, args);
      if (typeof reply === 'string') return reply as 'no-claim' | MissingReason;
      const [seq, fileId] = reply as [number, string];
      const index = keys.roomOfFile(fileId);
      await clearUp(redis, index, ['DEL', index]);
      return { seq, fileId };
    },

    async releaseClaim(code, claimHash, now) {
      const { room, claims } = keys.ofRoom(code);
      const args = [now, rememberExpiredMs, claimHash, newSalt()];
      const reply = await redis.run(scripts.releaseClaim, [room, claims], args);
      return reply as 'released' | 'no-claim' | MissingReason;
    },
  };
}
