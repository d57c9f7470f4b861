/** Reports of rooms: from everyone with access to a room, to the operator. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adminOf, masked, reportsEnv } from '../support/admin.ts';
import { assertError } from '../support/assert-error.ts';
import { roomWithLinks } from '../support/links.ts';
import { createSealedRoom } from '../support/sealed-room.ts';
import { sharedServer, startTestServer } from '../support/server.ts';

const contact = { POPROOM_ABUSE_CONTACT: 'abuse@example.org' };
const day = 86_400_000;

describe('reports of rooms', () => {
  it('[REPORT-1] need a contact and an admin token, and the limits tell both', async (t) => {
    for (const [env, limits] of [
      [{}, { reports: false }],
      [contact, { reports: false, abuseContact: 'abuse@example.org' }],
    ] as const) {
      const { api } = await sharedServer(t, env);
      assert.partialDeepStrictEqual((await api.get('/api/limits')).json, limits);
      const report = await api.post(`/api/rooms/${await api.room()}/reports`, { json: { reason: 'other' } });
      assertError(report, 404, 'NOT_FOUND');
    }
  });

  it('[REPORT-2] [REPORT-4] reach the admin interface from members, readers and droppers, without anything of the room', async (t) => {
    const server = await startTestServer(t, reportsEnv);
    const { api, logged } = server;
    const admin = adminOf(server);
    const { room, read, drop } = await roomWithLinks(server);
    const protectedRoom = await api.room({ pin: '0427', name: 'private name' });
    const send = (id: string, from: string, json: object) => api.post(`/api/rooms/${id}/reports`, { json, from });
    assertError(await send(protectedRoom, '203.0.113.1', { reason: 'other' }), 401, 'PIN_REQUIRED');
    assertError(await send('AAAAAA', '203.0.113.1', { reason: 'other' }), 404, 'ROOM_NOT_FOUND');
    for (const json of [
      {},
      { reason: 'boring' },
      { reason: 'other', comment: 'x'.repeat(501) },
      { reason: 'other', text: 1 },
    ])
      assertError(await send(room, '203.0.113.1', json), 400, 'VALIDATION_FAILED');

    assert.equal((await send(room, '203.0.113.1', { reason: 'malware', comment: 'a \u202evirus\n' })).status, 201);
    assert.equal((await send(read, '203.0.113.2', { reason: 'illegal' })).status, 201);
    assert.equal((await send(drop, '203.0.113.3', { reason: 'harassment' })).status, 201);
    // Another one of the same client replaces its first one.
    assert.equal((await send(drop, '203.0.113.3', { reason: 'copyright' })).status, 201);
    const { total, reports } = (await admin.get('/reports')).json;
    assert.equal(total, 3);
    const seen = reports.map(({ reason, code, comment }: Record<string, string>) => [reason, code, comment]);
    assert.deepEqual(seen.toSorted(), [
      ['copyright', masked(room), undefined],
      ['illegal', masked(room), undefined],
      ['malware', masked(room), 'a virus'],
    ]);
    assert.ok(admin.seen.every((text) => !text.includes(room) && !text.includes(read) && !text.includes(drop)));
    assert.match(logged(), /someone reported a room/);

    const [first] = reports;
    assert.equal((await admin.post(`/rooms/${first.room}/reveal`)).json.roomId, room);
    assert.equal((await admin.delete(`/reports/${first.id}`)).status, 200);
    assertError(await admin.delete(`/reports/${first.id}`), 404, 'NOT_FOUND');
    assert.equal((await admin.get('/reports?limit=1')).json.reports.length, 1);
    assert.equal((await admin.delete(`/rooms/${first.room}`)).status, 200);
    assert.deepEqual((await admin.get('/reports')).json, { total: 0, reports: [] });
  });

  it('[REPORT-3] are kept for 30 days, also after the end of the room, and are few of each client', async (t) => {
    const server = await startTestServer(t, reportsEnv);
    const { api, clock } = server;
    const admin = adminOf(server);
    const report = async (room: string) => api.post(`/api/rooms/${room}/reports`, { json: { reason: 'other' } });
    const room = await api.room();
    await report(room);
    await api.delete(`/api/rooms/${room}`);
    await server.restart();
    const [ended] = (await admin.get('/reports')).json.reports;
    assert.deepEqual([ended.code, 'room' in ended], [masked(room), false]);
    for (let n = 1; n < 10; n++) assert.equal((await report(await api.room())).status, 201);
    assertError(await report(await api.room()), 409, 'TOO_MANY_REPORTS');
    clock.advance(30 * day + 1);
    assert.equal((await admin.get('/reports')).json.total, 0);
  });

  it('[REPORT-2] of encrypted rooms need the key, and send nothing else', async (t) => {
    const server = await startTestServer(t, reportsEnv);
    const { api } = server;
    const { code, access } = await createSealedRoom(api);
    const report = (options: object) =>
      api.post(`/api/rooms/${code}/reports`, { json: { reason: 'other' }, ...options });
    assertError(await report({}), 401, 'KEY_REQUIRED');
    assert.equal((await report(access)).status, 201);
  });
});
