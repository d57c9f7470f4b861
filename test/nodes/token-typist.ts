/** Typists who insert tokens such as `<t1.210>` into a shared text, only between whole tokens, and a check of the result. */
import { setTimeout as pause } from 'node:timers/promises';
import type { LiveText, SavedText, TextChange } from '../../src/client/index.ts';
import type { Random } from '../support/seeded-random.ts';

/** The token in every room beside which all typists like to type. */
export const firstToken = '<t0.0>';

/** Tokens that start with `d` may be deleted. Each stands between two others, and nobody types beside it. */
const wholeToken = /<[td]\d+\.\d+>/g;
/** Text removed at the edge of a word may tear it, so positions beside a token that may be deleted are not used. */
const innerBoundary = /(?<!<d\d+\.\d+)>(?=<t)/g;

export interface TypistOptions {
  index: number;
  random: Random;
  /** Opens the text of the room, with what `save()` returned. */
  open(saved?: SavedText): LiveText;
  log(line: string): void;
}

export interface TokenTypist {
  readonly text: LiveText;
  readonly inserted: ReadonlySet<string>;
  readonly deleted: ReadonlySet<string>;
  readonly reloads: number;
  /** Why the text ended, which should not happen. It is opened again with what was saved. */
  readonly failures: readonly string[];
  readonly hasEnded: boolean;
  /** Stops typing, after the end of the current token. */
  stop(): Promise<void>;
}

/** A token that is being typed character by character. */
interface Typing {
  token: string;
  typed: number;
  caret: number;
}

export function startTypist({ index, random, open, log }: TypistOptions): TokenTypist {
  const [inserted, deleted] = [new Set<string>(), new Set<string>()];
  const failures: string[] = [];
  let [count, reloads, isStopped, hasEnded] = [0, 0, false, false];
  let lastToken = firstToken;
  let typing: Typing | undefined;
  let text = openText();

  function openText(saved?: SavedText): LiveText {
    const opened = open(saved);
    opened.on('change', ({ origin, edits }) => {
      if (typing && origin === 'remote' && opened === text) typing.caret = moved(typing.caret, edits);
    });
    opened.ended.catch((error) => {
      hasEnded = opened === text;
      failures.push(String(error.code ?? error));
      log(`ended: ${error}`);
    });
    return opened;
  }

  function newToken(kind: 't' | 'd'): string {
    const token = `<${kind}${index}.${++count}>`;
    inserted.add(token);
    return token;
  }

  function act(): Promise<void> | void {
    if (hasEnded) return reload();
    // Without saved edits, a caret has no place after a reload.
    if (random.number(40) === 0 && !(typing && text.state === 'synchronized')) return reload();
    if (typing) return type();
    const choice = random.number(40);
    if (choice < 3) return remove();
    if (choice < 5) return insertWhole(`${newToken('t')}${newToken('d')}${newToken('t')}`);
    if (choice < 20) return begin();
    for (let tokens = 1 + random.number(2); tokens > 0; tokens--) insertWhole(newToken('t'));
  }

  function insertWhole(tokens: string): void {
    const position = choosePosition();
    text.insert(position, tokens);
    log(`typed ${tokens} at ${position} of version ${text.version}`);
    lastToken = tokens;
  }

  function begin(): void {
    typing = { token: newToken('t'), typed: 0, caret: choosePosition() };
    log(`begins ${typing.token} at ${typing.caret} of version ${text.version}`);
    type();
  }

  function type(): void {
    if (!typing) return;
    const { token, typed, caret } = typing;
    const before = token.slice(0, typed);
    if (text.value.slice(caret - typed, caret) !== before) log(`torn while typing, after ${before}`);
    const next = token.slice(typed, typed + 1 + random.number(3));
    text.insert(caret, next);
    typing = { token, typed: typed + next.length, caret: caret + next.length };
    if (typing.typed < token.length) return;
    log(`finished ${token} at ${typing.caret} of version ${text.version}`);
    lastToken = token;
    typing = undefined;
  }

  /** Often where others type too: the start, the end, beside the first token or the last own one. */
  function choosePosition(): number {
    const { value } = text;
    const anchor = value.indexOf(random.number(2) === 0 ? firstToken : lastToken);
    const anchorLength = value.startsWith(firstToken, anchor) ? firstToken.length : lastToken.length;
    const beside = anchor < 0 ? 0 : anchor + (random.number(2) === 0 ? 0 : anchorLength);
    const wanted = random.pick([0, value.length, beside, beside, random.number(value.length + 1)]);
    const boundaries = boundariesOf(value);
    return boundaries.find((boundary) => boundary >= wanted) ?? boundaries.at(-1) ?? 0;
  }

  function remove(): void {
    const candidates = [...inserted].filter((token) => token.startsWith('<d') && !deleted.has(token));
    if (candidates.length === 0) return;
    const token = random.pick(candidates);
    const position = text.value.indexOf(token);
    if (position < 0) return;
    text.edit([{ from: position, to: position + token.length, insert: '' }]);
    deleted.add(token);
    log(`deleted ${token} at ${position} of version ${text.version}`);
  }

  /** Often with an edit in flight. The device may be away for a while. */
  async function reload(): Promise<void> {
    const { state, value } = text;
    const saved = text.save();
    log(`reloads in state ${state} with version ${text.version}, saved version ${saved?.version}`);
    text.close();
    hasEnded = false;
    if (random.number(3) === 0) await pause(random.number(2000));
    text = openText(saved && JSON.parse(JSON.stringify(saved)));
    reloads += 1;
    if (saved && text.value !== value) failures.push('another text after a reload');
  }

  async function run(): Promise<void> {
    while (!isStopped || typing) {
      await pause(30 + random.number(200));
      if (text.state !== 'loading' || hasEnded) await act();
    }
  }

  const done = run();
  return {
    inserted,
    deleted,
    failures,
    get text() {
      return text;
    },
    get hasEnded() {
      return hasEnded;
    },
    get reloads() {
      return reloads;
    },
    async stop() {
      isStopped = true;
      await done;
    },
  };
}

/** A caret that others move: text that they insert exactly at it goes after it. */
function moved(position: number, edits: TextChange['edits']): number {
  let shift = 0;
  for (const { from, to, insert } of edits) {
    if (from >= position) break;
    shift += to <= position ? insert.length - (to - from) : from - position;
  }
  return position + shift;
}

/** Ascending. Empty if the text consists of one token that someone is typing. */
function boundariesOf(value: string): number[] {
  const inner = Array.from(value.matchAll(innerBoundary), ({ index }) => index + 1);
  const first = value === '' || value.startsWith('<t') ? [0] : [];
  return [...first, ...inner, ...(value.endsWith('>') ? [value.length] : [])];
}

export interface TokenReport {
  tokens: number;
  /** Tokens, and groups with a token that may be deleted, that have other text inside. */
  torn: { token: string; context: string }[];
  lost: string[];
  doubled: string[];
  /** Tokens that were deleted, and are there nevertheless. */
  undeleted: string[];
  /** Text that belongs to no token. */
  rest: string;
}

/** Removes whole tokens again and again: tokens that appear after the first time had other tokens inside. */
export function checkTokens(text: string, typists: readonly Pick<TokenTypist, 'inserted' | 'deleted'>[]): TokenReport {
  const inserted = new Set([firstToken, ...typists.flatMap(({ inserted }) => [...inserted])]);
  const deleted = new Set(typists.flatMap(({ deleted }) => [...deleted]));
  const found = new Map<string, number>();
  const torn: string[] = [];
  let rest = text;
  for (let isFirst = true; ; isFirst = false) {
    const tokens = (rest.match(wholeToken) ?? []).filter((token) => inserted.has(token));
    if (tokens.length === 0) break;
    for (const token of tokens) found.set(token, (found.get(token) ?? 0) + 1);
    if (!isFirst) torn.push(...tokens);
    rest = rest.replace(wholeToken, (token) => (inserted.has(token) ? '' : token));
  }
  const missing = [...inserted.difference(deleted)].filter((token) => !found.has(token));
  const lost: string[] = [];
  // Tokens that are torn into each other leave their characters.
  let loose = rest;
  for (const token of missing) {
    const remaining = without(loose, token);
    if (remaining === undefined) lost.push(token);
    else {
      torn.push(token);
      loose = remaining;
    }
  }
  return {
    tokens: inserted.size - deleted.size,
    torn: [...torn, ...tornGroups(text)].map((token) => ({ token, context: contextOf(token, text) })),
    lost,
    doubled: [...found].filter(([, times]) => times > 1).map(([token]) => token),
    undeleted: [...deleted].filter((token) => found.has(token)),
    rest: loose,
  };
}

/** Removes these characters, in any order; undefined if one is not there. */
function without(text: string, characters: string): string | undefined {
  let remaining = text;
  for (const character of characters) {
    if (!remaining.includes(character)) return undefined;
    remaining = remaining.replace(character, '');
  }
  return remaining;
}

/** Nobody types beside a token that may be deleted, so its neighbours stay those that were typed with it. */
function tornGroups(text: string): string[] {
  return Array.from(text.matchAll(/<d(\d+)\.(\d+)>/g)).flatMap(({ 0: token, 1: typist, 2: count, index }) => {
    const [before, after] = [`<t${typist}.${Number(count) - 1}>`, `<t${typist}.${Number(count) + 1}>`];
    return text.endsWith(before, index) && text.startsWith(after, index + token.length) ? [] : [token];
  });
}

/** The text around the longest start of a token that no other token has. */
function contextOf(token: string, text: string): string {
  for (let length = token.length - 1; length > 0; length--) {
    const index = text.search(new RegExp(`${RegExp.escape(token.slice(0, length))}(?![\\d.>])`));
    if (index >= 0) return text.slice(Math.max(0, index - 60), index + 200);
  }
  return '';
}
