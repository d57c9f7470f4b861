/** Links of rooms: access by them, their end, and the files that are added with them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { LinkAttempt, StoredLink } from '../../src/core/ports/rooms.ts';
import type { LinkId, RoomCode } from '../../src/core/room-code.ts';
import {
  countedFiles,
  createRoom,
  file,
  hour,
  newClient,
  type OpenStore,
  ownStore,
  quota,
  roomUpdate,
  sharedStore,
  start,
  unfinishedFile,
} from './store-under-test.ts';

let drawn = 0;

export function storedLink(over: Partial<StoredLink> = {}): StoredLink {
  drawn += 1;
  const id = `${process.pid.toString(32)}${drawn}`
    .toUpperCase()
    .replace(/[ILOU]/g, '0')
    .padStart(24, 'Z') as LinkId;
  const rest = { name: undefined, expiresAt: undefined, lastUsed: undefined };
  return { id, role: 'read', createdAt: start, ...rest, ...over };
}

const attempt = (id: LinkId, over: Partial<LinkAttempt> = {}): LinkAttempt => ({
  id,
  client: newClient(),
  deviceId: undefined,
  now: start,
  ...over,
});

export function linkTests(open: OpenStore): void {
  const store = sharedStore(open);

  async function linkIn(code: RoomCode, over: Partial<StoredLink> = {}): Promise<StoredLink> {
    const link = storedLink(over);
    assert.equal(await store.links.createLink(code, link, 20, start), 'created');
    return link;
  }

  it('[ROLE-1] are listed oldest first, found by their id, and limited in number', async () => {
    const { rooms, links } = store;
    const code = await createRoom(rooms);
    const second = await linkIn(code, { role: 'drop', name: 'ünï 👍🏽 "quoted"', createdAt: start + 1 });
    const first = await linkIn(code, { expiresAt: start + hour });
    assert.deepEqual(await links.listLinks(code, start), [first, second]);
    assert.deepEqual(await links.findLink(second.id, start), { code, link: second });
    assert.equal(await links.createLink(code, storedLink(), 2, start), 'full');
    assert.equal(
      await links.createLink(code, storedLink(), 2, start + hour),
      'created',
      'an expired one does not count',
    );
    assert.equal(((await links.listLinks(code, start + hour)) as StoredLink[]).length, 2);
    assert.deepEqual(await links.listLinks(await createRoom(rooms), start), []);
  });

  it('[ROLE-8] admit to their room, and an unknown one is a miss', async () => {
    const { rooms, links } = store;
    const code = await createRoom(rooms, { pinMac: new Uint8Array(32), name: 'Table' });
    const link = await linkIn(code);
    const admitted = await links.admit(attempt(link.id));
    assert.ok(admitted.outcome === 'admitted');
    assert.deepEqual([admitted.room.code, admitted.room.name, admitted.link], [code, 'Table', link]);
    const client = newClient();
    for (let n = 0; n < 20; n++) {
      assert.equal((await links.admit(attempt(storedLink().id, { client }))).outcome, 'unknown');
    }
    assert.equal((await links.admit(attempt(link.id, { client }))).outcome, 'too-many-misses');
  });

  it('[ROLE-9] end when they expire, and with their room', async () => {
    const { rooms, links } = store;
    const code = await createRoom(rooms);
    const [short, long] = [await linkIn(code, { expiresAt: start + hour }), await linkIn(code)];
    assert.equal((await links.admit(attempt(short.id, { now: start + hour }))).outcome, 'expired');
    assert.equal(await links.findLink(short.id, start + hour), undefined);
    assert.equal((await links.admit(attempt(long.id, { now: start + hour }))).outcome, 'admitted');
    await rooms.deleteRoom(code, start);
    assert.equal((await links.admit(attempt(long.id))).outcome, 'unknown');
    assert.equal(await links.findLink(long.id, start), undefined);
    assert.equal(await links.listLinks(code, start), 'gone');
    assert.equal(await links.createLink(code, storedLink(), 20, start), 'gone');
  });

  it('[ROLE-5] are revoked at once, in their own room only', async () => {
    const { rooms, links } = store;
    const [code, other] = [await createRoom(rooms), await createRoom(rooms)];
    const link = await linkIn(code);
    assert.equal(await links.revokeLink(other, link.id, start), 'no-link');
    assert.deepEqual((await stateOf(code)).links, [link.id]);
    assert.equal(await links.revokeLink(code, link.id, start), 'revoked');
    assert.equal(await links.revokeLink(code, link.id, start), 'no-link');
    assert.equal((await links.admit(attempt(link.id))).outcome, 'unknown');
    assert.deepEqual((await stateOf(code)).links, []);
  });

  it('[ROLE-6] add no file once they are revoked or have expired', async () => {
    const { rooms, links, files, uploads } = store;
    const code = await createRoom(rooms);
    const link = await linkIn(code, { role: 'drop', expiresAt: start + hour });
    const added = file({ link: link.id });
    const outcome = await files.addFile(code, added, quota);
    assert.ok(typeof outcome === 'object' && 'seq' in outcome);
    assert.deepEqual(await files.findFile(added.id, start), added);
    const late = file({ link: link.id, uploadedAt: start + hour });
    assert.equal(await files.addFile(code, late, quota), 'no-link');
    const running = unfinishedFile({ link: link.id, size: 0 });
    assert.equal(await uploads.startUpload(code, running, quota), 'started');
    assert.equal(await uploads.finishUpload(code, running.id, start + hour), 'no-link');
    assert.deepEqual(await countedFiles(rooms, code), { files: 2, bytes: added.size });
    await links.revokeLink(code, link.id, start);
    assert.equal(await files.addFile(code, file({ link: link.id }), quota), 'no-link');
    assert.equal(await uploads.startUpload(code, unfinishedFile({ link: link.id }), quota), 'no-link');
    assert.equal(await uploads.findUpload(code, running.id, start), 'no-file', 'it went with the link');
    assert.equal(await uploads.finishUpload(code, running.id, start), 'no-file');
    assert.deepEqual(await countedFiles(rooms, code), { files: 1, bytes: added.size });
  });

  it('[ROLE-10] attach devices with the role, and the name of the link', async () => {
    const { rooms, links } = store;
    const code = await createRoom(rooms);
    const [named, nameless] = [await linkIn(code, { role: 'drop', name: 'Our  guests' }), await linkIn(code)];
    await links.admit(attempt(named.id, { deviceId: 'a' }));
    await links.admit(attempt(nameless.id, { deviceId: 'b', now: start + 1 }));
    const channel = { id: 'c', device: { id: 'd', name: 'Phone', role: 'read' as const } };
    await rooms.attachDevice(code, channel, start);
    const devices = await rooms.listDevices(code, start + 1);
    assert.deepEqual(
      devices.sort((one, other) => (one.id < other.id ? -1 : 1)),
      [
        { id: 'a', name: 'Our  guests', role: 'drop' },
        { id: 'b', name: undefined, role: 'read' },
        { id: 'd', name: 'Phone', role: 'read' },
      ],
    );
  });

  it('[ROLE-11] know when they were last used', async () => {
    const { rooms, links } = store;
    const code = await createRoom(rooms);
    const link = await linkIn(code);
    await links.noteUse(code, link.id, start + 5);
    assert.deepEqual(await links.listLinks(code, start), [{ ...link, lastUsed: start + 5 }]);
    await links.revokeLink(code, link.id, start);
    await links.noteUse(code, link.id, start + 6);
    assert.deepEqual(await links.listLinks(code, start), []);
  });

  it('[ROLE-9] stay as long as a room that is extended', async () => {
    const { rooms, links } = store;
    const code = await createRoom(rooms, { expiresAt: start + hour });
    const link = await linkIn(code);
    await rooms.updateRoom(code, roomUpdate({ expiresAt: start + 1000 * hour }), start);
    assert.equal((await links.admit(attempt(link.id, { now: start + 999 * hour }))).outcome, 'admitted');
  });

  it('[ROLE-12] survive a restart', async (t) => {
    const { store: own, reopen } = await ownStore(t, open);
    const code = await createRoom(own.rooms);
    const link = storedLink({ name: 'Guests' });
    await own.links.createLink(code, link, 20, start);
    await own.links.noteUse(code, link.id, start + 1);
    const { links } = await reopen(start);
    assert.deepEqual(await links.findLink(link.id, start), { code, link: { ...link, lastUsed: start + 1 } });
  });

  async function stateOf(code: RoomCode) {
    const state = await store.rooms.readState(code, start);
    assert.ok(typeof state === 'object');
    return state;
  }
}
