/** An upload that lost its lease. The clock of Redis cannot be set, so this runs on the embedded engine. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { openRawSocket, requestHead } from '../../support/raw-socket.ts';
import { startTestServer } from '../../support/server.ts';
import { storedBlobs } from '../../support/stored-blobs.ts';

describe('two uploads with one idempotency key', () => {
  it('[IDEM-1] [UP-8] store one file if the first has lost its lease, and the later one leaves nothing', async (t) => {
    // On a slow machine, the uploads would renew their leases in between.
    t.mock.timers.enable({ apis: ['setInterval'] });
    const server = await startTestServer(t);
    const { api, port } = server;
    const room = await api.room();
    const path = `/api/rooms/${room}/upload`;
    const sent = { 'X-File-Name': 'a', 'Content-Type': 'text/plain', 'Idempotency-Key': randomUUID() };
    const head = requestHead('POST', path, { ...sent, 'Content-Length': 4, Expect: '100-continue' });
    const [slow, other] = [await openRawSocket(t, port), await openRawSocket(t, port)];
    for (const socket of [slow, other]) {
      await socket.send(head);
      assert.equal((await socket.response()).status, 100);
      server.clock.advance(10_001);
    }
    const fast = await api.post(path, { headers: sent, body: 'abcd' });
    assert.equal(fast.status, 201);
    await slow.send('abcd');
    const late = await slow.response();
    assert.deepEqual([late.status, late.headers['idempotency-replayed']], [201, 'true']);
    assert.equal(JSON.parse(late.text).fileId, fast.json.fileId);
    await other.send('abc!');
    assert.equal((await other.response()).code, 'IDEMPOTENCY_KEY_REUSED');
    assert.equal((await api.get(`/api/rooms/${room}/files`)).json.files.length, 1);
    assert.equal((await storedBlobs(server)).length, 1);
    assert.equal((await api.get(`/api/rooms/${room}`)).json.fileBytes, 4);
    assert.equal((await api.get('/api/limits')).json.storedBytes, 4);
  });
});
