/**
 * Finds edits from one text to another in linear time: removes the common start and end, then looks for lines, then
 * for words, that occur once in both texts, as a patience diff does. Texts without any become one range.
 *
 * An edit starts and ends between words, so that what others insert there does not split one. The exception is text
 * that was only inserted, or only removed, at a single possible position: such an edit is exact.
 */
import { cutsPair, maxEdits, type TextEdit } from './edits.ts';

/** The lines after these are compared as one. */
const maxLines = 16_384;
/** In longer parts without a common line, and in more parts than these, words are not compared. */
const maxWordsLength = 8 * 1024;
const maxWordsTotal = 128 * 1024;
/** Longer runs without a space are data, not words. An edit may split them. */
const maxWordLength = 1000;

export function diffTexts(before: string, after: string): TextEdit[] {
  if (before === after) return [];
  const whole = { from: 0, to: before.length, start: 0, end: after.length };
  const texts = { before, after, wordsLeft: maxWordsTotal };
  const changes = joinIfMany(refine(texts, whole, [matchLines, matchWords]));
  return changes.map(({ from, to, start, end }) => ({ from, to, insert: insertOf(after, start, end) }));
}

interface Texts {
  before: string;
  after: string;
  /** How much text may still be compared by words. */
  wordsLeft: number;
}

/** A range of the text before, and the range of the text after that replaces it. */
type Change = { from: number; to: number; start: number; end: number };

/** Finds unchanged parts within a change, in ascending order. */
type Match = (texts: Texts, change: Change) => Change[];

function refine(texts: Texts, change: Change, [match, ...finer]: readonly Match[]): Change[] {
  const trimmed = trim(texts, change);
  const { from, to, start, end } = trimmed;
  if (from === to && start === end) return [];
  if (from === to || start === end) return [trimmed];
  const kept = keptWhole(texts, trimmed);
  if (kept) return between(trimmed, [kept]).filter(isEffective);
  if (!match || isOneWord(texts.before, from, to) || isOneWord(texts.after, start, end)) return [trimmed];
  if (!areSimilar(texts, trimmed)) return [trimmed];
  const parts = between(trimmed, match(texts, trimmed));
  // More parts would be joined in the end.
  const finest = parts.length > maxEdits ? [] : finer;
  return joinIfMany(parts).flatMap((part) => refine(texts, part, finest));
}

const isEffective = ({ from, to, start, end }: Change) => from < to || start < end;

/** The time to look for a text grows with its length and that of the other. */
const maxKeptLength = 256;

/** The whole removed text within the inserted one, or the reverse, if it occurs there once and as whole words. */
function keptWhole(texts: Texts, { from, to, start, end }: Change): Change | undefined {
  const isLonger = end - start > to - from;
  const [part, partFrom, partTo] = isLonger ? [texts.before, from, to] : [texts.after, start, end];
  const [whole, wholeFrom, wholeTo] = isLonger ? [texts.after, start, end] : [texts.before, from, to];
  const length = partTo - partFrom;
  if (length > maxKeptLength || wholeTo - wholeFrom > Math.min(maxWordsLength, texts.wordsLeft)) return undefined;
  texts.wordsLeft -= wholeTo - wholeFrom;
  const searched = whole.slice(wholeFrom, wholeTo);
  const at = searched.indexOf(part.slice(partFrom, partTo));
  if (at < 0 || searched.includes(part.slice(partFrom, partTo), at + 1)) return undefined;
  if (!isWordEdge(searched, at) || !isWordEdge(searched, at + length)) return undefined;
  const found = { from: wholeFrom + at, to: wholeFrom + at + length };
  return isLonger ? { from, to, start: found.from, end: found.to } : { ...found, start, end };
}

/** Then the other text has it more than once or not at all, and looking for common words is in vain. */
function isOneWord(text: string, from: number, to: number): boolean {
  if (to - from > maxKeptLength) return false;
  for (let at = from; at < to; at++) if (kinds[text.charCodeAt(at)] !== word) return false;
  return true;
}

/** Whether a position is not between two characters of a word. */
function isWordEdge(text: string, position: number): boolean {
  if (position === 0 || position === text.length) return true;
  return kinds[text.charCodeAt(position - 1)] !== word || kinds[text.charCodeAt(position)] !== word;
}

/** A quick look: whether the texts have something in common, or are short. */
function areSimilar({ before, after }: Texts, { from, to, start, end }: Change): boolean {
  const [removed, inserted] = [before.slice(from, to), after.slice(start, end)];
  const [shorter, longer] = removed.length < inserted.length ? [removed, inserted] : [inserted, removed];
  if (shorter.length < samples * sampleLength) return true;
  return shorter.length > maxWordsLength ? shareLine(shorter, longer) : sharePart(shorter, longer);
}

const samples = 8;
const sampleLength = 8;

/** Whether one of a few short parts of the shorter text occurs in the longer one. */
function sharePart(shorter: string, longer: string): boolean {
  const distance = Math.max(sampleLength, Math.ceil(shorter.length / samples));
  for (let at = 0; at < shorter.length; at += distance) {
    if (longer.includes(shorter.slice(at, at + sampleLength))) return true;
  }
  return false;
}

/** Shorter lines, such as empty ones, occur in many texts. */
const minLineLength = 4;

/**
 * Whether a line of the shorter text is a line of the longer one, by a look at some lines of both. A few letters of a
 * long text occur in others by coincidence, and only its lines are compared. Looking at all lines of the longer text
 * took twice as long for 100 KB.
 */
function shareLine(shorter: string, longer: string): boolean {
  const starts = new Int32Array(marks + sameMarks).fill(-1);
  someLines(shorter, (start, end) => {
    const mark = markOf(shorter, start, end);
    const slot = starts.indexOf(-1, mark);
    if (slot >= 0 && slot < mark + sameMarks) starts[slot] = start;
    return false;
  });
  return someLines(longer, (start, end) => {
    const mark = markOf(longer, start, end);
    for (let slot = mark; slot < mark + sameMarks && starts[slot] !== -1; slot++) {
      if (shorter.startsWith(longer.slice(start, Math.min(end, start + maxWordLength)), starts[slot])) return true;
    }
    return false;
  });
}

const marks = 1024;
/** Similar lines may have the same mark. */
const sameMarks = 8;

const sampleBlocks = 16;
/**
 * Characters of a block: this factor times the root of the length of a text. Then, however long two texts of the same
 * lines are, about 15 lines of 80 characters are in the blocks of both, even if the texts are ordered differently.
 */
const blockFactor = 2.2;

/** Whether a line has a property, by a look at the lines of blocks that are spread over the text. */
function someLines(text: string, hasProperty: (start: number, end: number) => boolean): boolean {
  const distance = text.length / sampleBlocks;
  const length = blockFactor * Math.sqrt(text.length);
  let start = 0;
  for (let block = 0; block < sampleBlocks; block++) {
    const from = Math.floor(block * distance);
    if (from > start) start = text.indexOf('\n', from) + 1;
    if (from > 0 && start === 0) return false;
    while (start < from + length) {
      const lineFeedAt = text.indexOf('\n', start);
      const end = lineFeedAt < 0 ? text.length : lineFeedAt;
      if (end - start >= minLineLength && hasProperty(start, end)) return true;
      if (lineFeedAt < 0) return false;
      start = end + 1;
    }
  }
  return false;
}

/** From the length and 16 to 31 characters. Differs for most lines, and is cheaper than a set of strings. */
function markOf(text: string, start: number, end: number): number {
  const distance = Math.max(1, (end - start) >> 4);
  let hash = end - start;
  for (let at = start; at < end; at += distance) hash = Math.imul(hash ^ text.charCodeAt(at), hashFactor);
  return (hash ^ (hash >>> 16)) & (marks - 1);
}

/** The parts of a change around the unchanged ones. */
function between({ from, to, start, end }: Change, unchanged: readonly Change[]): Change[] {
  const parts: Change[] = [];
  for (const kept of unchanged) {
    parts.push({ from, to: kept.from, start, end: kept.start });
    from = kept.to;
    start = kept.end;
  }
  return [...parts, { from, to, start, end }];
}

/** Joins neighbours, so that there are at most `maxEdits`. */
function joinIfMany(changes: readonly Change[]): readonly Change[] {
  if (changes.length <= maxEdits) return changes;
  const perEdit = Math.ceil(changes.length / maxEdits);
  const joined: Change[] = [];
  for (let index = 0; index < changes.length; index += perEdit) {
    const first = changes[index] as Change;
    const last = changes[Math.min(index + perEdit, changes.length) - 1] as Change;
    joined.push({ ...first, to: last.to, end: last.end });
  }
  return joined;
}

/** A copy, because a slice would keep the whole text in memory as long as the edit. */
function insertOf(after: string, start: number, end: number): string {
  const insert = after.slice(start, end);
  return insert.length < after.length / 2 ? ` ${insert}`.slice(1) : insert;
}

/** Removes the common start and end from a change. */
function trim(texts: Texts, change: Change): Change {
  const { from, to, start, end } = change;
  const [removed, inserted] = [texts.before.slice(from, to), texts.after.slice(start, end)];
  const atStart = commonStart(removed, inserted);
  const atEnd = commonEnd(removed, inserted);
  const shorter = Math.min(removed.length, inserted.length);
  const place = atStart + atEnd >= shorter ? placeOf(texts, change, atStart, atEnd) : undefined;
  const head = place ?? wordsWithin(texts, from, start, 1, atStart);
  const atMost = Math.min(atEnd, shorter - head);
  const tail = place === undefined ? wordsWithin(texts, to, end, -1, atMost) : shorter - place;
  return { from: from + head, to: to - tail, start: start + head, end: end - tail };
}

/** Where text was only inserted or removed, from the start of the change; undefined if that would split a word. */
function placeOf({ before, after }: Texts, change: Change, atStart: number, atEnd: number): number | undefined {
  const { from, to, start, end } = change;
  const extra = end - start - (to - from);
  const [shorter, longer] = extra > 0 ? [before, after] : [after, before];
  const [shorterFrom, longerFrom] = extra > 0 ? [from, start] : [start, from];
  const first = Math.min(to - from, end - start) - atEnd;
  for (let place = atStart; place >= Math.max(first, atStart - maxWordLength); place--) {
    const at = longerFrom + place;
    const isAligned = isBoundary(longer, at) && isBoundary(longer, at + Math.abs(extra));
    if (isAligned && isBoundary(shorter, shorterFrom + place)) return place;
  }
  const at = longerFrom + atStart;
  const isExact = atStart === first && !cutsPair(longer, at) && !cutsPair(longer, at + Math.abs(extra));
  return isExact ? atStart : undefined;
}

/** The longest length up to this one, from these positions on or back, that ends between words of both texts. */
function wordsWithin({ before, after }: Texts, from: number, start: number, step: 1 | -1, length: number): number {
  const least = Math.max(0, length - maxWordLength);
  for (let kept = length; kept >= least; kept--) {
    if (isBoundary(before, from + step * kept) && isBoundary(after, start + step * kept)) return kept;
  }
  return cutsPair(before, from + step * least) ? least - 1 : least;
}

function commonStart(one: string, other: string): number {
  const max = Math.min(one.length, other.length);
  let same = commonBlocks(max, (from, to) => one.slice(from, to) === other.slice(from, to));
  while (same < max && one.charCodeAt(same) === other.charCodeAt(same)) same += 1;
  return same;
}

function commonEnd(one: string, other: string): number {
  const max = Math.min(one.length, other.length);
  let same = commonBlocks(
    max,
    (from, to) => one.slice(-to, -from || undefined) === other.slice(-to, -from || undefined),
  );
  while (same < max && one.charCodeAt(one.length - 1 - same) === other.charCodeAt(other.length - 1 - same)) same += 1;
  return same;
}

/** V8 compares slices about ten times as fast as a loop compares characters, unless they are short. */
function commonBlocks(max: number, isSame: (from: number, to: number) => boolean): number {
  let same = 0;
  for (let block = 4096; block >= 32; block /= 2) {
    while (same + block <= max && isSame(same, same + block)) same += block;
  }
  return same;
}

const matchLines: Match = (texts, change) => {
  const { from, to, start, end } = change;
  return matchTokens(texts, linesOf(texts.before, from, to), linesOf(texts.after, start, end));
};

/** Only if at least half of the shorter text is unchanged: otherwise, the common words are a coincidence. */
const matchWords: Match = (texts, change) => {
  const { from, to, start, end } = change;
  const length = to - from + (end - start);
  if (length > Math.min(maxWordsLength, texts.wordsLeft)) return [];
  texts.wordsLeft -= length;
  const unchanged = matchTokens(texts, wordsOf(texts.before, from, to), wordsOf(texts.after, start, end));
  const kept = unchanged.reduce((sum, part) => sum + part.to - part.from, 0);
  return 2 * kept >= Math.min(to - from, end - start) ? unchanged : [];
};

interface Tokens {
  hashes: number[];
  /** The starts of the tokens, and the end of the last one. */
  bounds: number[];
}

/** The longest ascending sequence of tokens that occur once in both ranges. */
function matchTokens({ before, after }: Texts, one: Tokens, other: Tokens): Change[] {
  const unchanged: Change[] = [];
  const matches = uniqueMatches(one.hashes, other.hashes);
  let last: Change | undefined;
  for (const index of longestAscending(matches)) {
    const [from, to] = [one.bounds[index] as number, one.bounds[index + 1] as number];
    const otherIndex = matches[index] as number;
    const [start, end] = [other.bounds[otherIndex] as number, other.bounds[otherIndex + 1] as number];
    // Different tokens can have the same hash.
    if (before.slice(from, to) !== after.slice(start, end)) continue;
    if (last?.to === from && last.end === start) {
      last.to = to;
      last.end = end;
    } else {
      last = { from, to, start, end };
      unchanged.push(last);
    }
  }
  return unchanged;
}

function linesOf(text: string, from: number, to: number): Tokens {
  const hashes: number[] = [];
  const bounds = [from];
  for (let start = from; start < to; ) {
    const lineFeedAt = hashes.length < maxLines ? text.indexOf('\n', start) : -1;
    const end = lineFeedAt < 0 || lineFeedAt >= to ? to : lineFeedAt + 1;
    let hash = end - start;
    for (let at = start; at < Math.min(end, start + maxWordLength); at++)
      hash = Math.imul(hash ^ text.charCodeAt(at), hashFactor);
    hashes.push(hash);
    bounds.push(end);
    start = end;
  }
  return { hashes, bounds };
}

/** Words with the spaces after them. */
function wordsOf(text: string, from: number, to: number): Tokens {
  const hashes: number[] = [];
  const bounds = [from];
  let hash = 0;
  let last = space;
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at);
    const kind = kinds[unit] as number;
    const isStart = kind !== space && (last === space || (last === punctuation && kind === punctuation));
    if (isStart && at > from) {
      hashes.push(hash);
      bounds.push(at);
      hash = 0;
    }
    hash = Math.imul(hash ^ unit, hashFactor);
    last = kind;
  }
  hashes.push(hash);
  bounds.push(to);
  return { hashes, bounds };
}

const hashFactor = 0x01000193;
/** Bounds the time for hashes that someone chose to share a slot. Tokens beyond it are not matched. */
const maxProbes = 16;

/** For each hash, the index of the same one in the other list, if both lists have it once; otherwise -1. */
function uniqueMatches(hashes: readonly number[], others: readonly number[]): Int32Array {
  const bits = 33 - Math.clz32(hashes.length);
  const slots = new Int32Array(1 << bits).fill(-1);
  const slotOf = (hash: number): number => {
    let slot = Math.imul(hash, 0x9e3779b1) >>> (32 - bits);
    for (let probe = 0; probe < maxProbes; probe++) {
      const index = slots[slot] as number;
      if (index < 0 || hashes[index] === hash) return slot;
      slot = (slot + 1) & (slots.length - 1);
    }
    return -1;
  };
  const none = -1;
  const repeated = -2;
  const matches = new Int32Array(hashes.length).fill(none);
  for (let index = 0; index < hashes.length; index++) {
    const slot = slotOf(hashes[index] as number);
    if (slot < 0) continue;
    const first = slots[slot] as number;
    if (first < 0) slots[slot] = index;
    else matches[first] = repeated;
  }
  for (let index = 0; index < others.length; index++) {
    const first = slots[slotOf(others[index] as number)] ?? -1;
    if (first >= 0) matches[first] = matches[first] === none ? index : repeated;
  }
  return matches;
}

/** The indexes of the longest ascending sequence of matches. */
function longestAscending(matches: Int32Array): number[] {
  /** For each length, the index of the smallest match that ends a sequence of that length. */
  const ends: number[] = [];
  const previous = new Int32Array(matches.length).fill(-1);
  for (let index = 0; index < matches.length; index++) {
    const match = matches[index] as number;
    if (match < 0) continue;
    let [low, high] = [0, ends.length];
    // Most texts are in order.
    if (high > 0 && (matches[ends[high - 1] as number] as number) < match) low = high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((matches[ends[middle] as number] as number) < match) low = middle + 1;
      else high = middle;
    }
    if (low > 0) previous[index] = ends[low - 1] as number;
    ends[low] = index;
  }
  const ascending: number[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index] as number) ascending.push(index);
  return ascending.reverse();
}

const word = 0;
const space = 1;
const punctuation = 2;

/** By UTF-16 code unit. Beyond ASCII, everything but spaces belongs to words, such as letters, marks and emoji. */
const kinds = new Uint8Array(0x10000).fill(word);
for (let unit = 0; unit < 0x80; unit++) {
  if (!/\w/.test(String.fromCharCode(unit))) kinds[unit] = unit <= 0x20 ? space : punctuation;
}
// The last ones separate phrases in languages without spaces.
for (const separator of '\u0085\u00a0\u2028\u2029\u3000、。！，：；？') kinds[separator.charCodeAt(0)] = space;

/** Whether an edit may start or end here: beside a space or between two punctuation marks. */
function isBoundary(text: string, position: number): boolean {
  if (position === 0 || position === text.length) return true;
  const last = kinds[text.charCodeAt(position - 1)];
  const next = kinds[text.charCodeAt(position)];
  if (last === space || next === space) return !text.startsWith('\r\n', position - 1);
  return last === punctuation && next === punctuation;
}
