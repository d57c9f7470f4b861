/** The edits of this device that the server has not confirmed, as a state machine. */
import { type Changes, normalize, type Rebased, rebase, toChanges, toEdits } from '../../text/changes.ts';

/** An edit that may have reached the server. It is never composed with another, and keeps its ref until confirmed. */
export interface SentEdit {
  readonly ref: string;
  /** Based on the newest confirmed text. */
  readonly changes: Changes;
  /** Whether the server certainly stores these changes. If not, only the log shows what it stored. */
  readonly isExact: boolean;
}

/** `buffer` contains the edits after the sent one, which have not been sent. */
export type Pending =
  | { readonly state: 'synchronized'; readonly sent?: undefined; readonly buffer?: undefined }
  | { readonly state: 'unsent'; readonly sent?: undefined; readonly buffer: Changes }
  | { readonly state: 'awaiting-answer'; readonly sent: SentEdit; readonly buffer?: undefined }
  | { readonly state: 'awaiting-answer-with-buffer'; readonly sent: SentEdit; readonly buffer: Changes };

export function pendingOf(sent: SentEdit | undefined, changes: Changes | undefined): Pending {
  const buffer = changes?.empty ? undefined : changes;
  if (sent && buffer) return { state: 'awaiting-answer-with-buffer', sent, buffer };
  if (sent) return { state: 'awaiting-answer', sent };
  return buffer ? { state: 'unsent', buffer } : { state: 'synchronized' };
}

export const onEdited = ({ sent, buffer }: Pending, changes: Changes): Pending =>
  pendingOf(sent, compose(buffer, changes));

/** The sent edit is sent again, or else the buffer. If a sent edit has another form now, the server may have stored the earlier one. */
export function onSend({ sent, buffer }: Pending, nextRef: () => string): Pending {
  if (!sent) return pendingOf(buffer && { ref: nextRef(), changes: normalize(buffer), isExact: true }, undefined);
  const changes = normalize(sent.changes);
  return pendingOf({ ...sent, changes, isExact: sent.isExact && changes === sent.changes }, buffer);
}

export const onConfirmed = ({ buffer }: Pending): Pending => pendingOf(undefined, buffer);

/** The server did not store the sent edit, so the next form of it is the one that it stores. */
export const onConflict = ({ sent, buffer }: Pending): Pending =>
  pendingOf(sent && { ...sent, changes: normalize(sent.changes), isExact: true }, buffer);

/** The server refused the sent edit permanently, and stored nothing of it. */
export const onRefused = ({ sent, buffer }: Pending): Pending => pendingOf(undefined, compose(sent?.changes, buffer));

/** The confirmed text changed. Also returns the change rebased over the pending edits. */
export function onRemoteChange({ sent, buffer }: Pending, changes: Changes, isMineFirst: boolean) {
  const overSent = sent && rebase(sent.changes, changes, isMineFirst);
  const theirs = overSent?.theirs ?? changes;
  const overBuffer = buffer && rebaseBuffer(buffer, theirs, isMineFirst, sent?.changes);
  const pending = pendingOf(sent && overSent && { ...sent, changes: overSent.mine }, overBuffer?.mine);
  return { pending, theirs: overBuffer?.theirs ?? theirs };
}

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

const compose = (first: Changes | undefined, second: Changes | undefined): Changes | undefined =>
  first && second ? first.compose(second) : (first ?? second);
