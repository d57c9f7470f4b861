/** This device's copy of the text: the confirmed text, the pending edits, and the value with both. */
import type { RoomText, TextEdited } from '../../protocol/types.ts';
import { type Changes, noChanges, normalize, type Rebased, rebase, toChanges, toEdits } from '../../text/changes.ts';
import { diffTexts } from '../../text/diff.ts';
import { checksumOf, TextDocument } from '../../text/document.ts';
import { insertsBefore, maxEdits, type TextEdit } from '../../text/edits.ts';
import type { SavedText } from './shared-text.ts';

/** An entry of the server's log. */
type LoggedEdit = Pick<TextEdited, 'version' | 'timestamp' | 'edits' | 'deviceId' | 'ref'>;

/** Before the first text is received. */
export const noVersion = -1;
/** Of versions whose positions can still be mapped. */
const maxRecent = 100;
/** Stands for each code unit of an unknown text. */
const placeholder = '\0';

/** An edit that may have reached the server. It is never composed with another, and keeps its ref until confirmed. */
interface SentEdit {
  readonly ref: string;
  /** Based on the newest confirmed text. */
  readonly changes: Changes;
  /** Whether the server certainly stores these changes. If not, only the log shows what it stored. */
  readonly isExact: boolean;
}

/** The edits that the server has not confirmed. `buffer` contains those after the sent one, which have not been sent. */
type Pending =
  | { readonly state: 'synchronized'; readonly sent?: undefined; readonly buffer?: undefined }
  | { readonly state: 'unsent'; readonly sent?: undefined; readonly buffer: Changes }
  | { readonly state: 'awaiting-answer'; readonly sent: SentEdit; readonly buffer?: undefined }
  | { readonly state: 'awaiting-answer-with-buffer'; readonly sent: SentEdit; readonly buffer: Changes };

export class Replica {
  #confirmed: TextDocument;
  /**
   * Whether only the length of the confirmed text is known, which then consists of placeholders. Pending edits are
   * rebased by positions alone. The value contains only the edits that were made since, which go after the text.
   */
  #isOutline: boolean;
  #at: Pick<RoomText, 'version' | 'timestamp'>;
  #pending: Pending;
  #value: TextDocument;
  /** The changes that led to the last versions. */
  #recent: Changes[] = [];

  constructor(saved?: SavedText) {
    const { version = noVersion, timestamp = '', length = 0, content, sent, buffer } = saved ?? {};
    this.#isOutline = content === undefined && length > 0;
    this.#confirmed = TextDocument.of(content ?? placeholder.repeat(length));
    this.#at = { version, timestamp };
    const sentChanges = sent && toChanges(sent.edits, this.#confirmed.length);
    const bufferBase = sentChanges ? sentChanges.newLength : this.#confirmed.length;
    this.#pending = pendingOf(
      sent && sentChanges && { ref: sent.ref, changes: sentChanges, isExact: true },
      buffer && toChanges(buffer, bufferBase),
    );
    this.#value = this.#isOutline ? TextDocument.of('') : this.#withPending();
  }

  get value(): string {
    return this.#value.toString();
  }

  get version(): number {
    return this.#at.version;
  }

  get timestamp(): string {
    return this.#at.timestamp;
  }

  get pending(): Pending {
    return this.#pending;
  }

  get isLoaded(): boolean {
    return this.#at.version !== noVersion && !this.#isOutline;
  }

  /** Where a position in the confirmed text of an earlier version is now; undefined if that version is not known. */
  positionAt(version: number, position: number): number | undefined {
    const newer = this.#at.version - version;
    if (newer < 0 || newer > this.#recent.length || !this.isLoaded) return undefined;
    const { sent, buffer } = this.#pending;
    const changes = [...this.#recent.slice(this.#recent.length - newer), sent?.changes, buffer];
    return changes.reduce((at, change) => change?.mapPos(Math.min(at, change.length)) ?? at, position);
  }

  #note(changes: Changes | undefined): void {
    if (changes) this.#recent = [...this.#recent.slice(1 - maxRecent), changes];
  }

  /** The edits must be in range and well-formed. */
  edit(edits: readonly TextEdit[]): void {
    if (!this.#isOutline) this.#pending = withEdits(this.#pending, toChanges(edits, this.#value.length));
    this.#value = this.#value.apply(edits);
  }

  /** Whether the confirmed text has the length and the checksum that the server states, if it does. */
  matches({ length, checksum }: { length?: number; checksum?: number }): boolean {
    if (length !== undefined && length !== this.#confirmed.length) return false;
    return checksum === undefined || this.#isOutline || checksum === checksumOf(this.#confirmed.toString());
  }

  /** The edit to send: the earlier one or the buffer, as one range if it has too many. One without effect is dropped. */
  takeUnconfirmed(nextRef: () => string): SentEdit | undefined {
    if (this.#pending.sent?.changes.empty) this.#clearSent();
    this.#limitPending();
    const { sent, buffer } = this.#pending;
    if (sent) {
      const changes = normalize(sent.changes);
      // In another form now, so the server may have stored the earlier one.
      const isExact = sent.isExact && changes === sent.changes;
      this.#pending = pendingOf({ ...sent, changes, isExact }, buffer);
    } else if (buffer) {
      this.#pending = pendingOf({ ref: nextRef(), changes: normalize(buffer), isExact: true }, undefined);
    }
    return this.#pending.sent;
  }

  /** Applies the next entry of the log, which can be the sent edit in the form that was stored. Returns how the value changed. */
  receive(entry: LoggedEdit, ownDevice: string): Changes {
    const { version, timestamp, edits, deviceId } = entry;
    const changes = toChanges(edits, this.#confirmed.length);
    const stored = this.#confirmed.apply(toEdits(changes));
    const theirs = this.isSent(entry, ownDevice)
      ? this.#replaceSent(stored)
      : this.#rebase(changes, insertsBefore(ownDevice, deviceId));
    this.#confirmed = stored;
    this.#note(changes);
    this.#limitPending();
    this.#at = { version, timestamp };
    return theirs;
  }

  /** Whether an entry of the log is the sent edit. */
  isSent({ deviceId, ref }: Pick<LoggedEdit, 'deviceId' | 'ref'>, ownDevice: string): boolean {
    return deviceId === ownDevice && ref !== undefined && ref === this.#pending.sent?.ref;
  }

  /** Others may split pending edits ever further. Rebasing would become slow, and the server refuses that many. */
  #limitPending(): void {
    if (this.#isOutline) return;
    const { sent, buffer } = this.#pending;
    const changes = sent && limitChanges(sent.changes, () => this.#withSent().toString());
    const isSplit = changes !== sent?.changes;
    const limited = sent && changes && isSplit ? { ...sent, changes, isExact: false } : sent;
    this.#pending = pendingOf(limited, buffer && limitChanges(buffer, () => this.value));
  }

  /** The next entry of the log is the sent edit. */
  confirm(version: number, timestamp: string): Changes {
    this.#confirmed = this.#withSent();
    this.#note(this.#pending.sent?.changes);
    this.#clearSent();
    this.#at = { version, timestamp };
    return noChanges(this.#value.length);
  }

  /** The confirmed text already contains the sent edit, which is no longer pending. */
  dropSent(): Changes {
    return this.#replaceSent(this.#confirmed);
  }

  /** Nothing of the sent edit was stored. It keeps its ref, and the server stores the form in which it is sent again. */
  onConflict(): void {
    const { sent, buffer } = this.#pending;
    this.#pending = pendingOf(sent && { ...sent, changes: normalize(sent.changes), isExact: true }, buffer);
  }

  /** Nothing of the sent edit was stored. It becomes part of the next one. */
  refuse(): void {
    this.#pending = pendingOf(undefined, composed(this.#pending));
  }

  /** Loads a text without the edits that led to it, which a diff replaces. Returns how the value changed. */
  load(text: RoomText, ownDevice: string): Changes {
    const { content, version, timestamp, lastRefs = [] } = text;
    this.#recent = [];
    const isSentStored = lastRefs.some((stored) => this.isSent(stored, ownDevice));
    if (this.#isOutline) return this.#fillIn(text, isSentStored);
    const isFirst = !this.isLoaded;
    this.#at = { version, timestamp };
    if (!isSentStored) return this.#mergeTheirs(content, !isFirst);
    return this.#replaceSent(TextDocument.of(content));
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

  /** Replaces the outline by the text. If that is of another version, nothing shows where pending edits belong. */
  #fillIn({ content, version, timestamp }: RoomText, isSentStored: boolean): Changes {
    const isSame = version === this.version && timestamp === this.timestamp && !isSentStored;
    const isFitting = isSame && content.length === this.#confirmed.length;
    const typed = this.#value.toString();
    this.#isOutline = false;
    this.#at = { version, timestamp };
    this.#confirmed = TextDocument.of(content);
    if (isSentStored) this.#clearSent();
    if (!isFitting || this.#splitsPairs()) this.#pending = toLastLines(this.#pending, content);
    this.#value = this.#withPending();
    const changes = toChanges([{ from: 0, to: 0, insert: this.value }], typed.length);
    const end = this.#value.length;
    this.edit([{ from: end, to: end, insert: typed }]);
    return changes;
  }

  /** If an own edit was stored in another form, an outline may have put those after it at slightly wrong positions. */
  #splitsPairs(): boolean {
    return ![this.#withSent(), this.#withPending()].every((text) => text.toString().isWellFormed());
  }

  /** Returns the state to keep across a reload; undefined if nothing is pending. */
  save(deviceId: string): SavedText | undefined {
    const { sent, buffer } = this.#isOutline ? this.#pendingWithValue() : this.#pending;
    if (!sent && !buffer) return undefined;
    return {
      ...this.#at,
      length: this.#confirmed.length,
      ...(!this.#isOutline && { content: this.#confirmed.toString() }),
      deviceId,
      sent: sent && { ref: sent.ref, edits: toEdits(sent.changes) },
      buffer: buffer && toEdits(buffer),
    };
  }

  /** The edits since the outline was restored go after its text. */
  #pendingWithValue(): Pending {
    const { length } = this.#withPending();
    return withEdits(this.#pending, toChanges([{ from: length, to: length, insert: this.value }], length));
  }

  #clearSent(): void {
    this.#pending = pendingOf(undefined, this.#pending.buffer);
  }

  #withSent(): TextDocument {
    const { sent } = this.#pending;
    return sent ? this.#confirmed.apply(toEdits(sent.changes)) : this.#confirmed;
  }

  #withPending(): TextDocument {
    const { buffer } = this.#pending;
    return buffer ? this.#withSent().apply(toEdits(buffer)) : this.#withSent();
  }

  /** Confirms a text that may differ from the one with the sent edit. */
  #replaceSent(stored: TextDocument): Changes {
    const expected = this.#withSent().toString();
    const difference = toChanges(diffTexts(expected, stored.toString()), expected.length);
    this.#confirmed = stored;
    this.#clearSent();
    return this.#rebase(difference, true);
  }

  #rebase(changes: Changes, isMineFirst: boolean): Changes {
    const { sent, buffer } = this.#pending;
    const overSent = sent && rebase(sent.changes, changes, isMineFirst);
    const afterSent = overSent?.theirs ?? changes;
    const overBuffer = buffer && rebaseBuffer(buffer, afterSent, isMineFirst, sent?.changes);
    this.#pending = pendingOf(sent && overSent && { ...sent, changes: overSent.mine }, overBuffer?.mine);
    if (this.#isOutline) return noChanges(this.#value.length);
    const theirs = overBuffer?.theirs ?? afterSent;
    this.#value = this.#value.apply(toEdits(theirs));
    return theirs;
  }
}

function pendingOf(sent: SentEdit | undefined, changes: Changes | undefined): Pending {
  const buffer = changes?.empty ? undefined : changes;
  if (sent && buffer) return { state: 'awaiting-answer-with-buffer', sent, buffer };
  if (sent) return { state: 'awaiting-answer', sent };
  return buffer ? { state: 'unsent', buffer } : { state: 'synchronized' };
}

const withEdits = ({ sent, buffer }: Pending, changes: Changes): Pending =>
  pendingOf(sent, buffer?.compose(changes) ?? changes);

/** All pending edits as one. */
const composed = ({ sent, buffer }: Partial<Pick<Pending, 'sent' | 'buffer'>>): Changes | undefined =>
  sent && buffer ? sent.changes.compose(buffer) : (sent?.changes ?? buffer);

/**
 * If the sent edit replaced a range, an insertion of another device at the end of that range now follows the inserted
 * text directly. The buffer goes before it, whatever the order of devices: otherwise it would split a word of which the
 * first letters were sent. The server has not received the buffer, so this device alone decides its order.
 */
function rebaseBuffer(buffer: Changes, theirs: Changes, isMineFirst: boolean, sent: Changes | undefined): Rebased {
  const ends = insertionEnds(sent);
  const edits = isMineFirst || ends.size === 0 ? [] : toEdits(theirs);
  if (!edits.some(({ from }) => ends.has(from))) return rebase(buffer, theirs, isMineFirst);
  const { following = [], before = [] } = Object.groupBy(edits, ({ from }) =>
    ends.has(from) ? 'following' : 'before',
  );
  const others = toChanges(before, theirs.length);
  const overOthers = rebase(buffer, others, false);
  const overAll = rebase(overOthers.mine, toChanges(following, theirs.length).map(others), true);
  return { mine: overAll.mine, theirs: overOthers.theirs.compose(overAll.theirs) };
}

/** The positions directly after inserted text. */
function insertionEnds(changes: Changes | undefined): ReadonlySet<number> {
  const ends = new Set<number>();
  changes?.iterChangedRanges((_from, _to, start, end) => {
    if (start < end) ends.add(end);
  });
  return ends;
}

/** Keeps only the inserted texts, as lines at the end of the text. */
function toLastLines({ sent, buffer }: Pending, content: string): Pending {
  const withSent = appendLines(content, sent?.changes);
  const withAll = appendLines(content, composed({ sent, buffer }));
  return pendingOf(
    sent && { ...sent, changes: toChanges(diffTexts(content, withSent), content.length), isExact: false },
    toChanges(diffTexts(withSent, withAll), withSent.length),
  );
}

function appendLines(text: string, changes: Changes | undefined): string {
  const lines = (changes ? toEdits(changes) : []).flatMap(({ insert }) => insert || []);
  const isOnNewLine = text === '' || text.endsWith('\n');
  return lines.length === 0 ? text : text + (isOnNewLine ? '' : '\n') + lines.join('\n');
}

/** Merges the changes into one range if there are more than allowed. */
function limitChanges(changes: Changes, textAfter: () => string): Changes {
  let [count, from, to] = [0, changes.length, 0];
  changes.iterChangedRanges((start, end) => {
    count += 1;
    from = Math.min(from, start);
    to = end;
  });
  if (count <= maxEdits) return changes;
  const after = textAfter();
  const insert = after.slice(from, after.length - (changes.length - to));
  return toChanges([{ from, to, insert }], changes.length);
}
