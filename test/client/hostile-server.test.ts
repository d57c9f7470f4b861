/** A server that does not keep to the protocol. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { WebSocketServer } from 'ws';
import { createClient } from '../../src/client/index.ts';

const timestamp = '2026-11-16T09:30:00.000Z';
const content = { content: 'Hello', version: 1, timestamp };
const snapshot = { type: 'snapshot', seq: 1, room: {}, content, files: [], devices: [], pinAttempts: 0 };
const edit = (over: object) => ({ type: 'edit', seq: 2, version: 2, timestamp, edits: [], ...over });

const messages: Record<string, unknown[]> = {
  'what is not JSON': ['{'],
  null: [null],
  'a list': [[]],
  'a snapshot without a text': [{ ...snapshot, content: undefined }],
  'a text that is a number': [{ ...snapshot, content: { ...content, content: 7 } }],
  'half a surrogate pair': [{ ...snapshot, content: { ...content, content: '\ud800\ud800' } }],
  'a version with a fraction': [snapshot, edit({ version: 1.5 })],
  'edits that are none': [snapshot, edit({ edits: 'x' })],
  'positions as text': [snapshot, edit({ edits: [{ from: '0', to: '1', insert: '' }] })],
  'overlapping edits': [snapshot, edit({ edits: [3, 1].map((from) => ({ from, to: from + 1, insert: '' })) })],
  'an edit outside the text': [snapshot, edit({ edits: [{ from: 7, to: 9, insert: '' }] })],
  'a token that no socket can be opened with': [{ ...snapshot, resumeToken: 'a token, of sorts' }, '{'],
  'a token that is a number': [{ ...snapshot, resumeToken: 7 }, '{'],
  'an error without one': [snapshot, { type: 'error' }],
};

describe('a server that does not keep to the protocol', () => {
  for (const [name, sent] of Object.entries(messages)) {
    it(`[SDK-13] costs a connection, and no more: ${name}`, async (t) => {
      const { url, joined } = await startServer(t, sent);
      const text = createClient({ url }).room('7KQ2MX').text();
      t.after(() => text.close());
      // It joins again; a program would have ended with an error that nobody caught.
      await joined(2);
      assert.ok(text.value === '' || text.value === 'Hello');
      text.append('!');
      assert.ok(text.value.endsWith('!'));
    });
  }
});

/** Sends these messages to everyone who joins. */
async function startServer(t: TestContext, sent: unknown[]) {
  const server = createServer((_, response) => response.end('{}'));
  const sockets = new WebSocketServer({ server });
  let joins = 0;
  sockets.on('connection', (socket) => {
    socket.on('error', () => undefined);
    socket.once('message', () => {
      joins += 1;
      sockets.emit('joined');
      for (const message of sent) socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  const joined = async (count: number) => {
    while (joins < count) await once(sockets, 'joined');
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, joined };
}
