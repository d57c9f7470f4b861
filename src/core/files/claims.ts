/** Receiving one-time files: claim, read with the claim, confirm or give back. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { admit, type Caller, roomMissing } from '../admission.ts';
import type { CoreDeps } from '../deps.ts';
import { PoproomError, secondsUntil } from '../errors.ts';
import { claimMs } from '../limits.ts';
import type { StoredFile } from '../ports.ts';
import { trashOf } from '../trash.ts';
import { fileNotFound, isFileId } from './files.ts';

export interface ClaimedFile {
  file: StoredFile;
  /** The token. It is not stored, and grants read access until it expires. */
  claim: string;
  expiresAt: number;
}

export type Claims = ReturnType<typeof createClaims>;

export function createClaims(deps: CoreDeps) {
  const { files, bus, clock } = deps;

  return {
    async claim(caller: Caller, fileId: string): Promise<ClaimedFile> {
      const { code } = await admit(deps, caller);
      const claim = randomBytes(16).toString('hex');
      const now = clock();
      const expiresAt = now + claimMs;
      const outcome = isFileId(fileId)
        ? await files.claimFile(code, fileId, { hash: hashOf(claim), expiresAt }, now)
        : 'no-file';
      if (outcome === 'no-file') throw fileNotFound();
      if (outcome === 'not-once') throw notOneTimeFile();
      if (typeof outcome === 'string') throw roomMissing(outcome);
      if ('claimedUntil' in outcome) throw fileClaimed(outcome.claimedUntil, now);
      return { file: outcome.claimed, claim, expiresAt };
    },

    /** Throws unless the file may be read: a one-time file needs its open claim. */
    async checkReadable(file: StoredFile, claim: string | undefined): Promise<void> {
      if (!file.once) return;
      if (claim === undefined) throw oneTimeFile(file.id);
      const open = isClaim(claim) ? await files.findClaim(file.id, clock()) : undefined;
      if (!open || !timingSafeEqual(Buffer.from(open.hash), Buffer.from(hashOf(claim)))) throw claimNotFound();
    },

    /** Erases the file. It cannot be restored. */
    async confirm(caller: Caller, claim: string): Promise<void> {
      const { code } = await admit(deps, caller);
      const received = isClaim(claim) ? await files.receiveFile(code, hashOf(claim), clock()) : 'no-claim';
      if (received === 'no-claim') throw claimNotFound();
      if (typeof received === 'string') throw roomMissing(received);
      bus.publish(code, { seq: received.seq, received: received.fileId });
      await trashOf(deps).emptySoon();
    },

    async release(caller: Caller, claim: string): Promise<void> {
      const { code } = await admit(deps, caller);
      const released = isClaim(claim) ? await files.releaseClaim(code, hashOf(claim), clock()) : 'no-claim';
      if (released === 'no-claim') throw claimNotFound();
      if (released !== 'released') throw roomMissing(released);
    },
  };
}

const isClaim = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

/** A token is random, so its hash needs no key. */
const hashOf = (claim: string): string => createHash('sha256').update(claim).digest('hex');

function oneTimeFile(fileId: string): PoproomError {
  return new PoproomError(
    'ONE_TIME_FILE',
    'This file can be received only once, so its link does not open it. Receive it in the room, or claim it with ' +
      `POST /api/rooms/ROOM/files/${fileId}/claim.`,
  );
}

function fileClaimed(until: number, now: number): PoproomError {
  const retryAfter = secondsUntil(until, now);
  const minutes = Math.ceil(retryAfter / 60);
  const wait = minutes === 1 ? '1 minute' : `${minutes} minutes`;
  const message = `Someone else is receiving this file. If they do not finish, it is available again within ${wait}.`;
  return new PoproomError('FILE_CLAIMED', message, { retryAfter, details: { retryAfter } });
}

function notOneTimeFile(): PoproomError {
  return new PoproomError('NOT_ONE_TIME_FILE', 'This is not a one-time file. Download it from its URL.');
}

function claimNotFound(): PoproomError {
  const message = 'There is no such claim. It has expired, was given back, or its file was received or removed.';
  return new PoproomError('CLAIM_NOT_FOUND', message);
}
