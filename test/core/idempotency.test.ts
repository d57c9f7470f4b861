import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClientHash } from '../../src/core/client-hash.ts';
import { createIdempotency } from '../../src/core/idempotency.ts';
import type { ClientId } from '../../src/core/ports.ts';
import { openStore, temporaryFolder } from '../store/open-sqlite.ts';

const secret = 'a secret of the server';
const request = { key: 'a-key-of-the-client', client: '192.0.2.1' as ClientId, scope: 'createRoom ' };

describe('a request with an idempotency key', () => {
  it('[IDEM-1] succeeds if only its result cannot be kept, because an error would make the client repeat it', async (t) => {
    const store = (await openStore(t, await temporaryFolder(t))).idempotency;
    const full = { ...store, finish: () => Promise.reject(new Error('The disk is full.')) };
    const deps = { secret, hashClient: createClientHash(secret), clock: Date.now };
    let performed = 0;
    const steps = {
      perform: async () => ({ number: ++performed }),
      fingerprint: () => 'the same',
      compare: async () => 'the same',
    };
    const first = await createIdempotency({ ...deps, store: full }).run(request, steps);
    assert.deepEqual(first, { result: { number: 1 }, isReplayed: false });
    // Until its lease ends, the key is not used again.
    await assert.rejects(createIdempotency({ ...deps, store }).run(request, steps), { code: 'REQUEST_IN_PROGRESS' });
    assert.equal(performed, 1);
  });
});
