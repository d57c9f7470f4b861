import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { cleanFileName } from '../../src/protocol/file-name.ts';
import { anyText } from '../contract/any-text.ts';

/** Any code units at all, and all too many of those that do harm. */
const harmful = fc.constantFrom(
  '/',
  '\\',
  '.',
  '..',
  ' ',
  '\u0000',
  '\r',
  '\n',
  '\u202e',
  '\u2066',
  '\ud800',
  '\udc00',
);
const harmless = fc.constantFrom('a', 'é', '漢', '👩‍👩‍👧', '.jpg', '-');
const anyName = fc
  .array(fc.oneof(harmful, harmless, anyText(20)), { maxLength: 200, size: 'max' })
  .map((parts) => parts.join(''));

describe('a cleaned file name', () => {
  const always = (claim: string, holds: (name: string) => boolean) => {
    it(`[UP-5] ${claim}, whatever the input is`, () => {
      fc.assert(
        fc.property(anyName, (raw) => holds(cleanFileName(raw))),
        { numRuns: 500 },
      );
    });
  };
  always('is at most 255 bytes long', (name) => Buffer.byteLength(name) <= 255);
  always('is never empty', (name) => name !== '');
  always('has no path in it', (name) => !/[/\\]/.test(name) && name !== '.' && name !== '..');
  always('has no control characters', (name) => !/\p{Cc}/u.test(name));
  always('has no direction marks or overrides', (name) => !/\p{Bidi_Control}/u.test(name));
  always('is well-formed text', (name) => name.isWellFormed());

  it('[UP-5] is unchanged if it is valid', () => {
    const names = [
      'photo.jpg',
      'a',
      '.gitignore',
      'Ferien 2026 (2).tar.gz',
      '日本語.txt',
      '👩‍👩‍👧.png',
      'naïve — “quoted”.md',
    ];
    for (const name of names) assert.equal(cleanFileName(name), name);
  });

  it('[UP-5] is the last part of a path', () => {
    assert.equal(cleanFileName('/etc/passwd'), 'passwd');
    assert.equal(cleanFileName('../../secret.txt'), 'secret.txt');
    assert.equal(cleanFileName('C:\\Users\\me\\photo.jpg'), 'photo.jpg');
    assert.equal(cleanFileName('a/b\\c'), 'c');
  });

  it('[UP-5] shows its true extension', () => {
    assert.equal(cleanFileName('photo\u202egpj.exe'), 'photogpj.exe');
    assert.equal(cleanFileName('invoice.pdf\u0000.exe'), 'invoice.pdf.exe');
    assert.equal(cleanFileName('in\r\nvoice.pdf\u2028'), 'invoice.pdf');
  });

  it('[UP-5] loses all control characters and direction marks', () => {
    for (let codePoint = 0; codePoint <= 0xffff; codePoint++) {
      const character = String.fromCharCode(codePoint);
      if (!/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u.test(character)) continue;
      assert.equal(cleanFileName(`a${character}b.txt`), 'ab.txt', codePoint.toString(16));
    }
  });

  it('[UP-5] is "file" if nothing is left', () => {
    for (const raw of ['', ' ', '.', '..', '/', 'folder/', '../..', '\u0000', '\u202e', '\ud800', ' .. ']) {
      assert.equal(cleanFileName(raw), 'file', JSON.stringify(raw));
    }
  });

  it('[UP-5] may have exactly 255 bytes', () => {
    const longest = `${'a'.repeat(251)}.jpg`;
    assert.equal(cleanFileName(longest), longest);
    assert.equal(cleanFileName(`a${longest}`), longest);
  });

  it('[UP-5] keeps its extension when it is cut', () => {
    const anyExtension = fc.constantFrom('.jpg', '.7z', '.jpeg', '.документ', '.sqlite3');
    const anyLetter = fc.constantFrom('a', 'é', '漢', '😀');
    const keepsExtension = fc.property(
      anyLetter,
      anyExtension,
      fc.integer({ min: 256, max: 3000 }),
      (letter, extension, length) => {
        const name = cleanFileName(letter.repeat(length) + extension);
        const stem = name.slice(0, -extension.length);
        assert.ok(name.endsWith(extension));
        assert.equal(stem.replaceAll(letter, ''), '', 'nothing but whole letters is left of it');
        assert.ok(Buffer.byteLength(name) > 255 - Buffer.byteLength(letter), 'and as many as there is room for');
      },
    );
    fc.assert(keepsExtension);
  });

  it('[UP-5] is cut anywhere if the part after its last dot is not an extension', () => {
    assert.equal(Buffer.byteLength(cleanFileName(`a.${'b'.repeat(300)}`)), 255);
    assert.equal(cleanFileName('a'.repeat(300)), 'a'.repeat(255));
  });
});
