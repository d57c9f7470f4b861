/** Links with a role in the SDK, in plain and in encrypted rooms. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient, type Room } from '../../src/client/index.ts';
import { sharedServer } from '../support/server.ts';

describe('links of the SDK', () => {
  it('[ROLE-14] are created, listed, opened like a room and revoked', async (t) => {
    const { url } = await sharedServer(t);
    const client = createClient({ url, deviceId: 'sdk', deviceName: 'Reader' });
    const room = await client.createRoom({ pin: '0427' });
    await room.write('Hello');
    const link = await room.createLink({ role: 'read', name: 'Guests' });
    assert.deepEqual(await room.links(), [link]);
    const reader = client.room(link.link ?? '');
    assert.deepEqual([(await reader.info()).role, (await reader.read()).content], ['read', 'Hello']);
    await assert.rejects(reader.write('x'), { code: 'READ_ONLY', status: 403 });
    const dropper = client.room((await room.createLink({ role: 'drop' })).linkId.toLowerCase());
    await dropper.upload(new Blob(['a note'], { type: 'text/plain' }), { name: 'note.txt' });
    await assert.rejects(dropper.files(), { code: 'DROP_ONLY' });
    assert.equal((await reader.files())[0]?.fileName, 'note.txt');
    const { reasons, joined } = follow(reader);
    await joined;
    await room.revokeLink(link.linkId);
    assert.equal(await reasons, 'revoked');
    await assert.rejects(reader.read(), { code: 'ROOM_NOT_FOUND' });
  });

  it('[SEALED-97] [SEALED-98] of an encrypted room carry keys for reading or for dropping, which the server never gets', async (t) => {
    const { url } = await sharedServer(t);
    const client = createClient({ url });
    const room = await client.createRoom({ encrypted: true, name: 'Vault' });
    await room.write('A secret');
    const read = await room.createLink({ role: 'read', name: 'Guests' });
    const drop = await room.createLink({ role: 'drop' });
    for (const { linkId } of [read, drop]) assert.ok(linkId.startsWith('E'));
    const named = (await room.links()).find(({ linkId }) => linkId === read.linkId);
    assert.deepEqual([named?.name, named?.link], ['Guests', read.link]);
    assert.ok(!(read.link ?? '').includes(fragmentless(room.key)), 'not the room key');

    const reader = client.room(read.link ?? '');
    const { name, role, encrypted, roomId } = await reader.info();
    assert.deepEqual([name, role, encrypted, roomId], ['Vault', 'read', true, read.linkId]);
    assert.equal((await reader.read()).content, 'A secret');
    await assert.rejects(reader.write('x'), { code: 'READ_ONLY' });
    const { reasons, joined } = follow(reader);
    assert.equal(await joined, 'A secret');

    const dropper = client.room(drop.linkId, { key: new URL(drop.link ?? '').hash.slice(1) });
    await dropper.upload(new Blob(['dropped bytes']), { name: 'photo.jpg', type: 'image/jpeg' });
    for (const refused of [dropper.read(), dropper.write('x'), dropper.files(), dropper.update({ name: 'x' })])
      await assert.rejects(refused, { code: 'DROP_ONLY' });
    const [file] = await room.files();
    assert.ok(file);
    assert.deepEqual([file.fileName, file.contentType, file.fileSize], ['photo.jpg', 'image/jpeg', 13]);
    assert.equal(await (await room.download(file)).text(), 'dropped bytes');
    assert.equal((await reader.files())[0]?.fileName, 'encrypted', 'not even a reader can open it');

    await assert.rejects(client.room(read.linkId).read(), { code: 'KEY_REQUIRED' }, 'nothing is sent without the keys');
    await assert.rejects(client.room(drop.linkId, { key: 'wrong' }).upload(new Blob(['x']), { name: 'x' }), {
      code: 'KEY_WRONG',
    });
    await room.revokeLink(read.linkId);
    assert.equal(await reasons, 'revoked');
  });
});

const fragmentless = (key: string | undefined) => (key ?? '').replaceAll('-', '');

/** Joins a room. Returns its text when it has joined, and why it ended. */
function follow(room: Room): { joined: Promise<string | undefined>; reasons: Promise<string> } {
  const { promise: joined, resolve } = Promise.withResolvers<string | undefined>();
  const events = room.live()[Symbol.asyncIterator]();
  async function read(): Promise<string> {
    for (;;) {
      const { done, value } = await events.next();
      if (done) return value;
      if (value.type === 'snapshot') resolve(value.content.content);
    }
  }
  return { joined, reasons: read() };
}
