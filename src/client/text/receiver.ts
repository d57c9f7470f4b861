/** Applies the messages of the live channel to a replica. */
import type { Conflict, Problem, RoomText, ServerMessage, TextEdited, Written } from '../../protocol/types.ts';
import type { Changes } from '../../text/changes.ts';
import { toError } from '../connection.ts';
import type { PoproomError } from '../error.ts';
import { attempt } from '../shapes.ts';
import type { Delivery, TextStatus } from './delivery.ts';
import type { Replica } from './replica.ts';

/** Nothing of the edit was stored, and the same edit would be refused again. */
export const permanentRefusals: readonly string[] = ['CONTENT_TOO_LARGE', 'QUOTA_EXCEEDED', 'VALIDATION_FAILED'];
const defaultRetrySeconds = 10;
const maxRetrySeconds = 3600;

interface ReceiverDeps {
  replica: Replica;
  delivery: Delivery;
  deviceId: () => string;
  status: TextStatus;
  /** A whole text was loaded without the edits that led to it. */
  onLoaded: (version: number) => void;
  /** The value changed, by `author` if known. The changes may be empty. */
  onRemoteChange: (changes: Changes, author?: string) => void;
}

/**
 * - `in-sync`: the next edit of the log can be applied;
 * - `out-of-sync`: edits were missed, and the channel must rejoin to get them;
 * - `needs-snapshot`: no text has arrived yet, or only its length is known, and a snapshot follows the missed edits;
 * - `diverged`: the text differs from that of the server, and a snapshot is needed.
 */
type SyncState = 'in-sync' | 'out-of-sync' | 'needs-snapshot' | 'diverged';

export function createReceiver({ replica, delivery, status, deviceId, onLoaded, onRemoteChange }: ReceiverDeps) {
  let state: SyncState = replica.isLoaded ? 'in-sync' : 'needs-snapshot';
  /** Whether the missed edits have arrived since the channel joined. */
  let isCaughtUp = false;
  /** The edit that the server found invalid, whereupon this replica was loaded again. */
  let reloadedFor: string | undefined;
  /** The version to reach before the sent edit is sent again, because an encrypted room accepts it only on the newest. */
  let conflict: { ref: string; version: number } | undefined;

  /** Rejoins: the server sends the edits since the version of this replica, or a snapshot. */
  function resynchronize(reason: 'out-of-sync' | 'diverged' = 'out-of-sync'): void {
    if (state === 'in-sync' || reason === 'diverged') state = reason;
    delivery.reconnect();
  }

  function onText(text: RoomText): void {
    const isKnown = text.version === replica.version && text.timestamp === replica.timestamp;
    if (isKnown && state === 'in-sync') return;
    // Only the edits show where pending ones belong. The answer to a join has no edits if the log does not have them.
    const hasPending = replica.isLoaded && replica.pending.state !== 'synchronized';
    if (hasPending && isCaughtUp) {
      resynchronize();
      return;
    }
    state = 'in-sync';
    onRemoteChange(replica.load(text, deviceId()));
    onLoaded(text.version);
  }

  function onEdit(message: TextEdited): void {
    if (message.version > replica.version + 1) resynchronize();
    else if (message.version > replica.version) onNextEdit(message);
  }

  function onNextEdit(message: TextEdited): void {
    // The response was lost with an earlier connection, but the log shows that the edit was stored.
    const isConfirmation = replica.isSent(message, deviceId());
    // Edits that are invalid for the text mean that this replica differs from the server.
    const changes = attempt(() => replica.receive(message, deviceId()));
    if (changes && isConfirmation) status.onConfirmed();
    if (changes) onRemoteChange(changes, isConfirmation ? undefined : message.deviceId);
    if (!changes || !replica.matches(message)) resynchronize('diverged');
  }

  const isOfSent = (ref: string | undefined) => ref !== undefined && ref === replica.pending.sent?.ref;

  function onWritten(message: Written): void {
    const { ref, version, timestamp } = message;
    if (version > replica.version && !isExactlyNext(ref, version)) {
      resynchronize();
    } else if (isOfSent(ref)) {
      // A snapshot of this version already contains the edit.
      const changes = version <= replica.version ? replica.dropSent() : replica.confirm(version, timestamp);
      status.onConfirmed();
      onRemoteChange(changes);
      if (version === replica.version && !replica.matches(message)) resynchronize('diverged');
    }
  }

  /** If not, only the log shows the edits before it, and the form in which it was stored. */
  const isExactlyNext = (ref: string | undefined, version: number) =>
    isOfSent(ref) && replica.pending.sent?.isExact && version === replica.version + 1;

  /** Only in an encrypted room. Nothing was stored, and the edits up to this version have arrived or will. */
  function onConflict({ ref, version }: Conflict): void {
    if (ref === undefined || !isOfSent(ref)) return;
    conflict = { ref, version };
    sendAfterConflict();
  }

  function sendAfterConflict(): void {
    if (!conflict || conflict.version > replica.version) return;
    const { ref } = conflict;
    conflict = undefined;
    if (!isOfSent(ref)) return;
    replica.onConflict();
    delivery.sendAgain();
  }

  function onError(message: Problem): void {
    if (!isOfSent(message.ref)) return;
    const error = toError(message);
    if (error.code === 'VALIDATION_FAILED' && error.details.field === 'ref') resynchronize();
    else if (error.code === 'VALIDATION_FAILED' && reloadedFor !== message.ref) {
      // This device makes only valid edits, so its text differs from that of the server.
      reloadedFor = message.ref;
      resynchronize('diverged');
    } else if (error.code !== 'VERSION_CONFLICT') refuse(error);
    else if (replica.pending.sent?.isExact) resynchronize();
    // The edit was based on the version before a snapshot that has arrived since.
    else delivery.sendAgain();
  }

  function refuse(error: PoproomError): void {
    const isPermanent = permanentRefusals.includes(error.code);
    const seconds = Math.min(error.retryAfter ?? defaultRetrySeconds, maxRetrySeconds);
    delivery.onRefused(isPermanent ? undefined : seconds * 1000);
    if (isPermanent) replica.refuse();
    status.onRefused(error);
  }

  return {
    /** Otherwise, the channel must rejoin before this replica can send edits. */
    isInSync: () => state === 'in-sync' || (state === 'needs-snapshot' && !isCaughtUp),
    isCaughtUp: () => isCaughtUp,

    onJoin() {
      conflict = undefined;
      isCaughtUp = false;
      if (state === 'out-of-sync') state = 'in-sync';
      return { needsSnapshot: state !== 'in-sync', diverged: state === 'diverged' };
    },

    onMessage(message: ServerMessage): void {
      if (message.type === 'snapshot') onText(message.content);
      else if (message.type === 'content') onText(message);
      else if (message.type === 'edit') onEdit(message);
      else if (message.type === 'written') onWritten(message);
      else if (message.type === 'error') onError(message);
      else if (message.type === 'conflict') onConflict(message);
      // The server sends the missed edits first.
      if (message.type !== 'edit') isCaughtUp = true;
      sendAfterConflict();
    },
  };
}
