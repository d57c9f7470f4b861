/** Ways to make a valid request invalid in one place. */
import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { bodyBytes, type Draft } from './draft.ts';
import { contentTypes, headerText, oddJson, oddNames, targetText } from './odd-values.ts';
import type { Operation } from './operations.ts';
import { validRequest } from './valid-requests.ts';

type Spoiling = fc.Arbitrary<(draft: Draft) => Draft>;

export function nearlyValidRequest(operation: Operation): fc.Arbitrary<Draft> {
  const inHead = [oneParameterOdd(operation), ...headSpoilings];
  const hasBody = operation.bodySchema !== undefined || operation.takesFile;
  const spoilings = [...inHead, ...(hasBody ? bodySpoilings : []), ...(operation.bodySchema ? fieldSpoilings : [])];
  return fc.tuple(validRequest(operation), fc.oneof(...spoilings)).map(([draft, spoil]) => spoil(draft));
}

/** Rejected on every path, also where there is little else to get wrong. */
export function withSecondHost(operation: Operation): fc.Arbitrary<Draft> {
  return fc.tuple(validRequest(operation), secondHost).map(([draft, spoil]) => spoil(draft));
}

const spoiling = <T>(
  about: string,
  chosen: fc.Arbitrary<T>,
  change: (draft: Draft, it: T) => Partial<Draft>,
): Spoiling => chosen.map((it) => (draft) => ({ ...draft, about, ...change(draft, it) }));

/** One that the document knows: of another form, twice, or where it does not belong. */
function oneParameterOdd({ parameters }: Operation): Spoiling {
  const known = parameters.map(({ name }) => name);
  const names = fc.constantFrom('X-Room-Pin', 'X-Device-Id', 'pin', ...known);
  return fc.oneof(
    spoiling('an odd header', fc.tuple(names, headerText), (draft, header) => ({
      headers: [...without(draft, header[0]), header],
    })),
    spoiling('an odd query', fc.tuple(names, targetText), (draft, pair) => ({ query: [...draft.query, pair] })),
    spoiling('an odd room', targetText, (draft, text) => ({
      path: draft.path.replace('{roomId}', () => segment(text)),
    })),
    spoiling('an odd file', targetText, (draft, text) => ({
      path: draft.path.replace('{fileId}', () => segment(text)),
    })),
  );
}

const segment = (text: string) => text.replaceAll('?', '%3f');
const without = ({ headers }: Draft, name: string) => headers.filter(([other]) => other !== name);

const methods = fc.constantFrom(
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
);
const otherHeaders = fc.constantFrom(
  ...[
    'Range',
    'If-Range',
    'If-Match',
    'If-None-Match',
    'If-Modified-Since',
    'Last-Event-ID',
    'Accept',
    'Accept-Encoding',
  ],
  ...[
    'Authorization',
    'X-API-Key',
    'Cookie',
    'Origin',
    'X-Forwarded-For',
    'X-Forwarded-Proto',
    'X-Forwarded-Host',
    'Forwarded',
  ],
  ...[
    'Content-Encoding',
    'Content-Language',
    'Content-Range',
    'X-File-Name',
    'X-HTTP-Method-Override',
    'Via',
    'TE',
    'Trailer',
  ],
);
const likelyValues = fc.constantFrom(
  ...[
    'bytes=0-',
    'bytes=-1',
    'bytes=5-2',
    'bytes=0-0,2-3',
    'bytes=99999999999999999999-',
    'items=0-1',
    '"0"',
    '"1"',
    '*',
    'gzip',
  ],
  ...[
    'br;q=0, *;q=0',
    'identity',
    'Bearer',
    `Bearer pop_${'a'.repeat(32)}`,
    'Basic Og==',
    '::1',
    '10.0.0.1, 127.0.0.1',
    'https',
  ],
);
const pathChanges = fc.constantFrom<(path: string) => string>(
  (path) => `${path}/`,
  (path) => path.replace('/', '//'),
  (path) =>
    path
      .toUpperCase()
      .replace('{ROOMID}', '{roomId}')
      .replace('{FILEID}', '{fileId}')
      .replace('{VERSION}', '{version}'),
  (path) => path.replaceAll('/', '%2f').replace('%2f', '/'),
  (path) => `/x/..${path}`,
  (path) => `${path};x=y`,
  (path) => `${path}%00`,
  (path) => `${path}#x`,
);

const secondHost = spoiling('a second Host', fc.constantFrom('localhost', 'elsewhere'), (draft, host) => ({
  headers: [...draft.headers, ['Host', host]],
}));

const headSpoilings: Spoiling[] = [
  spoiling('another method', methods, (_, method) => ({ method })),
  spoiling('a changed path', pathChanges, (draft, change) => ({ path: change(draft.path) })),
  spoiling('another header', fc.tuple(otherHeaders, fc.oneof(likelyValues, headerText)), (draft, header) => ({
    headers: [...draft.headers, header],
  })),
  spoiling('the same header twice', otherHeaders, (draft, name) => ({
    headers: [...draft.headers, ...draft.headers.slice(0, 1), [name, '"1"'], [name, '"2"']],
  })),
  secondHost,
  spoiling('the other kind of room', fc.constant(undefined), ({ locked }) => ({ locked: !locked })),
  spoiling('100-continue', fc.constant(undefined), (draft) => ({
    headers: [...draft.headers, ['Expect', '100-continue']],
  })),
];

const bodySpoilings: Spoiling[] = [
  spoiling('another content type', contentTypes, (draft, type) => ({
    headers: [...without(draft, 'Content-Type'), ['Content-Type', type]],
  })),
  spoiling('no content type', fc.constant(undefined), (draft) => ({ headers: without(draft, 'Content-Type') })),
  spoiling('no body', fc.constantFrom(undefined, Buffer.alloc(0)), (_, body) => ({ body })),
  spoiling('changed bytes', fc.oneof(...byteChanges()), (draft, change) => ({
    body: change(bodyBytes(draft) ?? Buffer.alloc(0)),
  })),
];

const fieldSpoilings: Spoiling[] = [
  spoiling('an odd field', fc.tuple(fc.nat(9), oddJson), (draft, [n, value]) => ({ body: withField(draft, n, value) })),
  spoiling('a missing field', fc.nat(9), (draft, n) => ({ body: withField(draft, n, undefined) })),
  spoiling('an unknown field', fc.tuple(oddNames, oddJson), ({ body }, pair) => ({
    body: new Map([...fieldsOf(body), pair]),
  })),
  spoiling('no object', oddJson, (_, text) => ({ body: Buffer.from(text) })),
];

const fieldsOf = (body: Draft['body']) => (body instanceof Map ? [...body] : []);

function withField({ body }: Draft, n: number, value: string | undefined): Map<string, string> {
  const fields = fieldsOf(body);
  const [name] = fields[n % Math.max(1, fields.length)] ?? ['pin'];
  const others = fields.filter(([other]) => other !== name);
  return new Map(value === undefined ? others : [...others, [name, value]]);
}

type ByteChange = fc.Arbitrary<(bytes: Buffer) => Buffer>;

function byteChanges(): ByteChange[] {
  const insert = (at: number, piece: Uint8Array) => (bytes: Buffer) => {
    const cut = bytes.length === 0 ? 0 : at % bytes.length;
    return Buffer.concat([bytes.subarray(0, cut), piece, bytes.subarray(cut)]);
  };
  return [
    fc.nat(2000).map((at) => (bytes) => bytes.subarray(0, bytes.length === 0 ? 0 : at % bytes.length)),
    fc.tuple(fc.nat(2000), fc.uint8Array({ minLength: 1, maxLength: 8 })).map(([at, piece]) => insert(at, piece)),
    fc.constantFrom<(bytes: Buffer) => Buffer>(
      (bytes) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
      (bytes) => Buffer.from(bytes.toString('latin1'), 'utf16le'),
      (bytes) => Buffer.concat([bytes, bytes]),
      (bytes) => Buffer.concat([Buffer.alloc(17_000, ' '), bytes]),
      (bytes) => gzipSync(bytes),
      (bytes) => deflateSync(bytes),
    ),
  ];
}
