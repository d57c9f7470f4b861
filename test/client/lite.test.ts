/** The small part of the SDK for programs that only write texts. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'rolldown';
import { createClient, PoproomError } from '../../src/client/lite.ts';
import { sharedServer } from '../support/server.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('@poproom/client/lite', () => {
  it('[SDK-38] creates and opens rooms, reads and writes their texts, and checks its arguments', async (t) => {
    const { url, api } = await sharedServer(t);
    const client = createClient({ url, retry: true });
    const created = await client.createRoom({ pin: '0427', name: 'Kitchen', encrypted: false });
    assert.deepEqual([created.hasPin, created.name], [true, 'Kitchen']);
    assert.equal((await created.write('Hello')).version, 1);
    const room = client.room(`${url}/r/${created.code.toLowerCase()}`, { pin: '0427' });
    await room.append(' again');
    assert.equal((await room.read()).content, 'Hello again');
    await assert.rejects(room.write('late', { baseVersion: 1 }), isError('VERSION_CONFLICT'));
    await assert.rejects(client.room(created.code).read(), isError('PIN_REQUIRED'));
    await assert.rejects(room.write(1 as never), TypeError);
    assert.throws(() => createClient({ url: 'nowhere' }), TypeError);
    await room.update({ pin: null });
    assert.equal((await api.get(`/api/rooms/${created.code}/content`)).json.content, 'Hello again');
    assert.equal((await client.health()).status, 'healthy');
    await room.delete();
    await assert.rejects(room.info(), isError('ROOM_NOT_FOUND'));
  });

  it('[SDK-38] sends nothing to an encrypted room', async () => {
    const client = createClient({ url: 'http://127.0.0.1:1' });
    for (const given of ['E7KQ2MX', 'http://127.0.0.1:1/r/7KQ2MX#H4T9WZ3BNQ6YRC88'])
      assert.throws(() => client.room(given), isError('KEY_REQUIRED'));
    await assert.rejects(client.createRoom({ encrypted: true as never }), isError('KEY_REQUIRED'));
  });

  it('[SDK-38] takes less than 12 kB in a bundle, and loads nothing on demand', async () => {
    const program = `import { createClient } from ${JSON.stringify(join(root, 'src/client/lite.ts'))};
      const client = createClient({ url: 'https://pop.example.org' });
      await (await client.createRoom()).write('Hello');
      await client.room('7KQ2MX').write('again');`;
    const { output } = await build({
      input: 'program',
      write: false,
      platform: 'browser',
      plugins: [
        {
          name: 'program',
          resolveId: (id) => (id === 'program' ? id : null),
          load: (id) => (id === 'program' ? program : null),
        },
      ],
      output: { minify: true },
    });
    assert.equal(output.length, 1);
    const bytes = gzipSync(output[0].code).length;
    assert.ok(bytes < 12_000, `${bytes} bytes`);
  });
});

const isError = (code: string) => (error: unknown) => error instanceof PoproomError && error.code === code;
