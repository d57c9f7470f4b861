/**
 * How long texts count towards the quota of the client that created their room. A text counts with its log and its
 * history, in steps, so that typing seldom changes the charge; up to the first step it does not count.
 */
import type { TextEdit } from '../../text/edits.ts';
import { PoproomError } from '../errors.ts';
import type { Clock, ReachedLimit, StorageAccounts, StorageLimits } from '../ports.ts';
import type { RoomCode } from '../room-code.ts';
import { quotaDetails } from '../storage-quota.ts';
import { historyLimits, isCheckpointDue, largeEntry } from './retention.ts';
import { bytesGained, type WorkingText } from './working-text.ts';

const step = 64 * 1024;
/** UTF-8 needs no more for a code unit. */
const bytesPerUnit = 3;

export interface TextCharging {
  storage: Pick<StorageAccounts, 'chargeText'>;
  limits: StorageLimits;
  clock: Clock;
}

/** More bytes than a text counts now. */
export interface DueCharge {
  bytes: number;
  /** Whether it includes a checkpoint that the edits cause, and that need not be kept. */
  hasCheckpoint: boolean;
}

/** What a text counts with these edits, where that is more than now; `keepsCheckpoint` if one may be stored with them. */
export function chargeDue(
  text: WorkingText,
  edits: readonly TextEdit[],
  keepsCheckpoint: boolean,
  clock: Clock,
): DueCharge | undefined {
  const { quota, point } = text;
  if (!quota) return undefined;
  const paid = Math.max(step, quota.charged);
  const before = point.bytes + text.logBytes + quota.historyBytes;
  let insertedUnits = 0;
  for (const { insert } of edits) insertedUnits += insert.length;
  if (before + point.bytes + 2 * bytesPerUnit * insertedUnits <= paid) return undefined;

  const hasCheckpoint = keepsCheckpoint && isCheckpointDue(text, { edits, writtenAt: clock() });
  const withoutIt = before + bytesGained(text.document, edits) + loggedBytes(edits);
  const after = withoutIt + (hasCheckpoint ? historyGrowth(text) : 0);
  return after <= paid ? undefined : { bytes: inSteps(after), hasCheckpoint };
}

/** What the log keeps of them: a large entry is dropped in favour of the full text. */
function loggedBytes(edits: readonly TextEdit[]): number {
  const bytes = edits.reduce((sum, { insert }) => sum + Buffer.byteLength(insert), 0);
  return bytes > largeEntry ? 0 : bytes;
}

/** By a checkpoint of the text as it is, for which the oldest ones may have to go. */
function historyGrowth({ quota, point }: WorkingText): number {
  const before = quota?.historyBytes ?? 0;
  return Math.max(0, historyWith(before, point.bytes) - before);
}

const historyWith = (before: number, bytes: number) => Math.min(Math.max(historyLimits.bytes, bytes), before + bytes);

const inSteps = (bytes: number) => Math.ceil(bytes / step) * step;

/** To be called when a checkpoint of so many bytes was planned. The store drops the oldest ones over the limit. */
export function noteHistory({ quota }: WorkingText, bytes: number): void {
  if (quota) quota.historyBytes = historyWith(quota.historyBytes, bytes);
}

/** One change of the charge of a room at a time: each sets the whole of it. */
export function createTextCharges({ storage, limits, clock }: TextCharging) {
  const changing = new Map<RoomCode, Promise<ReachedLimit | undefined>>();

  async function change(code: RoomCode, text: WorkingText, bytes: number): Promise<ReachedLimit | undefined> {
    const { quota } = text;
    if (!quota) return undefined;
    const limit = await storage.chargeText({ code, owner: quota.owner, bytes }, limits, clock());
    if (!limit) quota.charged = bytes;
    return limit;
  }

  function run(code: RoomCode, text: WorkingText, bytes: number): Promise<ReachedLimit | undefined> {
    const running = change(code, text, bytes).finally(() => changing.delete(code));
    changing.set(code, running);
    return running;
  }

  return {
    /** Returns the limit that refuses it. Where the charge is being changed, it only waits for that. */
    async raise(code: RoomCode, text: WorkingText, bytes: number): Promise<ReachedLimit | undefined> {
      const underWay = changing.get(code);
      if (!underWay) return run(code, text, bytes);
      await underWay.catch(() => undefined);
      return undefined;
    },

    /** For a text that has become much shorter. Where it fails, the charge stays until the next time. */
    lowerIfShorter(code: RoomCode, text: WorkingText): void {
      const { quota, point } = text;
      if (!quota || quota.charged === 0 || changing.has(code)) return;
      const needed = point.bytes + text.logBytes + quota.historyBytes;
      if (2 * needed < quota.charged) run(code, text, needed <= step ? 0 : inSteps(needed)).catch(() => undefined);
    },
  };
}

export function textOverQuota(limit: ReachedLimit): PoproomError {
  const message =
    'The client that created this room has used up its storage; remove files or texts, or wait until rooms expire.';
  return new PoproomError('QUOTA_EXCEEDED', message, { details: quotaDetails(limit) });
}
