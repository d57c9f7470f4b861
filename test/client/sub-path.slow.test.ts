/** The SDK with a server whose URL has a path. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { startBadProxy } from '../support/bad-proxy.ts';
import { startTestServer } from '../support/server.ts';

describe('a server URL with a path', () => {
  it('[SUB-6] works for requests, links, files, resumable uploads and live channels', async (t) => {
    let port = 0;
    const url = `${await startBadProxy(t, () => port, {})}/poproom`;
    ({ port } = await startTestServer(t, { POPROOM_PUBLIC_URL: url, POPROOM_FREE_LIMIT: '0' }));
    const client = createClient({ url: `${url}/` });
    assert.equal((await client.health()).status, 'healthy');
    const created = await client.createRoom();
    assert.equal(created.link, `${url}/r/${created.code}`);
    const room = client.room(created.link);
    await room.write('text');
    assert.equal((await created.read()).content, 'text');
    const size = 5 * 1024 ** 2 + 1;
    for (const bytes of [3, size]) {
      const uploaded = await room.upload(new Blob([new Uint8Array(bytes)]), { name: 'a.bin' });
      assert.ok(uploaded.fileUrl.startsWith(`${url}/files/`), uploaded.fileUrl);
      assert.equal((await (await room.download(uploaded)).arrayBuffer()).byteLength, bytes);
    }
    assert.ok((await room.zipUrl()).startsWith(`${url}/api/rooms/`));
    const live = room.live();
    for await (const { type } of live) if (type === 'snapshot') break;
    const sealed = client.room(`${url}/r/7KQ2MX#0123456789ABCDEF`);
    assert.deepEqual([sealed.code, sealed.link], ['7KQ2MX', `${url}/r/7KQ2MX#0123456789ABCDEF`]);
  });

  it('[SUB-6] rejects links of another path of the host', () => {
    const client = createClient({ url: 'https://example.org/poproom' });
    for (const link of ['/r/7KQ2MX', '/other/r/7KQ2MX', '/poproomx/r/7KQ2MX', '/poproom/x/r/7KQ2MX'])
      assert.throws(() => client.room(`https://example.org${link}`), /not the link of a room on this server/, link);
  });
});
