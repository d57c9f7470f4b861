/** Changes of a room with the SDK. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient, PoproomError } from '../../src/client/index.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { follow } from './follower.ts';

describe('room.update()', () => {
  it('[CHANGE-8] changes the expiry and the name, and notifies followers', async (t) => {
    const { url, clock } = await startTestServer(t);
    const client = createClient({ url });
    const room = await client.createRoom({ name: 'Office' });
    assert.equal(room.name, 'Office');
    const follower = follow(t, client.room(room.code));
    assert.equal((await follower.next('snapshot')).room.name, 'Office');
    const info = await room.update({ expiresIn: 600, name: 'Küche' });
    assert.deepEqual([info.name, Date.parse(info.expiresAt)], ['Küche', clock.now + 600_000]);
    const { type, name, expiresAt, hasPin } = await follower.next('room');
    assert.deepEqual(
      { type, name, expiresAt, hasPin },
      { type: 'room', name: 'Küche', expiresAt: info.expiresAt, hasPin: false },
    );
    assert.equal((await room.update({ name: null })).name, undefined);
    assert.equal((await follower.next('room')).name, undefined);
    await assert.rejects(room.update({}), isError('VALIDATION_FAILED'));
    await assert.rejects(room.update({ name: 'x' }, { signal: AbortSignal.abort(new Error('enough')) }), /enough/);
  });

  it('[CHANGE-8] uses the new PIN from then on, for requests and for live channels that reconnect', async (t) => {
    const server = await sharedServer(t);
    const proxy = await startTcpProxy(t, () => server.port);
    const room = await createClient({ url: proxy.url }).createRoom();
    const other = createClient({ url: server.url }).room(room.code);
    const follower = follow(t, room);
    await follower.next('snapshot');
    for (const pin of ['0427', '8642']) {
      assert.equal((await room.update({ pin })).hasPin, true);
      assert.equal((await follower.next('room')).pinChanged, true);
      assert.equal((await room.info()).hasPin, true);
      await assert.rejects(other.info(), isError('PIN_REQUIRED'));
      proxy.disconnect();
      await follower.next('waiting');
      await follower.next('connected');
    }
    await assert.rejects(room.update({ pin: 'abcd' }), isError('VALIDATION_FAILED'));
    assert.equal((await room.info()).hasPin, true, 'a rejected change has no effect');
    assert.equal((await room.update({ pin: null })).hasPin, false);
    assert.equal((await other.info()).hasPin, false);
  });

  it('[CHANGE-7] [CHANGE-8] [SDK-4] does not send the earlier PIN after another client has changed it', async (t) => {
    const server = await sharedServer(t, { POPROOM_FREE_LIMIT: '0' });
    const proxy = await startTcpProxy(t, () => server.port);
    const room = await createClient({ url: server.url }).createRoom({ pin: '0427' });
    const other = createClient({ url: proxy.url }).room(room.code, { pin: '0427' });
    const follower = follow(t, other);
    await follower.next('snapshot');
    await other.update({ pin: '1111' });
    await follower.next('room');
    assert.equal(other.pin(), '1111', 'its own change');
    await createClient({ url: server.url }).room(room.code, { pin: '1111' }).update({ pin: '8642' });
    await follower.next('room');
    assert.equal(other.pin(), undefined);
    await assert.rejects(other.info(), isError('PIN_REQUIRED'));
    proxy.disconnect();
    await assert.rejects(follower.end, isError('PIN_REQUIRED'));
  });
});

const isError = (code: string) => (error: unknown) => error instanceof PoproomError && error.code === code;
