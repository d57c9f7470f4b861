import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClientHash } from '../../src/core/clients.ts';
import { createIdempotency, type KeyedRequest } from '../../src/core/idempotency.ts';
import type { ClientId, IdempotencyStore } from '../../src/core/ports/basics.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { openStore, temporaryFolder } from '../store/open-sqlite.ts';

const secret = 'a secret of the server';
const room = 'ABC234' as RoomCode;
const request = { key: 'a-key-of-the-client', client: '192.0.2.1' as ClientId, scope: 'uploadFile ABC234', room };
const result = { id: 'id of a file' };

function runOf(store: IdempotencyStore, over: Partial<KeyedRequest> = {}, fingerprint = 'of the content') {
  const idempotency = createIdempotency({ store, secret, hashClient: createClientHash(secret), clock: Date.now });
  return idempotency.run<typeof result>({ ...request, ...over }, () => fingerprint);
}

describe('a request with an idempotency key', () => {
  it('[IDEM-4] has a record without its key, client, content and result, which only the same request can read', async (t) => {
    const { idempotency } = await openStore(t, await temporaryFolder(t));
    const record = runOf(idempotency).record(result);
    const stored = JSON.stringify(record);
    for (const secretText of [request.key, request.client, room, 'of the content', result.id]) {
      assert.ok(!stored.includes(secretText), secretText);
    }
    const again = runOf(idempotency);
    assert.deepEqual([again.replay(record), again.isReplayed], [result, true]);
    assert.throws(() => runOf(idempotency, {}, 'other content').replay(record), { code: 'IDEMPOTENCY_KEY_REUSED' });
    const others = [{ key: 'another-key-of-it' }, { client: '192.0.2.2' as ClientId }, { scope: 'uploadFile XYZ234' }];
    for (const other of others) {
      assert.notEqual(runOf(idempotency, other).record(result).key, record.key);
      assert.throws(() => runOf(idempotency, other).unseal(record));
    }
  });

  it('[IDEM-3] renews its lease of 10 seconds while it runs, and asks others to wait for the rest', async (t) => {
    t.mock.timers.enable({ apis: ['Date', 'setInterval'], now: Date.now() });
    const { idempotency } = await openStore(t, await temporaryFolder(t));
    const first = runOf(idempotency);
    assert.equal(await first.begin(), undefined);
    await assert.rejects(runOf(idempotency).begin(), { code: 'REQUEST_IN_PROGRESS', retryAfter: 10 });
    t.mock.timers.tick(3_000);
    await assert.rejects(runOf(idempotency).begin(), { retryAfter: 7 });
    for (let seconds = 0; seconds < 60; seconds++) t.mock.timers.tick(1_000);
    await assert.rejects(runOf(idempotency).begin(), { code: 'REQUEST_IN_PROGRESS' });
    await first.end();
    const second = runOf(idempotency);
    assert.equal(await second.begin(), undefined);
    await second.end();
  });

  it('[slow] [IDEM-3] can be sent again 10 seconds after its server has crashed', async (t) => {
    t.mock.timers.enable({ apis: ['Date', 'setInterval'], now: Date.now() });
    const { idempotency } = await openStore(t, await temporaryFolder(t));
    await runOf({ ...idempotency, renew: async () => undefined }).begin();
    t.mock.timers.tick(9_999);
    await assert.rejects(runOf(idempotency).begin(), { code: 'REQUEST_IN_PROGRESS', retryAfter: 1 });
    t.mock.timers.tick(1);
    assert.equal(await runOf(idempotency).begin(), undefined);
  });
});
