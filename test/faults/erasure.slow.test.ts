/** Deleted text is erased from the disk while the server runs, when it stops, and after a kill and restart. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { assertErased, tracesIn, uniqueText } from '../support/erasure.ts';
import { dataFolder, type ServerProcess, startProcess } from '../support/process.ts';

const isLong = process.env.POPROOM_HOSTILE === 'long';

describe('deleted text on the disk of a server', () => {
  it('[LIFE-7] is gone after a kill and the next start', async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder);
    const deleted = await writeAndDelete(server);
    await server.end('SIGKILL');
    await startProcess(t, folder);
    await assertErased(folder, deleted);
  });

  it('[LIFE-7] is gone after a stop', async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder);
    const deleted = await writeAndDelete(server);
    await server.end('SIGTERM');
    assert.equal((await tracesIn(folder, deleted)).size, 0);
  });

  // In real time; http/embedded/erasure hastens the intervals.
  it('[LIFE-7] is gone within 30 seconds of a deletion and of an expiry', { skip: !isLong }, async (t) => {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder);
    await assertErased(folder, await writeAndDelete(server));
    const room = await server.api.room({ expiresIn: 60 });
    const expiresAt = performance.now() + 60_000;
    const content = uniqueText(10_000);
    await server.api.post(`/api/rooms/${room}/content`, { json: { content } });
    await pause(expiresAt - performance.now());
    await assertErased(folder, [content]);
  });
});

/** Makes rooms with texts and deletes them. */
async function writeAndDelete({ api }: ServerProcess): Promise<string[]> {
  const texts = Array.from({ length: 8 }, (_, n) => uniqueText(20 * 4 ** (n % 7)));
  for (const content of texts) {
    const room = await api.room();
    await api.post(`/api/rooms/${room}/content`, { json: { content } });
    await api.delete(`/api/rooms/${room}`);
  }
  return texts;
}
