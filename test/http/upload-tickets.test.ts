/** Tickets for uploads that are announced together, and count as one request. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createUploadTickets } from '../../src/core/tokens.ts';
import type { ApiResponse, RequestOptions } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { apiKeysOf, bearer } from '../support/keys.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { createUpload, pathIn, sendPart } from '../support/tus.ts';

const minute = 60_000;
const hour = 60 * minute;

type Api = TestServer['api'];

describe('a ticket for uploads', () => {
  it('[RATE-7] makes as many uploads as a room holds count as one request, of every kind', async (t) => {
    const { api, clock, url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '3', POPROOM_ROOM_MAX_FILES: '12' });
    const room = await api.room();
    const issued = await requestTicket(api, room, 1000);
    assert.equal(issued.status, 201);
    const { ticket, ...granted } = issued.json;
    const expiresAt = new Date(clock.now + hour).toISOString();
    assert.deepEqual(granted, { url: `${url}/api/rooms/${room}/upload`, expiresAt, uploads: 12 });
    assert.equal(leftOf(issued), 1);
    const headers = { 'x-upload-ticket': ticket };
    const put = await api.call('PUT', `/api/rooms/${room}/upload/a.txt`, { body: 'a', headers });
    const created = await createUpload(api, room, 2, headers);
    const ended = await sendPart(api, pathIn(created), 0, 'bc');
    const whole = await Promise.all(Array.from({ length: 10 }, (_, i) => send(api, room, ticket, `${i}.txt`)));
    const all = [put, created, ended, ...whole];
    assert.deepEqual(new Set(all.map(({ status }) => status)), new Set([201, 204]));
    assert.deepEqual(new Set(all.map(leftOf)), new Set([1]));
    const { files } = (await api.get(`/api/rooms/${room}/files`)).json;
    assert.equal(files.length, 12);
  });

  it('[RATE-7] works when the limit is used up, for exactly its uploads, also if they run concurrently', async (t) => {
    const { api } = await startTestServer(t, { POPROOM_FREE_LIMIT: '4' });
    const room = await api.room();
    const { ticket, uploads } = (await requestTicket(api, room, 5)).json;
    assert.equal(uploads, 5);
    await api.get('/api/health');
    const responses = await Promise.all(Array.from({ length: 12 }, () => send(api, room, ticket)));
    const stored = responses.filter(({ status }) => status === 201);
    assert.equal(stored.length, 6, 'five with the ticket, and one that counts');
    for (const response of responses.filter(({ status }) => status !== 201)) assertError(response, 429, 'RATE_LIMITED');
    assertError(await requestTicket(api, room, 5), 429, 'RATE_LIMITED');
  });

  it('[RATE-7] is issued to members and drop links, and to nobody else', async (t) => {
    const { api } = await startTestServer(t);
    const room = await api.room({ pin: '0427' });
    assertError(await requestTicket(api, room, 2), 401, 'PIN_REQUIRED');
    const tickets = `/api/rooms/${room}/tickets`;
    assert.equal((await api.post(tickets, { json: { pin: '0427', uploads: 2 } })).json.uploads, 2);
    const [drop, read] = await Promise.all(['drop', 'read'].map((role) => linkOf(api, room, role)));
    assertError(await requestTicket(api, read ?? '', 2), 403, 'READ_ONLY');
    assertError(await api.post(`/api/rooms/${drop}/tickets`), 403, 'DROP_ONLY');
    const issued = await requestTicket(api, drop ?? '', 2);
    assert.ok(!issued.text.includes(room), 'does not reveal the code');
    const left = leftOf(issued);
    for (const expected of [left, left, left - 1])
      assert.equal(leftOf(await send(api, drop ?? '', issued.json.ticket)), expected);
    for (const uploads of [0, -1, 1.5, '3', null])
      assertError(await api.post(tickets, { json: { uploads }, pin: '0427' }), 400, 'VALIDATION_FAILED');
  });

  it('[RATE-8] counts an upload with a forged, foreign, expired or used ticket like every other', async (t) => {
    const server = await startTestServer(t);
    const { api, clock } = server;
    const [room, other] = [await api.room(), await api.room()];
    const ticket = (await requestTicket(api, room, 2)).json.ticket as string;
    const [expiry = '', uploads = '', id = '', signature = ''] = ticket.split('.');
    const client = { client: '127.0.0.1', roomId: room, uploads: 9 };
    const drop = await linkOf(api, room, 'drop');
    const forged = {
      'more uploads': [expiry, 'zz', id, signature].join('.'),
      'a later expiry': [`${expiry.slice(0, -1)}z`, uploads, id, signature].join('.'),
      'another id': [expiry, uploads, 'A'.repeat(16), signature].join('.'),
      'another secret': createUploadTickets('guess', () => clock.now).issue(client).ticket,
      'a download ticket': (await api.post(`/api/rooms/${room}/tickets`)).json.ticket,
      'a ticket of another room': (await requestTicket(api, other, 2)).json.ticket,
      'a ticket of a link': (await requestTicket(api, drop, 2)).json.ticket,
      'a ticket of another address': (await requestTicket(api, room, 2, { from: '192.0.2.1' })).json.ticket,
      nonsense: '.'.repeat(4000),
      nothing: '',
    };
    let left = leftOf(await api.get('/api/health'));
    for (const [name, given] of Object.entries(forged))
      assert.equal(leftOf(await send(api, room, given)), --left, name);
    assert.equal(leftOf(await send(api, room, ticket)), left);
    assert.equal(leftOf(await api.get(`/api/rooms/${room}`, { headers: { 'x-upload-ticket': ticket } })), --left);
    const headers = bearer(await apiKeysOf(t, server).make('laptop', 'free'));
    assert.equal(leftOf(await send(api, room, ticket, 'a.txt', { headers })), 99, 'not for a key either');
    clock.advance(hour);
    assert.equal(leftOf(await send(api, room, ticket)), 99, 'expired');
  });

  it('[RATE-8] is used by failed uploads too, and is no more after a restart', async (t) => {
    const { api, clock, restart } = await startTestServer(t);
    const room = await api.room({ pin: '0427' });
    const issued = await requestTicket(api, room, 4, { pin: '0427' });
    const { ticket } = issued.json;
    let left = leftOf(issued);
    assertError(await send(api, room, ticket), 401, 'PIN_REQUIRED');
    const path = pathIn(await createUpload(api, room, 5, { 'x-upload-ticket': ticket, 'x-room-pin': '0427' }));
    assert.equal((await api.delete(path, { headers: { 'tus-resumable': '1.0.0' }, pin: '0427' })).status, 204);
    clock.advance(59 * minute);
    await restart();
    assert.equal(leftOf(await send(api, room, ticket, 'a.txt', { pin: '0427' })), left);
    assert.equal(leftOf(await send(api, room, ticket, 'a.txt', { pin: '0427' })), left);
    assert.equal(leftOf(await send(api, room, ticket, 'a.txt', { pin: '0427' })), --left);
  });

  it('[RATE-8] replaces no other limit', async (t) => {
    const settings = { POPROOM_FILE_MAX: '10', POPROOM_CLIENT_MAX_BYTES: '15', POPROOM_ROOM_MAX_FILES: '2' };
    const { api } = await startTestServer(t, settings);
    const room = await api.room();
    const { ticket, uploads } = (await requestTicket(api, room, 9)).json;
    assert.equal(uploads, 2);
    const another = (await requestTicket(api, room, 9)).json.ticket;
    const body = (length: number) => 'x'.repeat(length);
    assertError(await api.upload(room, 'a', body(11), withTicket(ticket)), 413, 'FILE_TOO_LARGE');
    assert.equal((await api.upload(room, 'a', body(10), withTicket(ticket))).status, 201);
    assertError(await api.upload(room, 'b', body(10), withTicket(another)), 413, 'QUOTA_EXCEEDED');
    assert.equal((await api.upload(room, 'b', body(1), withTicket(another))).status, 201);
    assertError(await api.upload(room, 'c', body(1), withTicket(another)), 413, 'ROOM_FULL');
  });
});

const requestTicket = (api: Api, room: string, uploads: number, options: RequestOptions = {}) =>
  api.post(`/api/rooms/${room}/tickets`, { json: { uploads }, ...options });

const withTicket = (ticket: string): RequestOptions => ({ headers: { 'x-upload-ticket': ticket } });

const send = (api: Api, room: string, ticket: string, name = 'a.txt', { headers, ...options }: RequestOptions = {}) =>
  api.upload(room, name, 'abc', { ...options, headers: { ...headers, 'x-upload-ticket': ticket } });

const leftOf = ({ headers }: ApiResponse) => Number(headers.get('x-ratelimit-remaining'));

async function linkOf(api: Api, room: string, role: string): Promise<string> {
  const links = `/api/rooms/${room}/links`;
  const created = await api.post(links, { json: { role } });
  return (created.status === 201 ? created : await api.post(links, { json: { role }, pin: '0427' })).json.linkId;
}
