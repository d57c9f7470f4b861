/** Earlier texts of a room. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { joinRoom } from '../support/device.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

async function openRoom({ api }: TestServer, json = {}) {
  const path = `/api/rooms/${await api.room(json)}`;
  return {
    path,
    write: (content: string, headers = {}) => api.post(`${path}/content`, { json: { content }, headers }),
    append: (text: string) => api.patch(`${path}/content`, { json: { append: text } }),
    history: async () => (await api.get(`${path}/history`)).json.history,
  };
}

const longText = 'a text that is long enough to be missed';

describe('history', () => {
  it('[HIST-1] [HIST-2] keeps the text before a large replacement, with its author and time', async (t) => {
    const server = await startTestServer(t);
    const { path, write, history } = await openRoom(server);
    const { timestamp } = (await write(longText, { 'x-device-id': 'phone' })).json;
    server.clock.advance(1000);
    await write('something else');
    assert.deepEqual(await history(), [{ version: 1, timestamp, size: longText.length, deviceId: 'phone' }]);
    const { json } = await server.api.get(`${path}/history/1`);
    assert.deepEqual(json, { content: longText, version: 1, timestamp, size: longText.length, deviceId: 'phone' });
  });

  it('[API-12] is listed from the newest text, up to the limit', async (t) => {
    const server = await startTestServer(t);
    const { path, write } = await openRoom(server);
    for (const text of [longText, `${longText} again`.toUpperCase(), 'something else']) {
      await write(text);
      server.clock.advance(60_000);
    }
    const versions = async (query: string) =>
      (await server.api.get(`${path}/history${query}`)).json.history.map(({ version }: { version: number }) => version);
    const all = await versions('');
    assert.ok(all.length > 1);
    assert.deepEqual(await versions('?limit=1'), all.slice(0, 1));
  });

  it('[HIST-1] keeps the text before it is cleared, and nothing of small changes', async (t) => {
    const server = await sharedServer(t);
    const { write, append, history } = await openRoom(server);
    await write(longText);
    await append(' at all');
    await append('!');
    assert.deepEqual(await history(), []);
    await write('');
    assert.deepEqual(
      (await history()).map(({ version }: { version: number }) => version),
      [3],
    );
    await write('');
    await write('anew');
    assert.equal((await history()).length, 1, 'an empty text is not worth keeping');
  });

  it('[HIST-1] [HIST-5] keeps a checkpoint after 3 seconds of changes, and then every 30 seconds', async (t) => {
    const server = await startTestServer(t);
    const { append, history } = await openRoom(server);
    for (let n = 0; n < 8; n++) {
      await append(`${n}`);
      server.clock.advance(10_000);
    }
    const versions = (await history()).map(({ version }: { version: number }) => version);
    assert.deepEqual(versions, [7, 4, 1]);
  });

  it('[HIST-8] keeps nothing of a text that is written again', async (t) => {
    const server = await startTestServer(t);
    const { write, history } = await openRoom(server);
    for (let n = 0; n < 5; n++) {
      await write(longText);
      server.clock.advance(40_000);
    }
    assert.deepEqual(await history(), []);
    await write('something else');
    await write('something else');
    server.clock.advance(40_000);
    await write('something else');
    const versions = (await history()).map(({ version }: { version: number }) => version);
    assert.deepEqual(versions, [5]);
  });

  it('[HIST-1] keeps one text in five seconds of those that a program replaces', async (t) => {
    const server = await startTestServer(t);
    const { write, history } = await openRoom(server);
    for (let second = 0; second < 12; second++) {
      await write(String.fromCharCode(97 + second).repeat(30));
      server.clock.advance(1000);
    }
    const versions = (await history()).map(({ version }: { version: number }) => version);
    assert.deepEqual(versions, [11, 6, 1]);
  });

  it('[HIST-7] keeps one long text in 30 seconds of those that a program replaces', async (t) => {
    const server = await startTestServer(t);
    const { write, append, history } = await openRoom(server);
    for (let n = 0; n < 8; n++) {
      await write(String.fromCharCode(97 + n).repeat(33_000));
      server.clock.advance(10_000);
    }
    await append(', typed by someone');
    server.clock.advance(10_000);
    await write('short');
    const versions = (await history()).map(({ version }: { version: number }) => version);
    assert.deepEqual(versions, [9, 7, 4, 1]);
  });

  it('[HIST-1] keeps every text with edits of a live channel or of PATCH', async (t) => {
    const server = await startTestServer(t);
    const { path, write, append, history } = await openRoom(server);
    const room = path.split('/').at(-1) ?? '';
    const device = await joinRoom(t, server.url, room, { edits: true });
    const typeLive = async (baseVersion: number) => {
      device.send({ type: 'edit', baseVersion, edits: [{ from: 0, to: 0, insert: 'typed ' }], ref: `${baseVersion}` });
      await device.next('written');
    };
    const writeLive = async (baseVersion: number) => {
      device.send({ type: 'content', baseVersion, content: 'pasted on the page, long enough' });
      await device.next('written');
    };
    await write(longText);
    await write(longText.toUpperCase());
    await append(', typed with PATCH');
    await write(longText);
    await typeLive(4);
    await write(longText.toUpperCase());
    await writeLive(6);
    await write(longText);
    await write(longText.toUpperCase());
    const versions = (await history()).map(({ version }: { version: number }) => version);
    assert.deepEqual(versions, [7, 5, 3, 1], 'all but those that were only written with POST');
  });

  it('[HIST-1] keeps the newest 50', async (t) => {
    const server = await startTestServer(t);
    const { write, history } = await openRoom(server);
    for (let n = 0; n < 53; n++) {
      await write(String.fromCharCode(97 + (n % 26)).repeat(30));
      server.clock.advance(5000);
    }
    const versions = (await history()).map(({ version }: { version: number }) => version);
    assert.deepEqual(
      versions,
      Array.from({ length: 50 }, (_, n) => 52 - n),
    );
  });

  it('[HIST-1] keeps at most 4 MiB', async (t) => {
    const server = await startTestServer(t);
    const { write, history } = await openRoom(server);
    for (const letter of 'abcdefg') {
      await write(letter.repeat(1_000_000));
      server.clock.advance(30_000);
    }
    const versions = (await history()).map(({ version }: { version: number }) => version);
    assert.deepEqual(versions, [6, 5, 4, 3]);
  });

  it('[HIST-2] returns 404 for an unknown version', async (t) => {
    const server = await sharedServer(t);
    const { path, write } = await openRoom(server);
    await write(longText);
    for (const version of ['1', '0', '99', 'x', '-1', '1.0']) {
      assertError(await server.api.get(`${path}/history/${version}`), 404, 'NOT_FOUND');
    }
  });

  it('[HIST-3] is erased on request, and starts again', async (t) => {
    const server = await sharedServer(t);
    const { path, write, history } = await openRoom(server);
    await write(longText);
    await write('short');
    const { status, json } = await server.api.delete(`${path}/history`);
    assert.deepEqual([status, json.success], [200, true]);
    assert.deepEqual(await history(), []);
    assertError(await server.api.get(`${path}/history/1`), 404, 'NOT_FOUND');
    assert.equal((await server.api.get(`${path}/content`)).json.content, 'short');
    await write(longText);
    await write('');
    assert.deepEqual(
      (await history()).map(({ version }: { version: number }) => version),
      [3],
    );
  });

  it('[HIST-3] is erased from the log, too: nobody who joins later receives earlier texts', async (t) => {
    const server = await sharedServer(t);
    const { path, write } = await openRoom(server);
    await write('my secret text');
    await write('something else');
    await server.api.delete(`${path}/history`);
    const room = path.split('/').at(-1) ?? '';
    const device = await joinRoom(t, server.url, room, { edits: true, version: 0 });
    assert.equal((await device.next('snapshot')).content.content, 'something else');
    assert.ok(!JSON.stringify(device.received).includes('secret'));
  });

  it('[HIST-3] ends with the room', async (t) => {
    const server = await sharedServer(t);
    const { path, write } = await openRoom(server);
    await write(longText);
    await write('');
    await server.api.delete(path);
    assertError(await server.api.get(`${path}/history`), 404, 'ROOM_NOT_FOUND');
    assertError(await server.api.get(`${path}/history/1`), 404, 'ROOM_NOT_FOUND');
  });

  it('[HIST-4] is not kept for a room that was created without', async (t) => {
    const server = await sharedServer(t);
    const { write, history } = await openRoom(server, { history: false });
    await write(longText);
    await write('');
    assert.deepEqual(await history(), []);
    assertError(await server.api.post('/api/rooms', { json: { history: 'no' } }), 400, 'VALIDATION_FAILED');
  });

  it('[LIFE-6] [HIST-1] survives a restart', async (t) => {
    const server = await startTestServer(t);
    const { write, history } = await openRoom(server);
    await write(longText);
    await write('');
    const before = await history();
    await server.restart();
    assert.deepEqual(await history(), before);
    await write(longText);
    await write('');
    assert.equal((await history()).length, 2);
  });

  it('[PIN-2] requires the PIN', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room({ pin: '0427' })}/history`;
    for (const response of [await api.get(path), await api.get(`${path}/1`), await api.delete(path)]) {
      assertError(response, 401, 'PIN_REQUIRED');
    }
    assert.equal((await api.delete(path, { json: { pin: '0427' } })).status, 200);
  });
});
