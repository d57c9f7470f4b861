/** Complete but inconsistent forms, for whose rest a server could wait forever. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { closingBoundary, field, filePart, form, formType, type Part, partHead } from '../support/form.ts';
import { startTestServer } from '../support/server.ts';
import { assertNothingStored } from '../support/stored-blobs.ts';
import { streamed } from '../support/streamed-body.ts';

const noLimit = { POPROOM_FREE_LIMIT: '0' };

/** All of a part but the empty line after its headers. */
const headersOnly = (part: Part) => partHead(part).subarray(0, -2);
const whole = (part: Part) => Buffer.concat([partHead(part), Buffer.from(part.body), Buffer.from('\r\n')]);

const file = filePart('hello');
const pin = field('pin', '0427');
const bare = { disposition: 'name="file"', body: '' };

const forms: Record<string, Buffer[]> = {
  'a file whose headers do not end': [headersOnly(file), closingBoundary],
  'a file whose headers go on as rubbish': [
    headersOnly(file),
    Buffer.from(':%\xb5\r\n\0\r\n', 'latin1'),
    closingBoundary,
  ],
  'a PIN, and a file whose headers do not end': [whole(pin), headersOnly(file), closingBoundary],
  'a PIN whose headers do not end': [headersOnly(pin), closingBoundary],
  'a PIN whose headers do not end, and a file': [headersOnly(pin), whole(file), closingBoundary],
  'a file, and a PIN whose headers do not end': [whole(file), headersOnly(pin), closingBoundary],
  'a file, and another whose headers do not end': [whole(file), headersOnly(file), closingBoundary],
  'a part of no name whose headers do not end': [headersOnly(bare), closingBoundary],
  'a part of nothing': [Buffer.from('--xyzzy\r\n\r\n'), closingBoundary],
  'many parts of nothing': [...Array<Buffer>(9).fill(Buffer.from('--xyzzy\r\n\r\n')), closingBoundary],
  'a file of 200 kB, and a part of nothing': [
    whole(filePart('x'.repeat(200_000))),
    Buffer.from('--xyzzy\r\n\r\n'),
    closingBoundary,
  ],
};

describe('an inconsistent form', () => {
  for (const [what, parts] of Object.entries(forms)) {
    it(`[UP-1] [UP-6] [RUN-7] is rejected immediately and leaves nothing: ${what}`, async (t) => {
      const server = await startTestServer(t, noLimit);
      const room = await server.api.room();
      const headers = { 'content-type': formType };
      for (const body of [Buffer.concat(parts), streamed(Buffer.concat(parts))]) {
        const response = await server.api.post(`/api/rooms/${room}/upload`, { body, headers });
        assertError(response, 400, 'VALIDATION_FAILED');
        await assertNothingStored(server, room);
      }
      assert.equal((await server.api.post(`/api/rooms/${room}/upload`, { body: form(file), headers })).status, 201);
    });
  }
});
