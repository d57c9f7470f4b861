/** Stalled clients: those with an incomplete body receive an error, and all are disconnected. */
import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { abortSignalOf, deadlinePassed } from '../../src/http/request/body.ts';
import { receiveForm } from '../../src/http/request/form.ts';
import { assertError } from '../support/assert-error.ts';
import { field, filePart, form, formType } from '../support/form.ts';
import { fromRawResponse } from '../support/raw-http.ts';
import { openRawSocket, type RawSocket, requestHead } from '../support/raw-socket.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertNothingStored } from '../support/stored-blobs.ts';

/** Long enough for all that a first request has to load, and for a stall: a response that takes longer is lost. */
const idleTimeoutMs = 5000;

interface Body {
  path: string;
  headers: Record<string, string>;
  /** The data before the pause, and the data that comes too late. */
  begun: string;
  rest: string;
}

const text = JSON.stringify({ content: 'late' });
const wholeForm = form(field('pin', '0427'), filePart('late')).toString();
const json = { 'Content-Type': 'application/json' };
const bare = { 'Content-Type': 'text/plain', 'X-File-Name': 'late.txt' };

const bodies: Record<string, Body> = {
  'a text': { path: '/content', headers: json, ...splitAt(text, 'la') },
  'a text of which nothing has arrived': { path: '/content', headers: json, ...splitAt(text, '') },
  'a file': { path: '/upload', headers: bare, begun: 'la', rest: 'te' },
  'a form before its file': { path: '/upload', headers: { 'Content-Type': formType }, ...splitAt(wholeForm, '0427') },
  'a form in its file': { path: '/upload', headers: { 'Content-Type': formType }, ...splitAt(wholeForm, 'la') },
};

describe('a stalled connection', { timeout: 60_000, concurrency: true }, () => {
  for (const [what, body] of Object.entries(bodies)) {
    it(`[slow] [RUN-7] [ERR-1] [UP-6] in a body is rejected and closed, and late bytes are ignored: ${what}`, async (t) => {
      const server = await startTestServer(t, {}, { idleTimeoutMs });
      const room = await server.api.room();
      const socket = await begin(t, server, room, body);
      const { headers, ...answer } = fromRawResponse(await socket.response());
      assertError({ headers, ...answer }, 400, 'VALIDATION_FAILED');
      assert.match(answer.text, /took too long/);
      assert.equal(headers.get('connection'), 'close');
      await socket.send(body.rest);
      await socket.closed();
      assert.equal(socket.unread(), '');
      await assertNothingStored(server, room);
      assert.equal((await server.api.get(`/api/rooms/${room}/content`)).json.content, '');
    });
  }

  it('[RUN-7] is closed without a response if there is no request', async (t) => {
    const { port, api } = await startTestServer(t, {}, { idleTimeoutMs });
    const socket = await openRawSocket(t, port);
    await socket.send(requestHead('GET', '/api/health'));
    assert.equal((await socket.response()).status, 200);
    await socket.closed();
    assert.equal(socket.unread(), '');
    assert.equal((await api.get('/api/health')).status, 200);
  });
});

describe('a form', () => {
  const space = { isTooLarge: () => false, tooLarge: () => assert.fail('the form is small') };
  for (const [event, message] of [
    ['timeout', /took too long/],
    ['close', /ended before its body did/],
  ] as const) {
    it(`[RUN-7] [UP-6] is rejected at its ${event}, even while the form parser is being loaded`, async () => {
      const raw = new IncomingMessage(new Socket());
      raw.headers['content-type'] = formType;
      const received = receiveForm(raw, { signal: abortSignalOf(raw), space }, () => assert.fail('there was no file'));
      raw.emit(event);
      await assert.rejects(received, { code: 'VALIDATION_FAILED', message });
    });
  }
});

describe('an upload that takes longer than other requests', () => {
  it('[UP-14] may go on while it is fast enough', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    let bytesRead = 10_000_000;
    const socket = Object.defineProperty(new Socket(), 'bytesRead', { get: () => bytesRead });
    const raw = new IncomingMessage(socket);
    const signal = abortSignalOf(raw);
    raw.emit('timeout', deadlinePassed);
    for (let minute = 0; minute < 3; minute++) {
      bytesRead += 60 * 8 * 1024;
      t.mock.timers.tick(60_000);
      assert.equal(signal.aborted, false);
    }
    bytesRead += 60 * 8 * 1024 - 1;
    t.mock.timers.tick(60_000);
    assert.equal(signal.reason?.code, 'VALIDATION_FAILED');
  });

  it('[UP-14] ends at the deadline if it was too slow', () => {
    const raw = new IncomingMessage(new Socket());
    const signal = abortSignalOf(raw);
    raw.emit('timeout', deadlinePassed);
    assert.equal(signal.aborted, true);
  });
});

async function begin(
  t: TestContext,
  { port }: TestServer,
  room: string,
  { path, headers, begun, rest }: Body,
): Promise<RawSocket> {
  const socket = await openRawSocket(t, port);
  const length = { 'Content-Length': Buffer.byteLength(begun + rest) };
  await socket.send(requestHead('POST', `/api/rooms/${room}${path}`, { ...headers, ...length }) + begun);
  return socket;
}

/** After the first place where it says so. */
function splitAt(whole: string, end: string): Pick<Body, 'begun' | 'rest'> {
  const at = whole.indexOf(end) + end.length;
  return { begun: whole.slice(0, at), rest: whole.slice(at) };
}
