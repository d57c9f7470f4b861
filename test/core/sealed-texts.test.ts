/** The authority over sealed texts: bounds of the log, repeated refs, and snapshots of other nodes. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createLocalBus } from '../../src/bus/local.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { createTexts, type Texts } from '../../src/core/text/texts.ts';
import { createRoom, mac, storedText } from '../contract/store-under-test.ts';
import { openStore, temporaryFolder } from '../store/open-sqlite.ts';
import { SealedReplica, sealedRoom } from '../support/sealed-room.ts';

async function open(t: TestContext) {
  const store = await openStore(t, await temporaryFolder(t));
  const lifetime = { createdAt: Date.now(), expiresAt: Date.now() + 600_000 };
  const code = (await createRoom(store.rooms, { ...lifetime, pinMac: mac('auth'), salt: 'A'.repeat(22) })) as RoomCode;
  const node = () => createTexts({ ...store, bus: createLocalBus(), clock: Date.now }, { largestContent: 1e6 });
  const stored = () => storedText(store.texts, code, Date.now());
  return { code, node, stored, replica: new SealedReplica(await sealedRoom(code)) };
}

/** Stores one letter after another, without waiting. Returns the last response. */
async function type(texts: Texts, code: RoomCode, replica: SealedReplica, until: number) {
  const writes: ReturnType<Texts['edit']>[] = [];
  while (replica.version < until) {
    const edit = replica.insert('x');
    writes.push(texts.edit(code, edit));
    replica.apply({ ...edit, version: replica.version + 1 });
  }
  return (await Promise.all(writes)).at(-1);
}

describe('the log of an encrypted room', () => {
  it('[slow] [SEALED-9] asks for a snapshot from 200 edits, and is full with 1,000', async (t) => {
    const { code, node, stored, replica } = await open(t);
    const [one, two] = [node(), node()];
    assert.ok(!('compact' in ((await type(one, code, replica, 199)) ?? {})));
    assert.equal((await type(one, code, replica, 200))?.compact, true);
    assert.equal((await type(one, code, replica, 1000))?.compact, true);
    await assert.rejects(one.edit(code, replica.insert('y')), { code: 'COMPACTION_REQUIRED' });
    await assert.rejects(two.edit(code, replica.insert('y')), { code: 'COMPACTION_REQUIRED' });
    assert.equal((await stored()).content.version, 1000);

    await two.compact(code, replica.snapshot());
    const { fullTextVersion, entries } = await stored();
    assert.deepEqual([fullTextVersion, entries.length], [1000, 500], 'some entries stay for reconnecting clients');
    // The first node still has the long log in memory.
    assert.ok(!('compact' in ((await type(one, code, replica, 1001)) ?? {})));
    assert.equal((await type(two, code, replica, 1002))?.version, 1002);
    // And it has not seen the last version.
    assert.equal((await one.compact(code, replica.snapshot())).version, 1002);
    await assert.rejects(one.compact(code, { ...replica.snapshot(), version: 1003 }), { code: 'VERSION_CONFLICT' });
    await assert.rejects(one.edit(code, { ...replica.insert('y'), baseVersion: 5 }), (error: Error) => {
      const { details } = error as Error & { details: Record<string, unknown> };
      assert.deepEqual([details.contentVersion, details.version], [1002, 1002]);
      return true;
    });
  });

  it('[SEALED-7] stores an edit once, also after a snapshot and a replaced text', async (t) => {
    const { code, node, stored, replica } = await open(t);
    const [one, two] = [node(), node()];
    const edit = { ...replica.insert('once'), deviceId: 'phone', ref: 'r1' };
    const { version } = await one.edit(code, edit);
    replica.apply({ ...edit, version });
    assert.equal((await two.edit(code, edit)).version, 1);
    await two.compact(code, replica.snapshot());
    assert.equal((await node().edit(code, edit)).version, 1);
    const { content, baseVersion } = replica.replace('other');
    await one.replace(code, { content, ifVersions: [baseVersion] });
    assert.equal((await node().edit(code, edit)).version, 1);
    assert.deepEqual([(await stored()).content.version, (await stored()).content.content], [2, content]);
    await assert.rejects(one.edit(code, { ...edit, sealed: replica.insert('two').sealed }), {
      code: 'VALIDATION_FAILED',
    });
  });

  it('[SEALED-7] has one order if two nodes write concurrently', async (t) => {
    const { code, node, stored, replica } = await open(t);
    const nodes = [node(), node(), node()];
    const writes = nodes.flatMap((texts) => [
      texts.edit(code, replica.insert('a')),
      texts.replace(code, { content: replica.replace('b').content, ifVersions: [0] }),
    ]);
    const outcomes = await Promise.allSettled(writes);
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') assert.match(outcome.reason.code, /^(EDIT|VERSION)_CONFLICT$/);
    }
    assert.equal((await stored()).content.version, 1);
  });
});
