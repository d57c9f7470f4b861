/** The strings of the page, in all languages. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { languageCodes } from '../../web/src/i18n/languages.ts';
import type { Plural, StringKey } from '../../web/src/i18n/translation.ts';
import { tables } from '../page/support/translations.ts';

const english = tables.en;
const keys = Object.keys(english) as StringKey[];
const sources = fileURLToPath(new URL('../../web/src', import.meta.url));

/** English strings up to this length are labels, which have little space. */
const labelLength = 24;

const formsOf = (entry: string | Plural): string[] => (typeof entry === 'string' ? [entry] : Object.values(entry));
const placeholdersOf = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).toSorted();
const lengthOf = (entry: string | Plural) => Math.max(...formsOf(entry).map((form) => form.length));

/** The plural forms that a language needs for counts of files, devices and attempts. */
function neededForms(language: string): string[] {
  const rules = new Intl.PluralRules(language);
  const ofCounts = Array.from({ length: 1000 }, (_, n) => rules.select(n));
  // Every language has "other". In some, only fractions have it.
  return [...new Set([...ofCounts, 'other'])].toSorted();
}

const englishParts = (): string[] =>
  globSync('i18n/languages/en/*.json', { cwd: sources })
    .toSorted()
    .flatMap((part) => Object.keys(JSON.parse(readFileSync(`${sources}/${part}`, 'utf8'))));

describe('the strings of the page', () => {
  it('are all used', () => {
    assert.deepEqual(keys, englishParts(), 'no name is used twice, and en.json is generated from the parts');
    const files = globSync('**/*.{ts,tsx}', { cwd: sources });
    const code = files.map((file) => readFileSync(`${sources}/${file}`, 'utf8')).join('\n');
    const unused = keys.filter((key) => !new RegExp(`(['"\`])${key}\\1|\\b${key}:`).test(code));
    assert.deepEqual(unused, []);
  });

  for (const language of languageCodes) {
    it(`[PAGE-20] are complete in "${language}", with the placeholders and plural forms that they need`, () => {
      const strings = tables[language];
      assert.deepEqual(Object.keys(strings).toSorted(), keys.toSorted());
      for (const key of keys) {
        const entry = strings[key];
        const expected = placeholdersOf(formsOf(english[key]).at(-1) ?? '');
        const forms = typeof entry === 'string' ? { other: entry } : entry;
        for (const [form, text] of Object.entries(forms)) {
          // "One file" needs no number.
          const found = placeholdersOf(text);
          const isComplete = String(found) === String(expected);
          assert.ok(isComplete || (isSingular(form) && !found.includes('{n}')), `${key}: "${text}" has ${found}`);
          assert.ok(text.trim() === text && text !== '' && !text.includes('...'), `${key}: "${text}"`);
        }
        if (typeof entry !== 'string' || typeof english[key] !== 'string')
          assert.deepEqual(Object.keys(forms).toSorted(), neededForms(language), key);
      }
    });

    it(`are short enough in "${language}"`, () => {
      const strings = tables[language];
      const tooLong = keys.filter((key) => {
        const source = lengthOf(english[key]);
        return lengthOf(strings[key]) > (source <= labelLength ? source * 2 + 8 : source * 1.7);
      });
      assert.deepEqual(
        tooLong.map((key) => `${key}: ${formsOf(strings[key])}`),
        [],
      );
    });
  }
});

const isSingular = (form: string) => form === 'one' || form === 'two' || form === 'zero';
