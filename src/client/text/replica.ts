/** This device's copy of the text: what the server has confirmed, the pending edits over it, and the value of both. */
import type { RoomText } from '../../protocol/types.ts';
import { type Changes, noChanges, toChanges, toEdits } from '../../text/changes.ts';
import { diffTexts } from '../../text/diff.ts';
import { TextDocument } from '../../text/document.ts';
import { applyEdits, insertsBefore, type TextEdit } from '../../text/edits.ts';
import {
  onConfirmed,
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

/** An entry of the log, as the server sends it. */
export interface LoggedEdit {
  version: number;
  timestamp: string;
  edits: readonly TextEdit[];
  deviceId?: string | undefined;
}

/** Before the first text was received. */
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
   * Takes the edit to be sent: one that was sent before, or else the buffer. With more changes than one message may
   * have, the buffer becomes one range. An edit that others left nothing of need not be sent again.
   */
  takeUnconfirmed(nextRef: () => string, maxEdits: number): SentEdit | undefined {
    if (this.#pending.sent?.changes.empty) this.#pending = onConfirmed(this.#pending);
    const { sent, buffer } = this.#pending;
    if (sent) this.#pending = onSentAgain(this.#pending);
    else if (buffer)
      this.#pending = onSent(pendingOf(undefined, limitChanges(buffer, this.#value, maxEdits)), nextRef());
    return this.#pending.sent;
  }

  /** The next entry of the log, made elsewhere. Returns how the value changed. */
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

  /** The confirmed text has had the sent edit already, so it is taken out of the pending ones. */
  dropSent(): Changes {
    return this.#replaceSent(this.#confirmed, this.#differenceFromSent(this.#confirmed));
  }

  /** Nothing of the sent edit was stored; it will be sent in another one. */
  refuse(): void {
    this.#pending = onRefused(this.#pending);
  }

  /**
   * A whole text, without the edits that led to it: the difference takes their place. Whether the sent edit is among
   * them is decided by whether the text still has most of what it inserted. Returns how the value changed.
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

  /** What was typed before the first text goes after it, as if it had been appended. */
  #mergeTheirs(content: string, mineFirst: boolean): Changes {
    const changes = toChanges(diffTexts(this.#confirmed.toString(), content), this.#confirmed.length);
    const theirs = this.#rebase(changes, mineFirst);
    const { sent, buffer } = this.#pending;
    if (sent) this.#pending = pendingOf({ ...sent, isExact: false }, buffer);
    this.#confirmed = TextDocument.of(content);
    return theirs;
  }

  /** What to keep over a reload; undefined when nothing is pending. */
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

  /** Confirms a text that differs by these changes from the one with the sent edit. */
  #replaceSent(stored: TextDocument, difference: Changes): Changes {
    this.#confirmed = stored;
    this.#pending = onConfirmed(this.#pending);
    return this.#rebase(difference, true);
  }

  #rebase(changes: Changes, mineFirst: boolean): Changes {
    const { pending, theirs } = onRemoteChange(this.#pending, changes, mineFirst);
    this.#pending = pending;
    this.#value = applyEdits(this.#value, toEdits(theirs));
    return theirs;
  }
}

/** As one range, where there are more changes than allowed. */
function limitChanges(changes: Changes, after: string, maxEdits: number): Changes {
  const edits = toEdits(changes);
  const [first, last] = [edits[0], edits.at(-1)];
  if (!first || !last || edits.length <= maxEdits) return changes;
  const insert = after.slice(first.from, after.length - (changes.length - last.to));
  return toChanges([{ from: first.from, to: last.to, insert }], changes.length);
}
