/** API keys. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { drawApiKey } from '../../src/core/clients.ts';
import type { ApiKey, Tier } from '../../src/core/ports/clients.ts';
import { type OpenStore, ownStore, second, sharedStore, start } from './store-under-test.ts';

interface NewKey {
  id: string;
  name: string;
  tier: Tier;
  hash: string;
}

export function keyTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[KEY-1] finds a key by its hash, and returns neither key nor hash', async () => {
    const key = newKey('laptop', 'pro');
    const made = { id: key.id, name: 'laptop', tier: 'pro', createdAt: start, revokedAt: undefined };
    assert.deepEqual(await store.keys.create(key, start), made);
    assert.deepEqual(await store.keys.find(key.hash), made);
  });

  it('[KEY-2] does not find a key that was never created', async () => {
    assert.equal(await store.keys.find(drawApiKey().hash), undefined);
  });

  it('rejects the name of an active key', async () => {
    const [first, second] = [newKey('taken'), newKey('taken')];
    await store.keys.create(first, start);
    assert.equal(await store.keys.create(second, start), undefined);
    assert.equal(await store.keys.find(second.hash), undefined);
    assert.equal((await store.keys.find(first.hash))?.id, first.id);
  });

  it('gives a name to exactly one of 10 concurrent callers', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => store.keys.create(newKey('wanted'), start)));
    assert.equal(made.filter((key) => key !== undefined).length, 1);
  });

  for (const by of ['id', 'name'] as const) {
    it(`[KEY-2] does not find a key that was revoked by its ${by}`, async () => {
      const key = newKey(`to be revoked by ${by}`);
      const made = (await store.keys.create(key, start)) as ApiKey;
      assert.deepEqual(await store.keys.revoke(key[by], start + second), { ...made, revokedAt: start + second });
      assert.equal(await store.keys.find(key.hash), undefined);
    });
  }

  it('revokes a key once, and none that does not exist', async () => {
    const key = newKey('once');
    await store.keys.create(key, start);
    await store.keys.revoke(key.id, start);
    assert.equal(await store.keys.revoke(key.id, start), undefined);
    assert.equal(await store.keys.revoke('once', start), undefined);
    assert.equal(await store.keys.revoke('never was', start), undefined);
  });

  it('frees the name of a revoked key, and revokes the one that has it now', async () => {
    const [old, present] = [newKey('again'), newKey('again')];
    await store.keys.create(old, start);
    await store.keys.revoke('again', start);
    await store.keys.create(present, start + second);
    assert.equal((await store.keys.find(present.hash))?.id, present.id);
    assert.equal((await store.keys.revoke('again', start + second))?.id, present.id);
    assert.equal(await store.keys.find(present.hash), undefined);
  });

  it('revokes the key with an id, not another one that has this id as its name', async () => {
    const key = newKey('meant');
    const namesake = newKey(key.id);
    await store.keys.create(namesake, start);
    await store.keys.create(key, start);
    assert.equal((await store.keys.revoke(key.id, start))?.id, key.id);
    assert.equal((await store.keys.find(namesake.hash))?.id, namesake.id);
  });

  it('lists all keys, oldest first, revoked ones included', async (t) => {
    const { keys } = (await ownStore(t, open)).store;
    assert.deepEqual(await keys.list(), []);
    const [first, second, third] = [newKey('first'), newKey('second', 'pro'), newKey('third')];
    await keys.create(second, start + 1);
    await keys.create(third, start + 2);
    await keys.create(first, start);
    await keys.revoke('second', start + 5);
    assert.deepEqual(await keys.list(), [
      { id: first.id, name: 'first', tier: 'free', createdAt: start, revokedAt: undefined },
      { id: second.id, name: 'second', tier: 'pro', createdAt: start + 1, revokedAt: start + 5 },
      { id: third.id, name: 'third', tier: 'free', createdAt: start + 2, revokedAt: undefined },
    ]);
  });
}

function newKey(name: string, tier: Tier = 'free'): NewKey {
  const { id, hash } = drawApiKey();
  return { id, name, tier, hash };
}
