/** This device's copy of the text: the confirmed text, the pending edits, and the value with both. */
import type { RoomText } from '../../protocol/types.ts';
import { type Changes, noChanges, toChanges, toEdits } from '../../text/changes.ts';
import { diffTexts } from '../../text/diff.ts';
import { TextDocument } from '../../text/document.ts';
import { applyEdits, insertsBefore, type TextEdit } from '../../text/edits.ts';
import {
  onConfirmed,
  onConflict,
  onEdited,
  onRefused,
  onRemoteChange,
  onSent,
  onSentAgain,
  type Pending,
  pendingOf,
  type SentEdit,
} from './pending.ts';
import type { SavedText } from './shared-text.ts';
import { survives } from './stored-edit.ts';

/** An entry of the server's log. */
export interface LoggedEdit {
  version: number;
  timestamp: string;
  edits: readonly TextEdit[];
  deviceId?: string | undefined;
}

/** Before the first text is received. */
const noVersion = -1;

export class Replica {
  #confirmed: TextDocument;
  #version: number;
  #timestamp: string;
  #pending: Pending;
  #value: string;

  constructor(saved?: SavedText) {
    const { content = '', version = noVersion, timestamp = '', sent, buffer } = saved ?? {};
    this.#confirmed = TextDocument.of(content);
    this.#version = version;
    this.#timestamp = timestamp;
    const sentChanges = sent && toChanges(sent.edits, content.length);
    const bufferBase = sentChanges ? sentChanges.newLength : content.length;
    this.#pending = pendingOf(
      sent && sentChanges && { ref: sent.ref, changes: sentChanges, isExact: true },
      buffer && toChanges(buffer, bufferBase),
    );
    this.#value = applyEdits(applyEdits(content, sent?.edits ?? []), buffer ?? []);
  }

  get value(): string {
    return this.#value;
  }

  get version(): number {
    return this.#version;
  }

  get timestamp(): string {
    return this.#timestamp;
  }

  get pending(): Pending {
    return this.#pending;
  }

  get isLoaded(): boolean {
    return this.#version !== noVersion;
  }

  /** The edits must be in range and well-formed. */
  edit(edits: readonly TextEdit[]): void {
    this.#pending = onEdited(this.#pending, toChanges(edits, this.#value.length));
    this.#value = applyEdits(this.#value, edits);
  }

  /**
   * Returns the edit to send: the one that was sent before, or the buffer. A buffer with too many changes for one message
   * becomes a single range. An edit whose effect others have removed is dropped.
   */
  takeUnconfirmed(nextRef: () => string, maxEdits: number): SentEdit | undefined {
    if (this.#pending.sent?.changes.empty) this.#pending = onConfirmed(this.#pending);
    const { sent, buffer } = this.#pending;
    if (sent) this.#pending = onSentAgain(this.#pending);
    else if (buffer)
      this.#pending = onSent(pendingOf(undefined, limitChanges(buffer, this.#value, maxEdits)), nextRef());
    return this.#pending.sent;
  }

  /** Applies the next entry of the log, from another device. Returns how the value changed. */
  receive({ version, timestamp, edits, deviceId }: LoggedEdit, ownDevice: string): Changes {
    const changes = toChanges(edits, this.#confirmed.length);
    const theirs = this.#rebase(changes, insertsBefore(ownDevice, deviceId));
    this.#confirmed = this.#confirmed.apply(toEdits(changes));
    this.#version = version;
    this.#timestamp = timestamp;
    return theirs;
  }

  /** The next entry of the log is the sent edit. */
  confirm(version: number, timestamp: string): Changes {
    this.#confirmed = this.#withSent();
    this.#pending = onConfirmed(this.#pending);
    this.#version = version;
    this.#timestamp = timestamp;
    return noChanges(this.#value.length);
  }

  /** The next entry of the log is the sent edit, in the form that the server stored. Returns how the value changed. */
  confirmAs({ version, timestamp, edits }: LoggedEdit): Changes {
    const stored = this.#confirmed.apply(toEdits(toChanges(edits, this.#confirmed.length)));
    const theirs = this.#replaceSent(stored, this.#differenceFromSent(stored));
    this.#version = version;
    this.#timestamp = timestamp;
    return theirs;
  }

  /** The confirmed text already contains the sent edit, which is no longer pending. */
  dropSent(): Changes {
    return this.#replaceSent(this.#confirmed, this.#differenceFromSent(this.#confirmed));
  }

  /** Nothing of the sent edit was stored. It keeps its ref, and is sent again. */
  onConflict(): void {
    this.#pending = onConflict(this.#pending);
  }

  /** Nothing of the sent edit was stored. It becomes part of the next one. */
  refuse(): void {
    this.#pending = onRefused(this.#pending);
  }

  /**
   * Loads a whole text without its edits, which are replaced by a diff. The sent edit counts as stored if the text still
   * has most of what it inserted. Returns how the value changed.
   */
  load({ content, version, timestamp }: RoomText): Changes {
    const isFirst = !this.isLoaded;
    this.#version = version;
    this.#timestamp = timestamp;
    return this.#mergeStored(content) ?? this.#mergeTheirs(content, !isFirst);
  }

  #mergeStored(content: string): Changes | undefined {
    const { sent } = this.#pending;
    if (!sent) return undefined;
    const withSent = this.#withSent().toString();
    const changes = toChanges(diffTexts(withSent, content), withSent.length);
    return survives(sent.changes, changes) ? this.#replaceSent(TextDocument.of(content), changes) : undefined;
  }

  /** Edits made before the first text arrived go after it, as if appended. */
  #mergeTheirs(content: string, isMineFirst: boolean): Changes {
    const changes = toChanges(diffTexts(this.#confirmed.toString(), content), this.#confirmed.length);
    const theirs = this.#rebase(changes, isMineFirst);
    const { sent, buffer } = this.#pending;
    if (sent) this.#pending = pendingOf({ ...sent, isExact: false }, buffer);
    this.#confirmed = TextDocument.of(content);
    return theirs;
  }

  /** Returns the state to keep across a reload; undefined if nothing is pending. */
  save(deviceId: string): SavedText | undefined {
    const { sent, buffer } = this.#pending;
    if (!sent && !buffer) return undefined;
    return {
      version: this.#version,
      timestamp: this.#timestamp,
      content: this.#confirmed.toString(),
      deviceId,
      sent: sent && { ref: sent.ref, edits: toEdits(sent.changes) },
      buffer: buffer && toEdits(buffer),
    };
  }

  #withSent(): TextDocument {
    const { sent } = this.#pending;
    return sent ? this.#confirmed.apply(toEdits(sent.changes)) : this.#confirmed;
  }

  #differenceFromSent(stored: TextDocument): Changes {
    const expected = this.#withSent().toString();
    return toChanges(diffTexts(expected, stored.toString()), expected.length);
  }

  /** Confirms a text that differs from the one with the sent edit by these changes. */
  #replaceSent(stored: TextDocument, difference: Changes): Changes {
    this.#confirmed = stored;
    this.#pending = onConfirmed(this.#pending);
    return this.#rebase(difference, true);
  }

  #rebase(changes: Changes, isMineFirst: boolean): Changes {
    const { pending, theirs } = onRemoteChange(this.#pending, changes, isMineFirst);
    this.#pending = pending;
    this.#value = applyEdits(this.#value, toEdits(theirs));
    return theirs;
  }
}

/** Merges the changes into one range if there are more than allowed. */
function limitChanges(changes: Changes, after: string, maxEdits: number): Changes {
  const edits = toEdits(changes);
  const [first, last] = [edits[0], edits.at(-1)];
  if (!first || !last || edits.length <= maxEdits) return changes;
  const insert = after.slice(first.from, after.length - (changes.length - last.to));
  return toChanges([{ from: first.from, to: last.to, insert }], changes.length);
}
