/** The stored and reserved bytes of each client, each network and all together. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Owner } from '../../src/core/ports/basics.ts';
import type { StorageLimits, StorageRequest } from '../../src/core/ports/clients.ts';
import type { StoredFile } from '../../src/core/ports/files.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import {
  checkpoint,
  createRoom,
  currentText,
  day,
  file,
  hour,
  keepCheckpoint,
  type OpenStore,
  ownStore,
  quota,
  type RoomStores,
  second,
  sharedStore,
  start,
  storedText,
} from './store-under-test.ts';

const none = Number.POSITIVE_INFINITY;
const unlimited: StorageLimits = { client: none, network: none, total: none };
const reservedFor = 15 * 60 * second;

export function storageTests(open: OpenStore): void {
  describe('the limit of a client', () => clientTests(open));
  describe('the limits of a network and of all', () => sharedLimitTests(open));
  describe('the counted bytes', () => lifetimeTests(open));
  describe('long texts', () => textTests(open));
}

function clientTests(open: OpenStore): void {
  const store = sharedStore(open);
  const limits = { ...unlimited, client: 1000 };
  const reserve = (asked: StorageRequest) => store.storage.reserve(asked, limits, start);

  it('[UP-8] grants exactly its bytes, and reports how many are used', async () => {
    const owner = newOwner();
    assert.deepEqual(await reserve(request(owner, 600)), { outcome: 'granted', bytes: 600, limit: undefined });
    const refused = await reserve(request(owner, 401));
    assert.equal(refused.outcome, 'refused');
    assert.deepEqual([refused.limit?.scope, refused.limit?.used, refused.limit?.maximum], ['client', 600, 1000]);
    assert.equal((await reserve(request(owner, 400))).outcome, 'granted');
    assert.equal((await reserve(request(owner, 1))).outcome, 'refused');
    assert.equal((await reserve(request(owner, 0))).outcome, 'granted', 'an empty file has room everywhere');
    assert.equal(await store.storage.usageOf(owner.client), 1000);
  });

  it('[UP-8] applies to one client', async () => {
    const [one, other] = [newOwner(), newOwner()];
    assert.equal((await reserve(request(one, 1000))).outcome, 'granted');
    assert.equal((await reserve(request(other, 1000))).outcome, 'granted');
  });

  it('[UP-8] grants the remainder to an upload of unknown length, until it is used up', async () => {
    const owner = newOwner();
    await reserve(request(owner, 700));
    const grant = await reserve({ ...request(owner, 0), most: 500 });
    assert.equal(grant.outcome === 'granted' && grant.bytes, 300);
    assert.deepEqual([grant.limit?.scope, grant.limit?.used, grant.limit?.maximum], ['client', 700, 1000]);
    assert.equal((await reserve({ ...request(owner, 0), most: 500 })).outcome, 'refused');
    assert.equal(await store.storage.usageOf(owner.client), 1000);
  });

  it('[UP-8] is never exceeded, however many requests are concurrent', async () => {
    const owner = newOwner();
    const grants = await Promise.all(Array.from({ length: 50 }, () => reserve(request(owner, 300))));
    assert.equal(grants.filter(({ outcome }) => outcome === 'granted').length, 3);
    assert.equal(await store.storage.usageOf(owner.client), 900);
  });

  it('[UP-8] reports when the first room with files of the client expires', async () => {
    const owner = newOwner();
    for (const hours of [5, 2, 3]) {
      const code = await createRoom(store.rooms, { expiresAt: start + hours * hour });
      await upload(store, code, request(owner, 300, start + hours * hour));
    }
    assert.equal((await reserve(request(owner, 300))).limit?.freesAt, start + 2 * hour);
  });
}

function sharedLimitTests(open: OpenStore): void {
  it('[UP-9] apply to the clients of one network together', async (t) => {
    const { storage } = (await ownStore(t, open)).store;
    const limits = { ...unlimited, client: 1000, network: 1500 };
    const network = newAccount();
    const [one, two, three] = [newOwner(network), newOwner(network), newOwner(network)];
    assert.equal((await storage.reserve(request(one, 1000), limits, start)).outcome, 'granted');
    const refused = await storage.reserve(request(two, 501), limits, start);
    assert.deepEqual([refused.limit?.scope, refused.limit?.used, refused.limit?.maximum], ['network', 1000, 1500]);
    assert.equal(await storage.usageOf(two.client), 0, 'nothing stays of what was refused');
    const part = await storage.reserve({ ...request(three, 0), most: 900 }, limits, start);
    assert.equal(part.outcome === 'granted' && part.bytes, 500);
    assert.deepEqual([await storage.usageOf(three.client), await storage.usageOf(network)], [500, 1500]);
  });

  it('[UP-10] apply to all clients together', async (t) => {
    const { store } = await ownStore(t, open);
    const { storage, rooms } = store;
    const limits = { ...unlimited, total: 1000 };
    const code = await createRoom(rooms);
    await upload(store, code, request(newOwner(), 600));
    await store.files.addFile(code, file({ size: 100 }), quota);
    assert.equal((await storage.reserve(request(newOwner(), 200), limits, start)).outcome, 'granted');
    const refused = await storage.reserve(request(newOwner(), 101), limits, start);
    assert.deepEqual(refused, {
      outcome: 'refused',
      limit: { scope: 'total', used: 900, maximum: 1000, freesAt: undefined },
    });
    assert.deepEqual(await storage.usage(), { stored: 700, reserved: 200 });
    const part = await storage.reserve({ ...request(newOwner(), 0), most: 900 }, limits, start);
    assert.equal(part.outcome === 'granted' && part.bytes, 100);
  });

  it('[UP-10] are never exceeded, however many uploads start and end concurrently', async (t) => {
    const { store } = await ownStore(t, open);
    const { storage, rooms } = store;
    const limits = { ...unlimited, total: 1000 };
    const code = await createRoom(rooms);
    const stored = await Promise.all(
      Array.from({ length: 30 }, () => upload(store, code, request(newOwner(), 90), limits)),
    );
    const { stored: bytes, reserved } = await storage.usage();
    assert.equal(reserved, 0);
    assert.equal(bytes, 90 * stored.filter((added) => added !== undefined).length);
    assert.ok(bytes <= 1000);
  });
}

function lifetimeTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[UP-11] are the size of a file once it is stored, however much was reserved', async () => {
    const owner = newOwner();
    const asked = { ...request(owner, 0), most: 5000 };
    const code = await createRoom(store.rooms);
    await store.storage.reserve(asked, unlimited, start);
    assert.equal(await store.storage.usageOf(owner.client), 5000);
    await store.files.addFile(code, file({ blob: asked.blob, owner, size: 42 }), quota);
    assert.equal(await store.storage.usageOf(owner.client), 42);
  });

  it('[UP-11] do not include an upload that was aborted, or that its room rejected', async () => {
    const owner = newOwner();
    const asked = request(owner, 500);
    await store.storage.reserve(asked, unlimited, start);
    await store.storage.release(asked);
    assert.equal(await store.storage.usageOf(owner.client), 0);

    const refused = request(owner, 500);
    await store.storage.reserve(refused, unlimited, start);
    const code = await createRoom(store.rooms);
    const added = await store.files.addFile(code, file({ blob: refused.blob, owner, size: 500 }), {
      files: 1,
      bytes: 499,
    });
    assert.equal(added, 'full');
    await store.storage.release(refused);
    assert.equal(await store.storage.usageOf(owner.client), 0);
  });

  it('[UP-11] end with the file, with its room, and with the expiry of the room, when the bytes are removed', async () => {
    const owner = newOwner(newAccount());
    const [kept, deleted] = [await createRoom(store.rooms), await createRoom(store.rooms)];
    const expiring = await createRoom(store.rooms, { expiresAt: start + hour });
    const removed = await upload(store, kept, request(owner, 1));
    await upload(store, kept, request(owner, 10));
    await upload(store, deleted, request(owner, 100));
    await upload(store, expiring, request(owner, 1000, start + hour));
    const used = async () => [
      await store.storage.usageOf(owner.client),
      await store.storage.usageOf(owner.network as string),
    ];
    assert.deepEqual(await used(), [1111, 1111]);

    await store.files.removeFile(kept, removed?.id ?? '', start);
    await emptyTrash(store);
    assert.deepEqual(await used(), [1111, 1111], 'a removed file counts until it is erased');
    await store.files.eraseRemovedIn(kept);
    await emptyTrash(store);
    assert.deepEqual(await used(), [1110, 1110]);
    await store.rooms.deleteRoom(deleted, start);
    await emptyTrash(store);
    assert.deepEqual(await used(), [1010, 1010]);
    await store.rooms.expireRooms(start + hour, 100);
    await emptyTrash(store);
    assert.deepEqual(await used(), [10, 10]);
  });

  it('[UP-11] end after 15 minutes if an upload was neither completed nor aborted', async () => {
    const owner = newOwner();
    const code = await createRoom(store.rooms);
    await upload(store, code, request(owner, 7));
    await store.storage.reserve(request(owner, 500), unlimited, start);
    await store.storage.releaseAbandoned(start + reservedFor - 1);
    assert.equal(await store.storage.usageOf(owner.client), 507);
    await store.storage.releaseAbandoned(start + reservedFor);
    assert.equal(await store.storage.usageOf(owner.client), 7, 'a file that is stored counts on');
  });

  it('[UP-11] [MOVE-1] survive a restart, and move with restored rooms', async (t) => {
    const under = await ownStore(t, open);
    const owner = newOwner(newAccount());
    const code = await createRoom(under.store.rooms, { owner });
    const added = await upload(under.store, code, request(owner, 123));
    const store = await under.reopen(start);
    assert.equal(await store.storage.usageOf(owner.client), 123);

    const record = await store.archive.readRoom(code, start);
    assert.deepEqual([record?.owner, record?.files], [owner, [added]]);
    const other = (await ownStore(t, open)).store;
    assert.ok(record && (await other.archive.restoreRoom(record, start)) === 'restored');
    assert.deepEqual(await other.archive.readRoom(code, start), record);
    assert.equal(await other.storage.usageOf(owner.client), 123);
    assert.equal(await other.storage.usageOf(owner.network as string), 123);
    assert.deepEqual(await other.storage.usage(), { stored: 123, reserved: 0 });
    await other.rooms.deleteRoom(code, start);
    await emptyTrash(other);
    assert.equal(await other.storage.usageOf(owner.client), 0);
    assert.deepEqual(await other.storage.usage(), { stored: 0, reserved: 0 });
  });
}

function textTests(open: OpenStore): void {
  const store = sharedStore(open);
  const limits = { ...unlimited, client: 1000, network: 1500 };

  it('[UP-8] count against the client that created the room, and are rejected when its quota is used up', async () => {
    const owner = newOwner(newAccount());
    const code = await createRoom(store.rooms, { owner, countsText: true });
    const charge = (bytes: number) => store.storage.chargeText({ code, owner, bytes }, limits, start);
    const used = () => store.storage.usageOf(owner.client);
    assert.deepEqual(await quotaOf(store, code), { owner, charged: 0, historyBytes: 0 });
    assert.equal(await charge(600), undefined);
    assert.deepEqual(await quotaOf(store, code), { owner, charged: 600, historyBytes: 0 });
    const refused = await charge(1001);
    assert.deepEqual([refused?.scope, refused?.used, refused?.maximum], ['client', 600, 1000]);
    assert.deepEqual([await used(), (await quotaOf(store, code))?.charged], [600, 600]);
    assert.equal((await store.storage.reserve(request(owner, 401), limits, start)).outcome, 'refused');
    assert.equal((await store.storage.reserve(request(owner, 400), limits, start)).outcome, 'granted');
    assert.equal((await charge(601))?.scope, 'client');
    assert.equal(await charge(100), undefined);
    assert.equal(await used(), 500);
    assert.equal(await charge(0), undefined);
    assert.deepEqual([await used(), await store.storage.usageOf(owner.network as string)], [400, 400]);
  });

  it('[UP-9] count against the quota of a network', async () => {
    const network = newAccount();
    const [one, two] = [newOwner(network), newOwner(network)];
    const charge = async (owner: Owner) => {
      const code = await createRoom(store.rooms, { owner, countsText: true });
      return store.storage.chargeText({ code, owner, bytes: 1000 }, limits, start);
    };
    assert.equal(await charge(one), undefined);
    assert.equal((await charge(two))?.scope, 'network');
    assert.deepEqual([await store.storage.usageOf(two.client), await store.storage.usageOf(network)], [0, 1000]);
  });

  it('[UP-11] count until their room ends, for whatever reason', async () => {
    const owner = newOwner();
    const codes = await Promise.all(
      [hour, 2 * hour].map((ms) => createRoom(store.rooms, { owner, countsText: true, expiresAt: start + ms })),
    );
    for (const code of codes) await store.storage.chargeText({ code, owner, bytes: 300 }, limits, start);
    assert.equal(await store.storage.usageOf(owner.client), 600);
    await store.rooms.deleteRoom(codes[1] as RoomCode, start);
    assert.equal(await store.storage.usageOf(owner.client), 300);
    await store.rooms.expireRooms(start + hour, 100);
    await store.storage.releaseAbandoned(start + hour);
    assert.equal(await store.storage.usageOf(owner.client), 0);
  });

  it('do not count in rooms without a text charge', async () => {
    const owner = newOwner();
    const code = await createRoom(store.rooms, { owner });
    assert.equal(await quotaOf(store, code), undefined);
    await store.storage.chargeText({ code, owner, bytes: 300 }, limits, start);
    assert.equal(await store.storage.usageOf(owner.client), 0);
  });

  it('[UP-8] count with the size of their history, which is known', async () => {
    const owner = newOwner();
    const code = await createRoom(store.rooms, { owner, countsText: true });
    await keepCheckpoint(store.texts, code, checkpoint(0, 'a'.repeat(70)));
    await keepCheckpoint(store.texts, code, checkpoint(1, 'b'.repeat(50)));
    assert.equal((await quotaOf(store, code))?.historyBytes, 120);
    await keepCheckpoint(store.texts, code, checkpoint(2, 'c'), { checkpoints: 2, bytes: 1000 });
    assert.equal((await quotaOf(store, code))?.historyBytes, 51);
    await store.texts.clearHistory(code, currentText('', 3), start);
    assert.equal((await quotaOf(store, code))?.historyBytes, 0);
  });

  it('[MOVE-1] continue to count in restored rooms', async (t) => {
    const owner = newOwner(newAccount());
    const code = await createRoom(store.rooms, { owner, countsText: true });
    await keepCheckpoint(store.texts, code, checkpoint(0, 'kept'));
    await store.storage.chargeText({ code, owner, bytes: 300 }, limits, start);
    const record = await store.archive.readRoom(code, start);
    assert.equal(record?.textCharge, 300);
    const other = (await ownStore(t, open)).store;
    assert.ok(record && (await other.archive.restoreRoom(record, start)) === 'restored');
    assert.deepEqual(await other.archive.readRoom(code, start), record);
    assert.deepEqual(await quotaOf(other, code), { owner, charged: 300, historyBytes: 4 });
    assert.equal(await other.storage.usageOf(owner.client), 300);
    await other.rooms.deleteRoom(code, start);
    assert.equal(await other.storage.usageOf(owner.network as string), 0);
  });
}

const quotaOf = async (store: RoomStores, code: RoomCode) => (await storedText(store.texts, code)).quota;

/** Reserves and adds a file; undefined where it was refused. */
async function upload(
  { storage, files }: Pick<Store, 'storage' | 'files'>,
  code: RoomCode,
  asked: StorageRequest,
  limits = unlimited,
): Promise<StoredFile | undefined> {
  const { blob, owner, most: size } = asked;
  const { outcome } = await storage.reserve(asked, limits, start);
  if (outcome === 'refused') return undefined;
  const added = file({ blob, owner, size });
  assert.ok(typeof (await files.addFile(code, added, quota)) === 'object');
  return added;
}

/** As core does it. */
async function emptyTrash({ trash }: RoomStores): Promise<void> {
  await trash.clearTrash(await trash.listTrash(1000));
}

function request(owner: Owner, size: number, expiresAt = start + day): StorageRequest {
  return {
    blob: randomBytes(32).toString('hex'),
    owner,
    expiresAt,
    deadline: start + reservedFor,
    least: size,
    most: size,
  };
}

const newAccount = () => randomBytes(6).toString('hex');
const newOwner = (network?: string): Owner => ({ client: newAccount(), network });
