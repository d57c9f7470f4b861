/** People who type words into a text, letter by letter, each word of letters that no other word has. */
import type { TextChange } from '../../src/client/text/shared-text.ts';
import { cutsPair } from '../../src/text/edits.ts';
import type { Random } from '../support/seeded-random.ts';
import type { SimulatedDevice } from './text-network.ts';

const maxWordLength = 8;

/** All words of a run of the test. */
export interface Words {
  create(): Word;
  /** Someone edits this range, which has letters of words in it or beside it. */
  touch(text: string, from: number, to: number): void;
  readonly all: readonly Word[];
}

export interface Word {
  /** The part that was typed so far. */
  typed: string;
  readonly next: () => string;
  /** Whether someone edited inside it or at its edge: then it need not stay whole. */
  isTouched: boolean;
}

export function createWords(): Words {
  const all: Word[] = [];
  const byLetter = new Map<string, Word>();

  return {
    all,

    create() {
      const first = all.length * maxWordLength;
      // Every other word has letters that are surrogate pairs.
      const base = all.length % 2 === 0 ? 0xe000 : 0xf0000;
      const word: Word = {
        typed: '',
        isTouched: false,
        next: () => {
          const letter = String.fromCodePoint(base + first + [...word.typed].length);
          byLetter.set(letter, word);
          return letter;
        },
      };
      all.push(word);
      return word;
    },

    touch(text, from, to) {
      for (let position = from; position <= to; position++) {
        for (const letter of [letterBefore(text, position), letterAfter(text, position)]) {
          const word = byLetter.get(letter);
          if (word) word.isTouched = true;
        }
      }
    },
  };
}

const letterBefore = (text: string, position: number): string =>
  text.slice(cutsPair(text, position - 1) ? position - 2 : Math.max(0, position - 1), position);

const letterAfter = (text: string, position: number): string => String.fromCodePoint(text.codePointAt(position) ?? 0);

export interface Typist {
  /** Types a letter, or goes elsewhere to begin a word or to delete something. */
  act(): void;
}

export function createTypist(random: Random, { text }: SimulatedDevice, words: Words): Typist {
  let caret = 0;
  let word: Word | undefined;

  text.on('change', ({ origin, edits }) => {
    if (origin === 'remote') caret = moved(caret, edits);
  });

  function goTo(position: number): void {
    caret = position;
    words.touch(text.value, caret, caret);
    word = words.create();
  }

  function type(): void {
    if (!word || [...word.typed].length === maxWordLength || random.number(8) === 0)
      goTo(anyPosition(random, text.value));
    const letter = word?.next() ?? '';
    text.insert(caret, letter);
    caret += letter.length;
    if (word) word.typed += letter;
  }

  function remove(): void {
    const from = anyPosition(random, text.value);
    const to = Math.min(anyPosition(random, text.value), from + 6);
    if (from >= to) return;
    words.touch(text.value, from, to);
    text.edit([{ from, to, insert: '' }]);
    word = undefined;
  }

  return { act: () => (random.number(12) === 0 ? remove() : type()) };
}

/** A caret that others move: what they insert exactly at it goes after it. */
function moved(position: number, edits: TextChange['edits']): number {
  let shift = 0;
  for (const { from, to, insert } of edits) {
    if (from >= position) break;
    shift += to <= position ? insert.length - (to - from) : from - position;
  }
  return position + shift;
}

/** Not inside a surrogate pair. */
export function anyPosition(random: Random, text: string): number {
  const position = random.number(text.length + 1);
  return cutsPair(text, position) ? position - 1 : position;
}
