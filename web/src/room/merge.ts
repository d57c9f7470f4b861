/** Three-way merge: what two people did to the same text, put together so that nobody's words are lost. */
import { diffArrays } from 'diff/lib/diff/array.js';
import { commonEdges } from './common-edges.ts';

export interface Merged {
  text: string;
  /** Passages of mine that collided with theirs and are not in the text: to be shown. */
  unplaced: string[];
}

export function merge(base: string, mine: string, theirs: string): Merged {
  if (mine === base || mine === theirs) return { text: theirs, unplaced: [] };
  if (theirs === base) return { text: mine, unplaced: [] };
  return mergeTokens(linesOf, base, mine, theirs, mergeWords);
}

/** Whether a text has become another by changes that left all the words in it which it had not from its base. */
export function keeps(base: string, text: string, later: string): boolean {
  const tokens = wordsOf(text);
  const added = changesOf(tokens, wordsOf(base));
  const gone = changesOf(tokens, wordsOf(later));
  return !added.some((one) => gone.some((other) => one.from < other.to && other.from < one.to));
}

/** A stretch of a text that became another, in characters. */
export interface Edit {
  from: number;
  to: number;
  text: string;
}

/** The way from one text to another, in few small steps: word by word where little changed, else line by line. */
export function editsBetween(before: string, after: string): Edit[] {
  const { start, end } = commonEdges(before, after);
  const [old, now] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const split = old.length + now.length < 20_000 ? wordsOf : linesOf;
  const tokens = split(old);
  let [at, offset] = [0, start];
  const offsetOf = (token: number) => {
    for (; at < token; at++) offset += tokens[at]?.length ?? 0;
    return offset;
  };
  return changesOf(tokens, split(now)).map(({ from, to, tokens: text }) => ({
    from: offsetOf(from),
    to: offsetOf(to),
    text: text.join(''),
  }));
}

/** Where a place in a text is after the edits; within words that were replaced it goes to their end. */
export function movedBy(edits: readonly Edit[], place: number): number {
  let shift = 0;
  for (const { from, to, text } of edits) {
    if (to > place) return from < place ? from + shift + text.length : place + shift;
    shift += text.length - (to - from);
  }
  return place + shift;
}

/** Within lines that both changed. What collides is shown as the whole passage, so that it can be understood. */
function mergeWords(base: string, mine: string, theirs: string): Merged {
  const merged = mergeTokens(wordsOf, base, mine, theirs, settle);
  return merged.unplaced.length > 0 ? { text: merged.text, unplaced: [mine.trim()].filter(Boolean) } : merged;
}

/** Both changed the same words, and not in the same way. */
function settle(base: string, mine: string, theirs: string): Merged {
  // One removed what the other changed: the change stays.
  if (mine === '' || theirs === '') return { text: mine + theirs, unplaced: [] };
  if (base === '') return { text: inRow(theirs, mine), unplaced: [] };
  return { text: theirs, unplaced: [mine] };
}

/** Two things written at the same place, one after the other. */
function inRow(first: string, second: string): string {
  if (begins(first, second)) return second;
  if (begins(second, first)) return first;
  const touching = /\S$/.test(first) && /^\S/.test(second);
  return touching ? `${first} ${second}` : first + second;
}

/** Whether a text has these words at its beginning; "not yet" has no "no" there. */
function begins(words: string, text: string): boolean {
  return text.startsWith(words) && segmenter.segment(text).containing(words.length)?.index === words.length;
}

type Split = (text: string) => string[];

const linesOf: Split = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
/** By the rules of Unicode, since not every script sets its words apart by spaces. */
const wordsOf: Split = (text) => Array.from(segmenter.segment(text), ({ segment }) => segment);

type Resolve = (base: string, mine: string, theirs: string) => Merged;

function mergeTokens(split: Split, base: string, mine: string, theirs: string, resolve: Resolve): Merged {
  const tokens = split(base);
  const ours = changesOf(tokens, split(mine));
  const others = changesOf(tokens, split(theirs));
  const merged: Merged = { text: '', unplaced: [] };
  let at = 0;
  for (const region of regionsOf(ours, others)) {
    const part = mergeRegion(tokens, region, resolve);
    merged.text += tokens.slice(at, region.from).join('') + part.text;
    merged.unplaced.push(...part.unplaced);
    at = region.to;
  }
  merged.text += tokens.slice(at).join('');
  return merged;
}

/** These tokens of the base became others. */
interface Change {
  from: number;
  to: number;
  tokens: string[];
}

/** The work grows with the square of the changes; beyond this it is not worth a frozen page. */
const mostChanges = 2_000;

function changesOf(base: string[], text: string[]): Change[] {
  const parts = diffArrays(base, text, { maxEditLength: mostChanges });
  if (!parts) return [oneChange(base, text)];
  const changes: Change[] = [];
  let at = 0;
  for (const { added, removed, value, count } of parts) {
    const last = changes.at(-1);
    const touches = last?.to === at && (added || removed);
    const change = touches ? last : { from: at, to: at, tokens: [] };
    if (removed) change.to += count;
    if (added) change.tokens.push(...value);
    if ((added || removed) && !touches) changes.push(change);
    if (!added) at += count;
  }
  return changes;
}

/** Everything between what both begin and what both end with. */
function oneChange(base: string[], text: string[]): Change {
  const { start, end } = commonEdges(base, text);
  return { from: start, to: base.length - end, tokens: text.slice(start, text.length - end) };
}

/** A stretch of the base in which the changes of both sides touch each other, or only one side has any. */
interface Region {
  from: number;
  to: number;
  mine: Change[];
  theirs: Change[];
}

function regionsOf(mine: Change[], theirs: Change[]): Region[] {
  const all = [
    ...mine.map((change) => ({ change, side: 'mine' as const })),
    ...theirs.map((change) => ({ change, side: 'theirs' as const })),
  ].sort((one, other) => one.change.from - other.change.from || one.change.to - other.change.to);
  const regions: Region[] = [];
  for (const { change, side } of all) {
    const { from, to } = change;
    let region = regions.at(-1);
    if (!region || from > region.to || (from === region.to && region[side].length > 0)) {
      region = { from, to, mine: [], theirs: [] };
      regions.push(region);
    }
    region.to = Math.max(region.to, to);
    region[side].push(change);
  }
  return regions;
}

function mergeRegion(base: string[], { from, to, mine, theirs }: Region, resolve: Resolve): Merged {
  const [a, b] = [applied(base, from, to, mine), applied(base, from, to, theirs)];
  if (theirs.length === 0 || a === b) return { text: a, unplaced: [] };
  if (mine.length === 0) return { text: b, unplaced: [] };
  return resolve(base.slice(from, to).join(''), a, b);
}

/** What a side made of a stretch of the base. */
function applied(base: string[], from: number, to: number, changes: Change[]): string {
  let text = '';
  let at = from;
  for (const change of changes) {
    text += base.slice(at, change.from).join('') + change.tokens.join('');
    at = change.to;
  }
  return text + base.slice(at, to).join('');
}
