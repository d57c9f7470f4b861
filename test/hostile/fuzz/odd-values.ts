/** Values that someone was once caught out by. */
import fc from 'fast-check';

/** Like the unit `binary` of fast-check, which first builds a map of all 1.1 million characters. */
export const anyCharacter = fc.nat(0x10f7ff).map(
  (n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800),
  (character) => {
    const [first = '', ...more] = [...String(character)];
    if (first === '' || more.length > 0) throw new Error('It is not a character.');
    const code = first.codePointAt(0) as number;
    return code < 0xd800 ? code : code - 0x800;
  },
);

/** Texts in the place of a JSON value; not all of them are JSON. */
export const oddJson = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('null', 'true', '0', '-0', '-1', '59', '60', '60.5', '604801', '[]', '{}', '""'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('1e400', '-1e400', '1e-400', `1${'0'.repeat(400)}`, '9007199254740993', 'NaN', '0x10'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('"\\ud800"', '"\\udc00\\ud800"', '"a\\udfffb"', '"\\u0000"', '"\u0000"', '"\ufeff"'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '"0427 "',
      '"04270"',
      '"042"',
      '"٠٤٢٧"',
      '"０４２７"',
      '427',
      '["0427"]',
      '{"toString":1}',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(nested('[', ']', 5000), nested('{"a":', '}', 2000), nested('[', ']', 100_000)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(`"${'x'.repeat(20_000)}"`, `"${'\\u0000'.repeat(3000)}"`, `[${'1,'.repeat(5000)}1]`),
  },
  { weight: 3, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string() },
);

export const oddNames = fc.constantFrom(
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'PIN',
  'pin ',
  'content\u0000',
  '',
  'x'.repeat(500),
  '\u202e',
);

/** Characters that HTTP allows in the value of a header: all that do not end a line. */
export const headerText = fc.oneof(
  fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((c) => c !== 0x7f && (c < 0x7f || c > 0x9f))
      .map((c) => String.fromCharCode(c)),
    maxLength: 80,
  }),
  fc.constantFrom(
    '',
    ' ',
    ',',
    '"',
    '*',
    'W/"1"',
    '"1", "2"',
    '""',
    '%',
    '%00',
    '%ff',
    '%f0%9f%98%80',
    '..%2f..',
    '-1',
    '0',
    '1e9',
    'null',
    '\xff',
    'x'.repeat(3000),
  ),
);

/** Characters that HTTP allows in a path. */
export const targetText = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((c) => String.fromCharCode(c)), maxLength: 60 }),
  fc.string({ unit: anyCharacter, maxLength: 20 }).map(encodeURIComponent),
  fc.constantFrom(
    '%',
    '%00',
    '%2e%2e',
    '%2f',
    '..',
    '.',
    '%c0%ae',
    '%ed%a0%80',
    '+',
    '__proto__',
    'constructor',
    ';a=b',
    'a'.repeat(3000),
  ),
);

export const contentTypes = fc.constantFrom(
  '',
  'text/plain',
  'application/json',
  'application/json; charset=utf-16',
  'application/json; charset=latin1',
  'APPLICATION/JSON;Charset="UTF-8"',
  'application/json, application/json',
  'application/json;'.repeat(50),
  'application/problem+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary=xyzzy',
  'multipart/form-data; boundary="xyzzy',
  `multipart/form-data; boundary=${'x'.repeat(300)}`,
  'multipart/form-data; boundary=*xyzzy*; charset=utf-7',
  'multipart/mixed; boundary=xyzzy',
  'image/svg+xml',
  'text/html; charset=utf-7',
  '*/*',
  '/',
  '\xe9/\xe9',
);

function nested(open: string, close: string, depth: number): string {
  return open.repeat(depth) + (open === '[' ? '' : '1') + close.repeat(depth);
}
