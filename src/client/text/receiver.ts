/** Takes the messages of the live channel into a replica. */
import type { Problem, RoomText, ServerMessage, TextEdited, Written } from '../../protocol/types.ts';
import type { Changes } from '../../text/changes.ts';
import type { PoproomError } from '../error.ts';
import { errorIn } from '../writes.ts';
import type { Delivery } from './delivery.ts';
import type { Replica } from './replica.ts';

/** Nothing of an edit with such an answer was stored, and the same edit would be refused again. */
const definiteRefusals: ReadonlySet<string> = new Set(['CONTENT_TOO_LARGE', 'QUOTA_EXCEEDED', 'VALIDATION_FAILED']);
const defaultRetrySeconds = 10;
const maxRetrySeconds = 3600;

export interface ReceiverDeps {
  replica: Replica;
  delivery: Delivery;
  deviceId: () => string;
  /** The value changed, by a device where it is known; the changes may be empty. */
  onRemoteChange: (changes: Changes, author?: string) => void;
  /** The server stored the edit that was sent. */
  onConfirmed: () => void;
  onRefused: (error: PoproomError) => void;
}

export interface Receiver {
  /** Whether this replica has to join again before it can send anything. */
  readonly isOutOfSync: boolean;
  /** The channel is about to join again; returns whether it must ask for a snapshot. */
  onJoin(): boolean;
  /** Returns whether the message was an answer to an edit of this replica. */
  receive(message: ServerMessage): boolean;
}

export function createReceiver(deps: ReceiverDeps): Receiver {
  const { replica, delivery, deviceId, onRemoteChange, onConfirmed, onRefused } = deps;
  let isOutOfSync = false;
  let needsSnapshot = false;

  /** Joins again: the server sends the edits since the version that this replica has, or a snapshot. */
  function resynchronize(): void {
    isOutOfSync = true;
    delivery.reconnect();
  }

  function askForSnapshot(): void {
    needsSnapshot = true;
    resynchronize();
  }

  function onText(text: RoomText): void {
    const isKnown = text.version === replica.version && text.timestamp === replica.timestamp;
    if (isKnown && !needsSnapshot) return;
    needsSnapshot = false;
    onRemoteChange(replica.load(text));
  }

  function onEdit(message: TextEdited): void {
    if (message.version > replica.version + 1) resynchronize();
    else if (message.version > replica.version) onNextEdit(message);
  }

  function onNextEdit(message: TextEdited): void {
    const isConfirmation = isOwn(message);
    const changes = apply(() => (isConfirmation ? replica.confirmAs(message) : replica.receive(message, deviceId())));
    if (changes && isConfirmation) onConfirmed();
    if (changes) onRemoteChange(changes, isConfirmation ? undefined : message.deviceId);
    else askForSnapshot();
  }

  /** The answer to an earlier connection was lost, and the log tells that the edit was stored. */
  const isOwn = (message: TextEdited) => message.deviceId === deviceId() && isOfSent(message.ref);
  const isOfSent = (ref: string | undefined) => ref !== undefined && ref === replica.pending.sent?.ref;

  function onWritten({ ref, version, timestamp }: Written): void {
    if (version > replica.version && !isExactlyNext(ref, version)) {
      resynchronize();
    } else if (isOfSent(ref)) {
      // A snapshot that has this version has had the edit already.
      const changes = version <= replica.version ? replica.dropSent() : replica.confirm(version, timestamp);
      onConfirmed();
      onRemoteChange(changes);
    }
  }

  /** If not, only the log tells which edits there were before, and in which form this one was stored. */
  const isExactlyNext = (ref: string | undefined, version: number) =>
    isOfSent(ref) && replica.pending.sent?.isExact && version === replica.version + 1;

  function onError(message: Problem): void {
    if (!isOfSent(message.ref)) return;
    const error = errorIn(message);
    if (error.code !== 'VERSION_CONFLICT') refuse(error);
    else if (replica.pending.sent?.isExact) askForSnapshot();
    // It was for the version before a snapshot that has come since.
    else delivery.sendAgain();
  }

  function refuse(error: PoproomError): void {
    const isDefinite = definiteRefusals.has(error.code);
    const seconds = Math.min(error.retryAfter ?? defaultRetrySeconds, maxRetrySeconds);
    delivery.onRefused(isDefinite ? undefined : seconds * 1000);
    if (isDefinite) replica.refuse();
    onRefused(error);
  }

  return {
    get isOutOfSync() {
      return isOutOfSync;
    },

    onJoin() {
      isOutOfSync = false;
      return needsSnapshot || !replica.isLoaded;
    },

    receive(message) {
      const isAnswer = (message.type === 'written' || message.type === 'error') && isOfSent(message.ref);
      if (message.type === 'snapshot') onText(message.content);
      else if (message.type === 'content') onText(message);
      else if (message.type === 'edit') onEdit(message);
      else if (message.type === 'written') onWritten(message);
      else if (message.type === 'error') onError(message);
      return isAnswer;
    },
  };
}

/** Undefined where the edits are not valid for the text: then this replica and the server differ. */
function apply(change: () => Changes): Changes | undefined {
  try {
    return change();
  } catch {
    return undefined;
  }
}
