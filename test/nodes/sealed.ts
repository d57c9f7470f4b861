/** An encrypted room on two nodes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SealedEdit, TextEdit } from '../../src/protocol/types.ts';
import { assertError } from '../support/assert-error.ts';
import { joinRoom } from '../support/device.ts';
import { eventually } from '../support/eventually.ts';
import type { SharedNodes } from '../support/nodes.ts';
import { createSealedRoom, readSealed, SealedReplica } from '../support/sealed-room.ts';

export function sealedTests(shared: () => SharedNodes): void {
  describe('an encrypted room on two nodes', () => sealedRoomTests(shared));
}

function sealedRoomTests(shared: () => SharedNodes): void {
  it('[SEALED-13] has one order of sealed edits, and shares snapshots and wrong keys', async (t) => {
    const [one, two] = shared().nodes;
    const room = await createSealedRoom(one.api);
    const path = `/api/rooms/${room.code}/content`;
    const device = await joinRoom(t, two.url, room.code, { auth: room.auth, deviceId: 'observer' });
    await device.next('snapshot');
    const observer = new SealedReplica(room);

    await Promise.all(
      [one, two].map(async ({ api }, i) => {
        const replica = new SealedReplica(room);
        const headers = { ...room.access.headers, 'x-device-id': `device-${i}` };
        for (let n = 0; n < 10; n++) {
          let mine: TextEdit[] = [{ from: 0, to: 0, insert: `${i}` }];
          for (;;) {
            const { sealed, baseVersion } = replica.seal(mine);
            const { status, json } = await api.patch(path, { json: { sealed, baseVersion }, headers });
            if (status === 200) replica.apply({ sealed, version: json.version });
            if (status === 200) break;
            mine = replica.rebase(mine, json.error.details.sealedEdits as SealedEdit[], `device-${i}`);
          }
        }
      }),
    );
    while (observer.version < 20) observer.apply(await device.next('sealed-edit'));
    const replica = await readSealed(two.api, room);
    assert.equal(replica.version, 20);
    assert.equal(observer.text, replica.text);
    assert.deepEqual([...replica.text].sort().join(''), `${'0'.repeat(10)}${'1'.repeat(10)}`);

    // A node that has the text in memory learns of a snapshot and a replaced text.
    assert.equal((await one.api.post(`${path}/compact`, { json: replica.snapshot(), ...room.access })).status, 200);
    const ofSecond = async () => (await two.api.get(path, room.access)).json;
    await eventually('both nodes have the snapshot', async () => (await ofSecond()).contentVersion === 20);
    const { content, baseVersion } = replica.replace('new');
    const headers = { ...room.access.headers, 'if-match': `"${baseVersion}"` };
    assert.equal((await one.api.post(path, { json: { content }, headers })).status, 200);
    observer.load(await device.next('content'));
    assert.equal(observer.text, 'new');
    const late = await two.api.patch(path, { json: replica.insert('late'), ...room.access });
    assert.equal(assertError(late, 409, 'EDIT_CONFLICT').contentVersion, 21);

    const wrong = { headers: { 'x-room-auth': 'A'.repeat(43) }, from: '198.51.100.1' };
    for (let n = 0; n < 5; n++) await [one, two][n % 2]?.api.get(path, wrong);
    assertError(await two.api.get(path, wrong), 429, 'KEY_LOCKED');
    assert.equal((await device.next('pin-attempts', ({ pinAttempts }) => pinAttempts === 5)).pinAttempts, 5);
  });
}
