/** Files with fewer or more bytes than were uploaded are not delivered as complete. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { readSeries, sumOf } from '../support/metrics.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { startTestServer } from '../support/server.ts';
import { storedBlobs, writeBlob } from '../support/stored-blobs.ts';

const damages = { cut: '0123', 'of no bytes': '', 'longer than it was': '0123456789, and more' };

describe('a damaged file', () => {
  for (const [how, bytes] of Object.entries(damages)) {
    it(`[FILE-7] [MON-3] ends the connection if it is ${how}, and is logged and counted`, async (t) => {
      const server = await startTestServer(t);
      const { fileUrl } = (await server.api.upload(await server.api.room(), 'a.txt', '0123456789')).json;
      const [path = ''] = await storedBlobs(server);
      await writeBlob(server, path, bytes);

      const socket = await openRawSocket(t, server.port);
      await socket.send(requestHead('GET', new URL(fileUrl).pathname) + requestHead('GET', '/livez'));
      await socket.closed();
      const [, ...afterHead] = socket.unread().split('\r\n\r\n');
      const content = afterHead.join('\r\n\r\n');
      assert.ok(content.length < 10 && '0123456789'.startsWith(content), content);
      const line = await eventually('it is logged', () =>
        server
          .logged()
          .split('\n')
          .find((candidate) => candidate.includes('response failed')),
      );
      assert.match(JSON.parse(line).err, new RegExp(`${bytes.length} bytes`));
      assert.ok(JSON.parse(line).requestId);
      const broken = { transport: 'http', code: 'INTERNAL', reason: 'response' };
      assert.equal(sumOf(await readSeries(server.api), 'poproom_refusals_total', broken), 1);
      assert.equal((await server.api.get('/livez')).status, 200);
    });
  }
});
