/** The fingerprint of the secret. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type OpenStore, ownStore, start } from './store-under-test.ts';

export function secretTests(open: OpenStore): void {
  it('[OPS-3] keeps the first fingerprint until it is replaced, also after a restart', async (t) => {
    const { store, reopen } = await ownStore(t, open);
    assert.equal(await store.secretRecord.find(), undefined);
    assert.deepEqual(await Promise.all(['one', 'other'].map(store.secretRecord.keep)), ['one', 'one']);
    const later = await reopen(start);
    assert.equal(await later.secretRecord.keep('third'), 'one');
    await later.secretRecord.replace('third');
    assert.equal(await later.secretRecord.find(), 'third');
  });
}
