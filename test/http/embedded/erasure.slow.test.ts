/** Deleted text is erased from the data folder while the server runs. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { sweepEveryMs } from '../../../src/server/service.ts';
import { eraseEveryMs } from '../../../src/store/sqlite/writer.ts';
import { embeddedSettings } from '../../support/engine.ts';
import { assertErased, assertFound, uniqueText } from '../../support/erasure.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { inspectStore } from '../../support/store-inspector.ts';

const often = { sweepEveryMs: 100, eraseEveryMs: 50 };
const minuteMs = 60_000;
const pin = '0427';

describe('deleted text', () => {
  it('[LIFE-7] of a deleted room is erased from all files, with its history, file names, devices and PIN hash', async (t) => {
    const server = await startServer(t);
    const { api, folder } = server;
    const kept = await furnish(server, await api.room());
    const { room, pinHash } = await protectedRoom(server);
    const deleted = [...(await furnish(server, room, pin)), pinHash];
    await assertFound(folder, [...kept, ...deleted]);

    await api.delete(`/api/rooms/${room}`, { pin });
    await assertErased(folder, deleted);
    await assertFound(folder, kept);
  });

  it('[LIFE-7] of an expired room is erased from all files, without any request', async (t) => {
    const server = await startServer(t);
    const { api, folder, clock } = server;
    const expired = await furnish(server, await api.room({ expiresIn: 60 }));
    await assertFound(folder, expired);
    clock.advance(minuteMs);
    await assertErased(folder, expired);
  });

  it('[LIFE-7] that was overwritten in a room without history is erased from all files', async (t) => {
    const { api, folder } = await startServer(t);
    const path = `/api/rooms/${await api.room({ history: false })}/content`;
    // Longer ones are stored in another way.
    for (const bytes of [1000, 3000, 200_000]) {
      const [before, after] = [uniqueText(bytes), uniqueText(bytes)];
      await api.post(path, { json: { content: before } });
      await assertFound(folder, [before]);
      await api.post(path, { json: { content: after } });
      await assertErased(folder, [before]);
      await assertFound(folder, [after]);
    }
  });

  it('[LIFE-7] of a cleared history is erased from all files, and the current text stays', async (t) => {
    const { api, folder } = await startServer(t);
    const room = await api.room();
    const texts = Array.from({ length: 4 }, () => uniqueText(20_000));
    for (const content of texts) await api.post(`/api/rooms/${room}/content`, { json: { content } });
    await assertFound(folder, texts);
    const current = texts.pop() as string;
    await api.delete(`/api/rooms/${room}/history`);
    await assertErased(folder, texts);
    assert.equal((await api.get(`/api/rooms/${room}/content`)).json.content, current);
  });

  it('[LIFE-7] of the log is erased from all files when the log drops it', async (t) => {
    const { api, folder } = await startServer(t);
    const room = await api.room({ history: false });
    const inserted = Array.from({ length: 40 }, () => uniqueText(1500));
    for (const insert of inserted) await api.patch(`/api/rooms/${room}/content`, { json: { append: insert } });
    await api.patch(`/api/rooms/${room}/content`, { json: { edits: [{ from: 0, to: 60_000, insert: '' }] } });
    const last = uniqueText(100_000);
    await assertFound(folder, inserted.slice(-1));
    await api.post(`/api/rooms/${room}/content`, { json: { content: last } });
    await assertErased(folder, inserted);
    await assertFound(folder, [last]);
  });

  it('[LIFE-7] of a removed file is erased from all files: its bytes and its name', async (t) => {
    const { api, folder, clock } = await startServer(t);
    const room = await api.room();
    const [name, content] = [uniqueText(1), uniqueText(5000)];
    const { fileUrl } = (await api.upload(room, `${name}.txt`, content)).json;
    await assertFound(folder, [name, content]);
    const id = new URL(fileUrl).pathname.split('/')[2];
    assert.equal((await api.delete(`/api/rooms/${room}/files/${id}`)).status, 200);
    clock.advance(61_000);
    await assertErased(folder, [name, content]);
  });
});

describe('the erasure intervals', () => {
  it('[LIFE-7] leave 5 of the 30 seconds for the work itself', () => {
    assert.ok(sweepEveryMs + eraseEveryMs <= 25_000);
  });
});

const startServer = (t: TestContext) => startTestServer(t, { ...embeddedSettings, POPROOM_FREE_LIMIT: '0' }, often);

/** Fills a room with texts, also in its log and its history, and with files; returns all that can be found of them. */
async function furnish({ api, clock }: TestServer, room: string, pin?: string): Promise<string[]> {
  const sending = pin === undefined ? {} : { pin };
  const device = randomBytes(16).toString('hex');
  const headers = { 'x-device-id': device };
  const [texts, names] = [[] as string[], [] as string[]];
  for (const bytes of [300, 1000, 5000, 80_000, 500, 20_000]) {
    const content = uniqueText(bytes);
    texts.push(content);
    await api.post(`/api/rooms/${room}/content`, { json: { content }, headers, ...sending });
    // The history keeps one text in five seconds, and a long one in 30.
    clock.advance(bytes > 32_768 ? 30_000 : 5000);
  }
  for (let n = 0; n < 5; n++) {
    const name = uniqueText(1);
    names.push(name);
    const content = uniqueText(3000);
    texts.push(content);
    await api.upload(room, `${name}.txt`, content, sending);
  }
  return [...texts, ...names, device];
}

/** With a hash of its PIN that can be searched for, line by line. */
async function protectedRoom(server: TestServer): Promise<{ room: string; pinHash: string }> {
  const { pinMac } = await inspectStore(server);
  for (;;) {
    const room = await server.api.room({ pin });
    const pinHash = (await pinMac(room)).toString('latin1');
    if (!/[\n\0]/.test(pinHash)) return { room, pinHash };
  }
}
