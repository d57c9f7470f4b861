/** Reads that wait for a change of the text. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import { createSealedRoom, SealedReplica } from '../support/sealed-room.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

const oftenMs = 250;
const known = (version: number) => ({ 'if-none-match': `"${version}"` });

/** Returns when this many channels are open, waiting reads among them. */
const channels = ({ api }: TestServer, count: number) =>
  eventually(`${count} channels`, async () =>
    new RegExp(`^poproom_live_channels ${count}$`, 'm').test((await api.get('/metrics')).text),
  );

describe('a read that waits', () => {
  it('[TEXT-15] returns a change as soon as it is stored, as JSON or as text', async (t) => {
    const server = await startTestServer(t);
    const { api } = server;
    const path = `/api/rooms/${await api.room()}/content`;
    const inJson = api.get(`${path}?wait=60`, { headers: known(0) });
    const asText = api.get(`${path}?wait=60`, { headers: { ...known(0), accept: 'text/plain' } });
    await channels(server, 2);
    await api.post(path, { json: { content: 'Hello' } });
    const { status, headers, json } = await inJson;
    assert.deepEqual([status, headers.get('etag'), json.content], [200, '"1"', 'Hello']);
    assert.equal((await asText).text, 'Hello');
    await channels(server, 0);

    const again = api.get(`${path}?wait=60`, { headers: known(1) });
    await channels(server, 1);
    await api.patch(path, { json: { append: '!' } });
    assert.equal((await again).json.content, 'Hello!');
  });

  it('[TEXT-15] does not wait if the client has another version, or names none', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}/content`;
    await api.post(path, { json: { content: 'Hello' } });
    for (const headers of [known(0), {}]) {
      assert.equal((await api.get(`${path}?wait=60`, { headers })).json.content, 'Hello');
    }
    assert.equal((await api.get(`${path}?wait=0`, { headers: known(1) })).status, 304);
  });

  it('[TEXT-15] returns 304 when the time is over, and other changes of the room do not end it', async (t) => {
    const server = await startTestServer(t, { POPROOM_METRICS: 'true' });
    const { api, url } = server;
    const metrics = async () => (await api.get('/metrics')).text;
    const opened = (text: string) => /^poproom_live_channels_opened_total\{transport="poll"\} 1$/m.test(text);
    const room = await api.room();
    const startedAt = performance.now();
    const waiting = api.get(`/api/rooms/${room}/content?wait=2`, { headers: known(0) });
    const elapsed = waiting.then(() => (performance.now() - startedAt) / 1000);
    // After a stall, the time may be over before its channel is seen.
    await eventually('it has waited', async () => opened(await metrics()));
    const device = await joinRoom(t, url, room);
    await device.next('snapshot');
    await api.upload(room, 'a.txt', 'bytes');
    await device.next('file-added');
    const { status, headers, text } = await waiting;
    assert.deepEqual([status, headers.get('etag'), text], [304, '"0"', '']);
    // The wait is not part of the duration, which alerts are about.
    const measured = await metrics();
    const [, seconds] =
      /^poproom_http_request_duration_seconds_sum\{[^}]*route="\/api\/rooms\/:roomId\/content"[^}]*\} (\S+)$/m.exec(
        measured,
      ) ?? [];
    assert.ok(Number(seconds) < (await elapsed) - 1.9, `${seconds} of ${await elapsed} s`);
    assert.ok(opened(measured));
  });

  it('[TEXT-15] ends with the room: 404 if it is deleted, 410 if it expires', async (t) => {
    const server = await startTestServer(t, {}, { heartbeatMs: oftenMs });
    const { api, clock } = server;
    const [deleted, expired] = [await api.room(), await api.room({ expiresIn: 60 })];
    const read = (room: string) => api.get(`/api/rooms/${room}/content?wait=60`, { headers: known(0) });
    const [ofDeleted, ofExpired] = [read(deleted), read(expired)];
    await channels(server, 2);
    await api.delete(`/api/rooms/${deleted}`);
    assertError(await ofDeleted, 404, 'ROOM_NOT_FOUND');
    clock.advance(61_000);
    assertError(await ofExpired, 410, 'ROOM_EXPIRED');
    await channels(server, 0);
  });

  it('[TEXT-15] ends when the server stops', async (t) => {
    const server = await startTestServer(t);
    const path = `/api/rooms/${await server.api.room()}/content`;
    const waiting = server.api.get(`${path}?wait=60`, { headers: known(0) });
    await channels(server, 1);
    const startedAt = performance.now();
    const [{ status }] = await Promise.all([waiting, server.stop()]);
    assert.equal(status, 304);
    assert.ok(performance.now() - startedAt < 20_000);
  });

  it('[TEXT-15] counts as a live channel of its client, until the client disconnects', async (t) => {
    const server = await startTestServer(t, { POPROOM_MAX_CHANNELS_PER_CLIENT: '2' });
    const { api, url } = server;
    const room = await api.room();
    const path = `/api/rooms/${room}/content?wait=60`;
    const clients = [new AbortController(), new AbortController()];
    const waiting = clients.map(({ signal }) => fetch(url + path, { headers: known(0), signal }));
    await channels(server, 2);
    const refused = await api.get(path, { headers: known(0) });
    assert.equal(assertError(refused, 429, 'RATE_LIMITED').reason, 'channels');
    for (const client of clients) client.abort();
    for (const one of waiting) await assert.rejects(one, { name: 'AbortError' });
    await channels(server, 0);
    const [first] = await Promise.all([
      api.get(path, { headers: known(0) }),
      channels(server, 1).then(() => api.post(`/api/rooms/${room}/content`, { json: { content: 'free again' } })),
    ]);
    assert.equal(first.json.content, 'free again');
  });

  it('[TEXT-15] needs the PIN, also the one that the room has at the end', async (t) => {
    const server = await sharedServer(t);
    const { api } = server;
    const room = `/api/rooms/${await api.room({ pin: '0427' })}`;
    const path = `${room}/content?wait=60`;
    assertError(await api.get(path, { headers: known(0) }), 401, 'PIN_REQUIRED');
    const waiting = api.get(path, { headers: known(0), pin: '0427' });
    await channels(server, 1);
    await api.patch(room, { json: { pin: '9999' }, pin: '0427' });
    await api.post(`${room}/content`, { json: { content: 'secret' }, pin: '9999' });
    assertError(await waiting, 403, 'PIN_INCORRECT');
  });

  it('[TEXT-15] works in an encrypted room', async (t) => {
    const server = await sharedServer(t);
    const room = await createSealedRoom(server.api);
    const path = `/api/rooms/${room.code}/content`;
    const waiting = server.api.get(`${path}?wait=60`, { headers: { ...room.access.headers, ...known(0) } });
    await channels(server, 1);
    await server.api.patch(path, { json: new SealedReplica(room).insert('Hello'), ...room.access });
    const replica = new SealedReplica(room);
    replica.load((await waiting).json);
    assert.equal(replica.text, 'Hello');
  });

  it('[TEXT-15] rejects other times than whole seconds up to 60', async (t) => {
    const { api } = await sharedServer(t);
    const path = `/api/rooms/${await api.room()}/content`;
    for (const wait of ['', '61', '600', '-1', '1.5', '1e1', 'x', '%2030']) {
      assert.equal(assertError(await api.get(`${path}?wait=${wait}`), 400, 'VALIDATION_FAILED').field, 'wait');
    }
  });
});
