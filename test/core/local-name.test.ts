/** The name under which a downloaded file is stored. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { localName, localPaths, pathsWithoutFolders } from '../../src/core/files/local-name.ts';
import { anyText } from '../contract/any-text.ts';
import { cpuMsOf } from '../support/cpu-time.ts';

const harmful = fc.constantFrom(
  ...[
    '/',
    '\\',
    '.',
    '..',
    ' ',
    '-',
    '~',
    ':',
    '\0',
    '\r\n',
    '\u202e',
    '\u200b',
    '\u200d',
    '\ufe0f',
    '\u3000',
    '\ud800',
  ],
  ...['con', 'NUL', 'com1', '.git', '.tar.gz', 'ß', 'ẞ', 'é', 'e\u0301', '👩‍👩‍👧', 'a'.repeat(200)],
);
const anyName = fc.array(fc.oneof(harmful, anyText(10)), { maxLength: 20 }).map((parts) => parts.join(''));

const device = /^(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9¹²³])[ ]*(\.|:|$)/i;

describe('the name of a fetched file', () => {
  const renamed: [name: string, becomes: string][] = [
    ['.bash_profile', '_.bash_profile'],
    ['.git', '_.git'],
    ['.g\u200cit', '_.g\u200cit'],
    ['..', 'file'],
    ['...', 'file'],
    [' . ', 'file'],
    ['..bashrc', '_..bashrc'],
    ['\u200b.bashrc', '_.bashrc'],
    ['\u200d.bashrc', '_.bashrc'],
    ['\u2060\u00ad.ssh', '_.ssh'],
    [' .profile', '_.profile'],
    ['folder/.npmrc', '_.npmrc'],
    ['-rf', '_-rf'],
    ['~', '_~'],
    ['CON', '_CON'],
    ['con.txt', '_con.txt'],
    ['nul.tar.gz', '_nul.tar.gz'],
    ['aux .c', '_aux .c'],
    ['COM1', '_COM1'],
    ['lpt9.log', '_lpt9.log'],
    ['com¹', '_com¹'],
    ['CONIN$', '_CONIN$'],
    ['Desktop.ini', '_Desktop.ini'],
    ['autorun.inf', '_autorun.inf'],
    ['trailing. . .', 'trailing'],
    ['trailing ', 'trailing'],
    ['a\u3164b\u2028c.txt', 'abc.txt'],
  ];
  it('[CLI-21] starts with "_" if it would be hidden or has a special meaning for a system', () => {
    for (const [name, becomes] of renamed) assert.equal(localName(name), becomes, JSON.stringify(name));
  });

  it('[CLI-21] is unchanged if it is safe', () => {
    const names = [
      'photo.jpg',
      'console.log',
      'com10',
      'Ferien 2026 (2).tar.gz',
      '日本語.txt',
      '👩‍👩‍👧.png',
      'a.b.c',
      '_',
    ];
    for (const name of names) assert.equal(localName(name), name);
  });

  it('[CLI-21] has no characters that Windows does not allow, on Windows', () => {
    assert.equal(localName('12:30 <what?>.txt', 'win32'), '12_30 _what__.txt');
    assert.equal(localName('a.txt:hidden', 'win32'), 'a.txt_hidden');
    assert.equal(localName('12:30?', 'linux'), '12:30?');
  });

  it('[CLI-21] is safe, whatever the server sends', () => {
    const isSafe = (name: string) => {
      assert.match(name, /^[^./\\\s~-]/u);
      assert.doesNotMatch(name, /[.\s]$/);
      assert.doesNotMatch(name, device);
      assert.doesNotMatch(name, /[\p{Cc}\p{Bidi_Control}/\\]/u);
      assert.ok(Buffer.byteLength(name) <= 255 && name.isWellFormed());
    };
    fc.assert(
      fc.property(anyName, (name) => [localName(name, 'linux'), localName(name, 'win32')].forEach(isSafe)),
      { numRuns: 1000 },
    );
  });

  it('[CLI-21] is unique within the room, even on a case-insensitive disk', () => {
    const onDisk = (name: string) =>
      name
        .replaceAll(/\u200c|\u200d|\ufe0f/g, '')
        .normalize('NFD')
        .toLowerCase();
    const areDistinct = fc.property(fc.array(anyName, { maxLength: 12 }), (names) => {
      const all = localNames([...names, ...names]).map(onDisk);
      assert.equal(new Set(all).size, all.length, String(all));
    });
    fc.assert(areDistinct, { numRuns: 500 });
    const alike = ['.a', '_.a', 'a\u200b', 'a', 'A.', 'a (2)', 'straße', 'STRASSE', 'STRAẞE'];
    const expected = ['_.a', '_ (2).a', 'a', 'a (2)', 'A (3)', 'a (2) (2)', 'straße', 'STRASSE (2)', 'STRAẞE (3)'];
    assert.deepEqual(localNames(alike), expected);
  });

  it('[CLI-21] is computed quickly, however long and however many the names are', () => {
    const cpuMs = cpuMsOf(() => {
      assert.equal(Buffer.byteLength(localName(`${'ü'.repeat(10_000_000)}.txt`)), 254);
      assert.equal(localNames(Array.from({ length: 5_000 }, () => 'a.txt')).at(-1), 'a (5000).txt');
    }, 5000);
    assert.ok(cpuMs < 5000, `${cpuMs} ms of CPU`);
  });
});

const localNames = (names: readonly string[]) =>
  pathsWithoutFolders(names.map((fileName) => ({ fileName }))).map(([name = '']) => name);

describe('the path of a fetched file', () => {
  it('[CLI-30] keeps the files of a folder together, and numbers folders that a disk could confuse', () => {
    const files = [
      ['photos', 'a'],
      ['Photos', 'a'],
      ['photos', 'A'],
      ['photos/2026', 'b'],
      ['', 'PHOTOS'],
      ['', 'PHOTOS (3)'],
      ['photos', 'b'],
    ].map(([folder, fileName = '']) => ({ folder, fileName }));
    const expected = [
      'photos/a',
      'Photos (2)/a',
      'photos/A (2)',
      'photos/2026/b',
      'PHOTOS (3)',
      'PHOTOS (3) (2)',
      'photos/b',
    ];
    assert.deepEqual(
      localPaths(files).map((path) => path.join('/')),
      expected,
    );
  });

  it('[CLI-30] has only safe segments and is unique, whatever the server sends', () => {
    const onDisk = (path: readonly string[]) => path.join('/').normalize('NFD').toLowerCase();
    const anyFile = fc.record({ folder: fc.option(anyName, { nil: undefined }), fileName: anyName });
    const areSafe = fc.property(fc.array(anyFile, { maxLength: 8 }), (files) => {
      const paths = localPaths([...files, ...files]);
      for (const segment of paths.flat()) assert.match(segment, /^[^./\\\s~-][^/\\\0]*$/u);
      for (const path of paths) assert.ok(path.length <= 33);
      assert.equal(new Set(paths.map(onDisk)).size, paths.length);
    });
    fc.assert(areSafe, { numRuns: 500 });
  });
});
