/**
 * Charges long texts to the quota of the client that created the room. A text counts with its log and its history, in
 * steps, so that typing seldom changes the charge. Up to the first step it does not count.
 */
import type { TextEdit } from '../../text/edits.ts';
import { PoproomError } from '../errors.ts';
import type { Clock } from '../ports/basics.ts';
import type { ReachedLimit, StorageAccounts, StorageLimits } from '../ports/clients.ts';
import type { RoomCode } from '../room-code.ts';
import { quotaDetails } from '../storage-quota.ts';
import type { Edition } from './edit-decision.ts';
import { historyLimits, isCheckpointDue, largeEntry, planSealedCheckpoint } from './retention.ts';
import { bytesGained, bytesInserted, sizeOf, type WorkingText } from './working-text.ts';

const step = 64 * 1024;
/** The maximum bytes of UTF-8 per UTF-16 code unit. */
const bytesPerUnit = 3;

export interface TextCharging {
  storage: Pick<StorageAccounts, 'chargeText'>;
  limits: StorageLimits;
  clock: Clock;
}

/** A charge that is higher than the current one. */
interface DueCharge {
  bytes: number;
  /** Whether it includes an optional checkpoint that the edits cause. */
  hasCheckpoint: boolean;
}

/** The charge after this change, if it increases. `keepsCheckpoint`: whether a checkpoint may be stored too. */
export function chargeDue(
  text: WorkingText,
  change: Edition,
  keepsCheckpoint: boolean,
  clock: Clock,
): DueCharge | undefined {
  const { quota, point } = text;
  if (!quota) return undefined;
  if (text.isEncrypted) return sealedChargeDue(text, change, keepsCheckpoint, clock);
  const { edits } = change;
  const paid = Math.max(step, quota.charged);
  const before = point.bytes + text.logBytes + quota.historyBytes;
  let insertedUnits = 0;
  for (const { insert } of edits) insertedUnits += insert.length;
  if (before + point.bytes + 2 * bytesPerUnit * insertedUnits <= paid) return undefined;

  const hasCheckpoint = keepsCheckpoint && isCheckpointDue(text, { edits, writtenAt: clock() });
  const withoutIt = before + bytesGained(point, change) + loggedBytes(edits);
  const after = withoutIt + (hasCheckpoint ? historyGrowth(text) : 0);
  return after <= paid ? undefined : { bytes: inSteps(after), hasCheckpoint };
}

/** The same for an encrypted room. The snapshot of a compaction is a `replacement` too. */
export function sealedChargeDue(
  text: WorkingText,
  { sealed, replacement }: Pick<Edition, 'sealed' | 'replacement'>,
  keepsCheckpoint: boolean,
  clock: Clock,
): DueCharge | undefined {
  const { quota, point } = text;
  if (!quota) return undefined;
  const isReplaced = replacement !== undefined;
  const hasCheckpoint = isReplaced && keepsCheckpoint && planSealedCheckpoint(text, clock()) !== undefined;
  const growth = isReplaced ? replacement.length - point.bytes : (sealed ?? '').length;
  const withoutIt = point.bytes + text.logBytes + quota.historyBytes + growth + sizeOf({ edits: [] });
  const after = withoutIt + (hasCheckpoint ? historyGrowth(text) : 0);
  return after <= Math.max(step, quota.charged) ? undefined : { bytes: inSteps(after), hasCheckpoint };
}

/** The bytes that the log keeps: a large entry is replaced by the full text. */
function loggedBytes(edits: readonly TextEdit[]): number {
  const bytes = bytesInserted(edits);
  return bytes > largeEntry ? 0 : bytes;
}

/** The growth by a checkpoint of the current text, which may displace the oldest ones. */
function historyGrowth(text: WorkingText): number {
  const { bytes } = text.point;
  return Math.max(0, historyWith(text, bytes) - (text.quota?.historyBytes ?? 0));
}

/** The bytes of the history with another checkpoint. They are exact when it has displaced all that were loaded. */
function historyWith({ quota, newCheckpoints }: WorkingText, bytes: number): number {
  const areAll = newCheckpoints.length === historyLimits.checkpoints - 1;
  const before = areAll ? newCheckpoints.reduce((sum, size) => sum + size, 0) : (quota?.historyBytes ?? 0);
  return Math.min(Math.max(historyLimits.bytes, bytes), before + bytes);
}

const inSteps = (bytes: number) => Math.ceil(bytes / step) * step;

/** Call this when a checkpoint is planned. The store drops the oldest ones over the limit. */
export function noteHistory(text: WorkingText, bytes: number): void {
  const { quota, newCheckpoints } = text;
  if (!quota) return;
  quota.historyBytes = historyWith(text, bytes);
  newCheckpoints.push(bytes);
  if (newCheckpoints.length === historyLimits.checkpoints) newCheckpoints.shift();
}

/** Changes the charge of a room one at a time, because each change sets the total. */
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
    /** Returns the limit if it is exceeded. If the charge is being changed already, it only waits for that. */
    async raise(code: RoomCode, text: WorkingText, bytes: number): Promise<ReachedLimit | undefined> {
      const pending = changing.get(code);
      if (!pending) return run(code, text, bytes);
      await pending.catch(() => undefined);
      return undefined;
    },

    /** For a text that has become much shorter. If this fails, the charge stays until the next attempt. */
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
    'The creator of this room has reached its storage limit. Remove files or texts, or wait until rooms expire.';
  return new PoproomError('QUOTA_EXCEEDED', message, { details: quotaDetails(limit) });
}
