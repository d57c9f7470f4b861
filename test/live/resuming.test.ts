/** Channels that resume with a token, whatever limit is used up. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { connect, type Device, joinRoom } from '../support/device.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { inspectStore } from '../support/store-inspector.ts';

const elsewhere = { from: '10.0.0.9' };
const minute = 60_000;

describe('a channel that resumes', () => {
  it('[LIVE-21] is not rejected when all requests are used up, and does not count', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '3' });
    const room = await server.api.room({}, elsewhere);
    const { token } = await stay(t, server, room);
    const before = await remaining(server);
    await stay(t, server, room, token);
    assert.equal(await remaining(server), before, 'it was not counted');

    await useUp(server);
    await assert.rejects(connect(t, server.url, room), /429/);
    const resumed = await joinRoom(t, server.url, room, {}, { resumeToken: token });
    assert.equal(resumed.socket.protocol, 'poproom');
    assert.equal((await resumed.next('snapshot')).content.version, 0);
    resumed.send({ type: 'content', content: 'written all the same', baseVersion: 0 });
    await resumed.next('written');
    const { json } = await server.api.get(`/api/rooms/${room}/content`, elsewhere);
    assert.equal(json.content, 'written all the same');
    await assert.rejects(connect(t, server.url, room), /429/, 'without a token, the limit holds');
  });

  it('[LIVE-21] may do so until ten minutes after its end, however long it lasted', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '1' }, { heartbeatMs: 1000 });
    const room = await server.api.room({}, elsewhere);
    const device = await joinRoom(t, server.url, room);
    const first = tokenIn(await device.next('snapshot'));
    server.clock.advance(59 * minute);
    const last = tokenIn(await device.next('heartbeat', ({ resumeToken }) => resumeToken !== first));
    await device.leave();
    await assert.rejects(connect(t, server.url, room, { resumeToken: first }), /429/, 'the first one is too old');
    server.clock.advance(10 * minute);
    await useUp(server);
    await stay(t, server, room, last);
    server.clock.advance(5 * minute);
    await assert.rejects(connect(t, server.url, room, { resumeToken: last }), /429/);
  });

  it('[LIVE-21] [LIVE-4] receives a new token even if it missed nothing', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '3' });
    const room = await server.api.room({}, elsewhere);
    const { token, seq } = await stay(t, server, room);
    server.clock.advance(5 * minute);
    const resumed = await joinRoom(t, server.url, room, { seq }, { resumeToken: token });
    const renewed = tokenIn(await resumed.next('heartbeat'));
    assert.equal(resumed.received[0]?.type, 'devices');
    await resumed.leave();
    server.clock.advance(9 * minute);
    await useUp(server);
    await stay(t, server, room, renewed);
  });

  it('[LIVE-21] is not rejected because of wrong PINs and unknown codes from its address', async (t) => {
    const server = await startTestServer(t, { POPROOM_MISS_LIMIT: '8' });
    const room = await server.api.room({ pin: '0427' });
    const { token } = await stay(t, server, room, undefined, '0427');
    for (let n = 0; n < 5; n++) await server.api.get(`/api/rooms/${room}`, { pin: '9999' });
    assert.equal((await server.api.get(`/api/rooms/${room}`, { pin: '0427' })).code, 'PIN_LOCKED');
    await stay(t, server, room, token);
    for (let n = 0; n < 3; n++) await server.api.get('/api/rooms/ZZZZZZ');
    assert.equal((await server.api.get(`/api/rooms/${room}`)).code, 'RATE_LIMITED');
    await stay(t, server, room, token);
  });

  it('[LIVE-21] can use server-sent events, with a header', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '2' });
    const room = await server.api.room({ pin: '0427' }, elsewhere);
    const { token } = await stay(t, server, room, undefined, '0427');
    await useUp(server);
    const address = `${server.url}/api/rooms/${room}/events`;
    assert.equal((await fetch(address)).status, 429);
    const resumed = await fetch(address, { headers: { 'X-Resume-Token': token } });
    assert.equal(resumed.status, 200);
    const reader = resumed.body?.pipeThrough(new TextDecoderStream()).getReader();
    assert.match((await reader?.read())?.value ?? '', /^id: \d+\nevent: snapshot\n.*"resumeToken"/);
    await reader?.cancel();
    const head = await fetch(address, { method: 'HEAD', headers: { 'X-Resume-Token': token } });
    assert.equal(head.status, 429, 'only the stream itself resumes');
  });

  it('[LIVE-22] needs the token of its own room, as it was issued', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '2' });
    const room = await server.api.room({}, elsewhere);
    const other = await server.api.room({}, elsewhere);
    const { token } = await stay(t, server, room);
    await useUp(server);
    const [expiry = '', stamp = '', seal = ''] = token.split('.');
    const later = (Number.parseInt(expiry, 36) + 1).toString(36);
    const forged = [
      [later, stamp, seal].join('.'),
      [expiry, stamp.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')), seal].join('.'),
      [expiry, stamp, seal.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))].join('.'),
      [expiry, stamp, seal.slice(1)].join('.'),
      [expiry, seal].join('.'),
      token.repeat(200),
      'x',
    ];
    for (const resumeToken of forged) {
      await assert.rejects(connect(t, server.url, room, { resumeToken }), /429|400|431/, resumeToken.slice(0, 100));
    }
    await assert.rejects(connect(t, server.url, other, { resumeToken: token }), /429/);
    await stay(t, server, room.toLowerCase(), token);
  });

  it('[LIVE-22] is not admitted to another room that got the same code, nor to one that has ended', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room({ pin: '0427' });
    const { token } = await stay(t, server, room, undefined, '0427');
    await server.api.delete(`/api/rooms/${room}`, { pin: '0427' });
    assert.equal((await refusedJoin(t, server, room, token)).code, 4404);
    server.clock.advance(1000);
    const successor = await server.api.room({ pin: '7240' });
    await (await inspectStore(server)).changeCode(successor, room);
    assert.equal((await refusedJoin(t, server, room, token)).code, 4401);
  });

  it('[LIVE-22] does not leave its token in the log', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '2' });
    const room = await server.api.room({}, elsewhere);
    const { token } = await stay(t, server, room);
    await useUp(server);
    await stay(t, server, room, token);
    await assert.rejects(connect(t, server.url, room, { resumeToken: `${token}x` }), /429/);
    await fetch(`${server.url}/api/rooms/${room}/events`, { headers: { 'X-Resume-Token': `${token}x` } });
    await server.stop();
    assert.match(server.logged(), /"status":101/);
    for (const part of token.split('.').slice(1)) assert.ok(!server.logged().includes(part));
  });

  it('[LIVE-22] survives a restart of the server', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '2' });
    const room = await server.api.room({}, elsewhere);
    const { token } = await stay(t, server, room);
    await server.restart();
    await useUp(server);
    await stay(t, server, room, token);
  });

  it('[LIVE-23] [LIVE-12] counts as one of the channels that a client may have', async (t) => {
    const server = await startTestServer(t, { POPROOM_MAX_CHANNELS_PER_CLIENT: '2' });
    const room = await server.api.room();
    const { token } = await stay(t, server, room);
    for (let n = 0; n < 2; n++) {
      const device = await joinRoom(t, server.url, room, {}, { resumeToken: token });
      await device.next('snapshot');
    }
    await assert.rejects(connect(t, server.url, room, { resumeToken: token }), /429/);
  });

  it('[LIVE-23] counts as a request when one client resumes very often', async (t) => {
    const limits = { POPROOM_FREE_LIMIT: '1', POPROOM_MAX_CHANNELS_PER_CLIENT: '1000' };
    const server = await startTestServer(t, limits);
    const room = await server.api.room({}, elsewhere);
    const { token } = await stay(t, server, room);
    const before = performance.now();
    const attempts = Array.from({ length: 120 }, () => connect(t, server.url, room, { resumeToken: token }));
    const opened = (await Promise.allSettled(attempts)).filter(({ status }) => status === 'fulfilled').length;
    const refilled = Math.ceil((performance.now() - before) / 1000) + 1;
    assert.ok(opened >= 60 && opened <= 60 + refilled, `${opened} were opened`);
    await stay(t, server, room, token, undefined, { 'x-forwarded-for': '10.0.0.8' });
  });
});

/** Joins and leaves; returns what it has then. Fails if it is refused. */
async function stay(
  t: TestContext,
  { url }: TestServer,
  room: string,
  resumeToken?: string,
  pin?: string,
  headers: Record<string, string> = {},
) {
  const device = await joinRoom(t, url, room, pin === undefined ? {} : { pin }, { resumeToken, headers });
  const snapshot = await device.next('snapshot');
  await device.leave();
  return { token: tokenIn(snapshot), seq: snapshot.seq };
}

async function refusedJoin(t: TestContext, { url }: TestServer, room: string, resumeToken: string) {
  const device: Device = await joinRoom(t, url, room, {}, { resumeToken });
  return device.closed;
}

function tokenIn({ resumeToken }: { resumeToken?: string }): string {
  return resumeToken ?? assert.fail('the message has no token');
}

/** All requests of this machine. */
async function useUp(server: TestServer): Promise<void> {
  while ((await remaining(server)) > 0) await server.api.get('/api/health');
}

/** Asking is free. */
async function remaining({ api }: TestServer): Promise<number> {
  return Number((await api.get('/livez')).headers.get('x-ratelimit-remaining'));
}
