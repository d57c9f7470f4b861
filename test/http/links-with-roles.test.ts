/** Links with a role: what their holders see, and their end. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import { assertError } from '../support/assert-error.ts';
import { eventually } from '../support/eventually.ts';
import { createLink, revokeLink, roomWithLinks } from '../support/links.ts';
import { sharedServer, startTestServer } from '../support/server.ts';

const tus = { 'tus-resumable': '1.0.0' };

describe('a link with a role', () => {
  it('[ROLE-1] is created, listed and revoked by members', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await api.room({ pin: '0427' });
    const json = { role: 'drop', name: '  Party\u0000 photos ', expiresIn: 600 };
    await assertError(await api.post(`/api/rooms/${room}/links`, { json }), 401, 'PIN_REQUIRED');
    const { status, json: link } = await api.post(`/api/rooms/${room}/links`, { json, pin: '0427' });
    assert.equal(status, 201);
    assert.match(link.linkId, /^[0-9A-HJKMNP-TV-Z]{24}$/);
    assert.deepEqual([link.role, link.name, link.link], ['drop', 'Party photos', `${url}/r/${link.linkId}`]);
    assert.equal(Date.parse(link.expiresAt) - Date.parse(link.createdAt), 600_000);
    const list = () => api.get(`/api/rooms/${room}/links`, { pin: '0427' });
    assert.deepEqual((await list()).json, { links: [link] });
    const revoke = () => api.delete(`/api/rooms/${room}/links/${link.linkId.toLowerCase()}`, { pin: '0427' });
    assert.equal((await revoke()).status, 200);
    await assertError(await revoke(), 404, 'NOT_FOUND');
    assert.deepEqual((await list()).json, { links: [] });
    for (const wrong of [
      { role: 'member' },
      {},
      { role: 'read', expiresIn: 59 },
      { role: 'read', name: 'x'.repeat(65) },
    ])
      await assertError(
        await api.post(`/api/rooms/${room}/links`, { json: wrong, pin: '0427' }),
        400,
        'VALIDATION_FAILED',
      );
  });

  it('[ROLE-3] is named instead of the room, and shows neither its code nor its PIN nor devices', async (t) => {
    const { api } = await sharedServer(t);
    const { room, read } = await roomWithLinks({ api }, { pin: '0427', name: 'Table' });
    const headers = { 'x-device-id': 'phone-of-member' };
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'Hello' }, pin: '0427', headers });
    await api.upload(room, 'a.txt', 'bytes', { pin: '0427', headers });
    const dashed = read.toLowerCase().replace(/(.{4})(?=.)/g, '$1-');
    const info = await api.get(`/api/rooms/${dashed}?details=true`);
    const { roomId, role, hasPin, name, fileCount, deviceCount, text } = info.json;
    assert.deepEqual([roomId, role, hasPin, name, fileCount, deviceCount], [read, 'read', false, 'Table', 1, 1]);
    assert.equal(text.version, 1);
    const content = await api.get(`/api/rooms/${read}/content`);
    assert.equal(content.json.content, 'Hello');
    assert.equal((await api.get(`/api/rooms/${read}/content`, { headers: { accept: 'text/plain' } })).text, 'Hello');
    const files = await api.get(`/api/rooms/${read}/files`);
    assert.equal(files.json.files[0].fileName, 'a.txt');
    const ticket = await api.post(`/api/rooms/${read}/tickets`);
    const zip = await fetch(ticket.json.url);
    assert.deepEqual([zip.status, zip.headers.get('content-disposition')], [200, 'attachment; filename="poproom.zip"']);
    await zip.arrayBuffer();
    for (const { text, headers: sent } of [info, content, files, ticket]) {
      const seen = text + JSON.stringify([...sent]);
      for (const secret of [room, 'phone-of-member']) assert.ok(!seen.includes(secret), `${secret} in ${seen}`);
      // Not as part of an id.
      assert.doesNotMatch(seen, /(?<![\w-])0427(?![\w-])/);
    }
  });

  it('[ROLE-4] to drop files shows nothing of the room but its own name', async (t) => {
    const { api } = await sharedServer(t);
    const { room, drop } = await roomWithLinks({ api }, { name: 'Secret name' });
    await api.upload(room, 'a.txt', 'bytes', { headers: { 'x-device-id': 'phone' } });
    const { json } = await api.get(`/api/rooms/${drop}`);
    assert.deepEqual([json.roomId, json.role, json.name], [drop, 'drop', undefined]);
    assert.deepEqual([json.deviceCount, json.fileCount, json.fileBytes], [0, 0, 0]);
    const named = await createLink({ api }, room, 'drop', { name: 'Photos' });
    assert.equal((await api.get(`/api/rooms/${named}`)).json.name, 'Photos');
    await assertError(await api.get(`/api/rooms/${drop}?details=true`), 403, 'DROP_ONLY');
    await assertError(await api.get(`/api/rooms/${drop}/files`), 403, 'DROP_ONLY');
  });

  it('[ROLE-4] [ROLE-13] adds files, notes and one-time files for members', async (t) => {
    const { api } = await sharedServer(t);
    const { room, read, drop } = await roomWithLinks({ api });
    assert.equal((await api.upload(drop, 'photo.jpg', 'bytes')).status, 201);
    const note = { body: 'A note', headers: { 'content-type': 'text/plain', 'x-file-name': 'note.txt' } };
    assert.equal((await api.post(`/api/rooms/${drop}/upload?once=true`, note)).json.once, true);
    const { files } = (await api.get(`/api/rooms/${room}/files`)).json;
    const names = files.map(({ fileName, contentType, once }: Record<string, unknown>) => [
      fileName,
      contentType,
      once,
    ]);
    assert.deepEqual(names, [
      ['photo.jpg', 'application/octet-stream', undefined],
      ['note.txt', 'text/plain', true],
    ]);
    const claim = (id: string) => api.post(`/api/rooms/${id}/files/${files[1].fileId}/claim`);
    await assertError(await claim(read), 403, 'READ_ONLY');
    assert.equal((await claim(room)).status, 200);
  });

  it('[ROLE-5] ends at once when it is revoked, with its ticket and its waiting reads', async (t) => {
    const server = await sharedServer(t);
    const { api } = server;
    const { room, read } = await roomWithLinks(server);
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'Hello' } });
    await api.upload(room, 'a.txt', 'bytes');
    const { url } = (await api.post(`/api/rooms/${read}/tickets`)).json;
    await api.get(`/api/rooms/${read}/content`);
    const polls = async () =>
      Number(/channels_opened_total\{transport="poll"\} (\d+)/.exec((await api.get('/metrics')).text)?.[1] ?? 0);
    const before = await polls();
    const waiting = api.get(`/api/rooms/${read}/content?wait=60`, { headers: { 'if-none-match': '"1"' } });
    await eventually('the read waits', async () => (await polls()) > before);
    assert.equal((await revokeLink(server, room, read)).status, 200);
    await assertError(await waiting, 404, 'ROOM_NOT_FOUND');
    for (const path of ['', '/content', '/files', '/files.zip', '/events'])
      await assertError(await api.get(`/api/rooms/${read}${path}`), 404, 'ROOM_NOT_FOUND');
    assert.equal((await fetch(url)).status, 404);
    assert.equal((await api.get(`/api/rooms/${room}`)).status, 200);
  });

  it('[ROLE-6] that is revoked during an upload adds no file', async (t) => {
    const server = await sharedServer(t);
    const { api, url } = server;
    const { room, drop } = await roomWithLinks(server);
    const sending = request(`${url}/api/rooms/${drop}/upload`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'x-file-name': 'late.txt', expect: '100-continue' },
    });
    const answered = new Promise<number | undefined>((resolve) =>
      sending.on('response', (response) => resolve(response.resume().statusCode)),
    );
    // The server has admitted the upload when it asks for the body.
    await new Promise((resolve) => sending.once('continue', resolve).flushHeaders());
    sending.write('half ');
    const { headers } = await api.post(`/api/rooms/${drop}/uploads`, { headers: { ...tus, 'upload-length': '4' } });
    const upload = new URL(headers.get('location') ?? '').pathname;
    await revokeLink(server, room, drop);
    sending.end('of it');
    assert.equal(await answered, 404);
    const patch = { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' };
    await assertError(await api.patch(upload, { headers: patch, body: 'late' }), 404, 'ROOM_NOT_FOUND');
    await assertError(
      await api.patch(upload.replace(drop, room), { headers: patch, body: 'late' }),
      404,
      'UPLOAD_NOT_FOUND',
    );
    assert.deepEqual((await api.get(`/api/rooms/${room}/files`)).json, { files: [] });
    assert.equal((await api.get(`/api/rooms/${room}`)).json.fileCount, 0);
  });

  it('[ROLE-7] has uploads and idempotency keys of its own', async (t) => {
    const server = await sharedServer(t);
    const { api } = server;
    const { room, drop } = await roomWithLinks(server);
    const other = await createLink(server, room, 'drop');
    const start = async (id: string) => {
      const { headers } = await api.post(`/api/rooms/${id}/uploads`, { headers: { ...tus, 'upload-length': '4' } });
      const { pathname } = new URL(headers.get('location') ?? '');
      assert.ok(pathname.startsWith(`/api/rooms/${id}/uploads/`));
      return pathname.split('/').at(-1) ?? '';
    };
    const [own, ofMember] = [await start(drop), await start(room)];
    const patch = { ...tus, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' };
    for (const [link, upload] of [
      [other, own],
      [drop, ofMember],
    ] as const) {
      const path = `/api/rooms/${link}/uploads/${upload}`;
      assert.equal((await api.call('HEAD', path, { headers: tus })).status, 404);
      await assertError(await api.patch(path, { headers: patch, body: 'late' }), 404, 'UPLOAD_NOT_FOUND');
      await assertError(await api.delete(path, { headers: tus }), 404, 'UPLOAD_NOT_FOUND');
    }
    const path = `/api/rooms/${drop}/uploads/${own}`;
    assert.equal((await api.patch(path, { headers: patch, body: 'data' })).status, 204);
    assert.equal((await api.call('HEAD', path, { headers: tus })).status, 200);
    assert.equal((await api.call('HEAD', path.replace(drop, other), { headers: tus })).status, 404);
    const keyed = { headers: { 'idempotency-key': 'a key of 16 symbols'.replaceAll(' ', '-') } };
    const first = await api.upload(drop, 'a.txt', 'same bytes', keyed);
    const repeated = await api.upload(drop, 'a.txt', 'same bytes', keyed);
    assert.equal(repeated.headers.get('idempotency-replayed'), 'true');
    assert.equal(repeated.json.fileId, first.json.fileId);
    const elsewhere = await api.upload(other, 'a.txt', 'same bytes', keyed);
    assert.equal(elsewhere.headers.get('idempotency-replayed'), null);
    assert.notEqual(elsewhere.json.fileId, first.json.fileId);
  });

  it('[ROLE-8] needs no PIN, and a wrong one counts as a miss', async (t) => {
    const { api } = await startTestServer(t);
    const { read } = await roomWithLinks({ api }, { pin: '0427' });
    assert.equal((await api.get(`/api/rooms/${read}/content`, { pin: '9999' })).status, 200);
    const from = '203.0.113.7';
    let last = await api.get(`/api/rooms/${'Z'.repeat(24)}`, { from });
    assert.equal(last.code, 'ROOM_NOT_FOUND');
    for (let n = 0; n < 20 && last.status === 404; n++) last = await api.get(`/api/rooms/${'Z'.repeat(24)}`, { from });
    assert.equal(last.json.error.details.reason, 'misses');
    assert.equal((await api.get(`/api/rooms/${read}`, { from })).status, 429);
  });

  it('[ROLE-9] [ROLE-11] expires, ends with its room, and shows its last use to the minute', async (t) => {
    const { api, clock } = await startTestServer(t);
    const { room, read, drop } = await roomWithLinks({ api });
    const short = await createLink({ api }, room, 'read', { expiresIn: 60 });
    const { expiresAt } = (await api.get(`/api/rooms/${short}`)).json;
    assert.equal(Date.parse(expiresAt), clock.now + 60_000, 'not that of the room');
    const lastUsed = async () => {
      const { links } = (await api.get(`/api/rooms/${room}/links`)).json;
      return links.find(({ linkId }: { linkId: string }) => linkId === read)?.lastUsed;
    };
    assert.equal(await lastUsed(), undefined);
    const first = clock.now;
    await api.get(`/api/rooms/${read}/content`);
    await eventually('its first use is noted', async () => (await lastUsed()) === new Date(first).toISOString());
    clock.advance(59_000);
    await api.get(`/api/rooms/${read}/content`);
    clock.advance(1000);
    await assertError(await api.get(`/api/rooms/${short}/content`), 410, 'ROOM_EXPIRED');
    assert.equal(await lastUsed(), new Date(first).toISOString());
    const second = clock.now;
    await api.get(`/api/rooms/${read}/content`);
    await eventually('its next use is noted', async () => (await lastUsed()) === new Date(second).toISOString());
    await api.delete(`/api/rooms/${room}`);
    for (const link of [read, drop]) await assertError(await api.get(`/api/rooms/${link}`), 404, 'ROOM_NOT_FOUND');
  });
});
