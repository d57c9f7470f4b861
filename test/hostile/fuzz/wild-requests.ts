/** Requests that the document does not allow, except that they are HTTP. */
import fc from 'fast-check';
import type { Draft } from './draft.ts';
import { anyCharacter, contentTypes, headerText, oddJson, targetText } from './odd-values.ts';
import type { Operation } from './operations.ts';
import { roomNumberOf } from './valid-requests.ts';

export function wildRequest(operation: Operation): fc.Arbitrary<Draft> {
  const { method, path, parameters } = operation;
  const names = ['Accept', 'Range', 'If-Match', 'If-None-Match', ...parameters.map(({ name }) => name)];
  return fc
    .record({
      method: fc.oneof({ weight: 3, arbitrary: fc.constant(method) }, fc.constantFrom('GET', 'POST', 'DELETE', 'PUT')),
      path: fc.oneof({ weight: 3, arbitrary: fc.constant(path) }, anyPath),
      query: fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names), targetText), targetText), { maxLength: 4 }),
      headers: fc.array(fc.tuple(fc.constantFrom(...names), headerText), { maxLength: 4 }),
      type: contentTypes,
      body: anyBody,
      inChunks: fc.boolean(),
      locked: fc.boolean(),
      roomNumber: roomNumberOf(operation),
    })
    .map(({ type, headers, ...rest }) => ({ about: 'wild', ...rest, headers: [...headers, ['Content-Type', type]] }));
}

const anyPath = fc.array(targetText, { minLength: 1, maxLength: 4 }).map((segments) => {
  return `/${segments.join('/').replaceAll('?', '%3f').slice(0, 6000)}`;
});

const anyBody: fc.Arbitrary<Draft['body']> = fc.oneof(
  fc.constant(undefined),
  fc.uint8Array({ maxLength: 3000 }).map((bytes) => Buffer.from(bytes)),
  oddJson.map((text) => Buffer.from(text)),
  fc.string({ unit: anyCharacter, maxLength: 300 }).map((text) => Buffer.from(text, 'utf16le')),
  fc
    .array(
      fc.constantFrom(
        '--xyzzy',
        '--xyzzy--',
        '\r\n',
        'Content-Disposition: form-data; name="file"; filename="a"',
        '\r\n\r\n',
        '\0',
        'x',
      ),
      { maxLength: 30 },
    )
    .map((pieces) => Buffer.from(pieces.join(''))),
);
