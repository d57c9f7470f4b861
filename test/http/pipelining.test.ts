/** Requests that are sent before earlier ones are answered. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sendRaw } from '../support/raw-http.ts';
import { openRawSocket } from '../support/raw-socket.ts';
import { sharedServer, startTestServer } from '../support/server.ts';

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;

describe('requests on one connection', () => {
  it('[SAFE-2] are answered in order, however many arrive together', async (t) => {
    const { api, port } = await startTestServer(t, { POPROOM_FREE_LIMIT: '100000' });
    const room = await api.room();
    const paths = Array.from({ length: 200 }, (_, n) => `/api/rooms/${room}/content?n=${n}`);
    const post = (content: string) =>
      `POST /api/rooms/${room}/content HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${content.length + 14}\r\n\r\n{"content":"${content}"}`;
    const requests = paths.map((path, n) => (n % 10 === 9 ? post(`text-${n}`) : get(path)));
    const responses = await sendRaw(t, port, requests.join('') + get('/api/health', 'Connection: close\r\n'));
    assert.equal(responses.length, 201);
    // Each one sees what those before it did.
    responses.slice(0, 200).forEach(({ status, json }, n) => {
      assert.equal(status, 200);
      const written = Math.floor((n + 1) / 10) * 10 - 1;
      assert.equal(json.content, written < 0 ? '' : `text-${written}`);
    });
  });

  it('[slow] [SAFE-2] are not read further until the waiting ones are answered', async (t) => {
    const { port } = await sharedServer(t);
    const socket = await openRawSocket(t, port, { readsResponses: false });
    const batch = get('/docs').repeat(2000);
    let sent = 0;
    // When the server stops reading and the buffers of the system are full, the sender blocks.
    const stalled = new Promise<string>((resolve) => setTimeout(resolve, 1500, 'stalled'));
    const sendAll = async () => {
      for (; sent < 500; sent++) await socket.send(batch);
      return 'sent';
    };
    assert.equal(await Promise.race([sendAll(), stalled]), 'stalled');
    socket.destroy();
  });

  it('[SAFE-2] that follow one that ends the connection are not served', async (t) => {
    const { api, port } = await sharedServer(t);
    const room = await api.room();
    const last = get('/api/health', 'Connection: close\r\n');
    const responses = await sendRaw(t, port, get('/api/health') + last + get(`/api/rooms/${room}/content`));
    assert.equal(responses.length, 2);
  });
});
