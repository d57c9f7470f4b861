/** Complete but inconsistent forms, for whose rest a server could wait forever. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { closing, field, filePart, form, formType, opening, type Part } from '../support/form.ts';
import { startTestServer } from '../support/server.ts';
import { streamed } from '../support/streamed-body.ts';
import { assertNothingStays } from '../support/upload-folder.ts';

const noLimit = { POPROOM_FREE_LIMIT: '0' };

/** All of a part but the empty line after its headers. */
const headersOnly = (part: Part) => opening(part).subarray(0, -2);
const whole = (part: Part) => Buffer.concat([opening(part), Buffer.from(part.body), Buffer.from('\r\n')]);

const file = filePart('hello');
const pin = field('pin', '0427');
const bare = { disposition: 'name="file"', body: '' };

const forms: Record<string, Buffer[]> = {
  'a file whose headers do not end': [headersOnly(file), closing],
  'a file whose headers go on as rubbish': [headersOnly(file), Buffer.from(':%\xb5\r\n\0\r\n', 'latin1'), closing],
  'a PIN, and a file whose headers do not end': [whole(pin), headersOnly(file), closing],
  'a PIN whose headers do not end': [headersOnly(pin), closing],
  'a PIN whose headers do not end, and a file': [headersOnly(pin), whole(file), closing],
  'a file, and a PIN whose headers do not end': [whole(file), headersOnly(pin), closing],
  'a file, and another whose headers do not end': [whole(file), headersOnly(file), closing],
  'a part of no name whose headers do not end': [headersOnly(bare), closing],
  'a part of nothing': [Buffer.from('--xyzzy\r\n\r\n'), closing],
  'many parts of nothing': [...Array<Buffer>(9).fill(Buffer.from('--xyzzy\r\n\r\n')), closing],
  'a file of 200 kB, and a part of nothing': [
    whole(filePart('x'.repeat(200_000))),
    Buffer.from('--xyzzy\r\n\r\n'),
    closing,
  ],
};

describe('an inconsistent form', { timeout: 30_000 }, () => {
  for (const [what, parts] of Object.entries(forms)) {
    it(`[UP-1] [UP-6] [RUN-7] is rejected immediately and leaves nothing: ${what}`, async (t) => {
      const server = await startTestServer(t, noLimit);
      const room = await server.api.room();
      const headers = { 'content-type': formType };
      for (const body of [Buffer.concat(parts), streamed(Buffer.concat(parts))]) {
        const answer = await server.api.post(`/api/rooms/${room}/upload`, { body, headers });
        assertError(answer, 400, 'VALIDATION_FAILED');
        await assertNothingStays(server, room);
      }
      assert.equal((await server.api.post(`/api/rooms/${room}/upload`, { body: form(file), headers })).status, 201);
    });
  }
});
