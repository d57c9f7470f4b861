/** Unfinished files: they count from their start, and are listed when they are finished. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type FileQuota,
  type StoredFile,
  type UnfinishedFile,
  type UploadStore,
  unfinishedName,
} from '../../src/core/ports/files.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import {
  countedFiles,
  createRoom,
  file,
  hour,
  type OpenStore,
  ownStore,
  quota,
  second,
  sharedStore,
  start,
  unfinishedFile,
} from './store-under-test.ts';

const none = Number.POSITIVE_INFINITY;
const unlimited = { client: none, network: none, total: none };
const owner = { client: 'client', network: 'network' };

export function uploadTests(open: OpenStore): void {
  describe('an upload', () => startTests(open));
  describe('its progress', () => progressTests(open));
  describe('a finished upload', () => finishTests(open));
  describe('a dropped upload', () => dropTests(open));
}

function startTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[TUS-2] is found as it was started, in its room only', async () => {
    const { rooms } = store;
    const code = await createRoom(rooms);
    const upload = unfinishedFile({
      owner,
      name: 'ünï 👍🏽 "quoted".mp4',
      folder: 'a/b',
      deviceId: 'phone',
      size: 5e10,
    });
    assert.equal(await store.uploads.startUpload(code, upload, { files: 1, bytes: 5e10 }), 'started');
    assert.deepEqual(await store.uploads.findUpload(code, upload.id, start), upload);
    assert.equal(await store.uploads.findUpload(await createRoom(rooms), upload.id, start), 'no-file');
    assert.equal(await store.uploads.findUpload(code, file().id, start), 'no-file');
  });

  it('[TUS-2] is neither listed nor found as a file, and changes nothing for the members of the room', async () => {
    const { rooms } = store;
    const code = await createRoom(rooms);
    const upload = await startUpload(store.uploads, code);
    assert.deepEqual(await store.files.listFiles(code, start), []);
    assert.equal(await store.files.findFile(upload.id, start), undefined);
    const state = await rooms.readState(code, start);
    assert.deepEqual(typeof state === 'object' && [state.seq, state.files], [0, []]);
    assert.equal(await store.files.removeFile(code, upload.id, start), 'no-file');
    assert.equal(await store.files.restoreFile(code, upload.id, start), 'no-file');
    assert.equal(await store.files.eraseRemovedIn(code), 0);
  });

  it('[TUS-2] counts with its whole size in its room, for its owner and in total', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms, storage } = store;
    const code = await createRoom(rooms);
    await store.files.addFile(code, file({ size: 5, owner }), quota);
    await startUpload(store.uploads, code, { size: 70, owner });
    assert.deepEqual(await countedFiles(rooms, code), { files: 2, bytes: 75 });
    assert.deepEqual([await storage.usageOf('client'), await storage.usageOf('network')], [75, 75]);
    assert.deepEqual(await storage.usage(), { stored: 75, reserved: 0 });
  });

  it('[TUS-2] ends its reservation, which no longer counts', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms, storage } = store;
    const code = await createRoom(rooms);
    const upload = unfinishedFile({ owner, size: 70 });
    const deadline = start + hour;
    const request = { blob: upload.blob, owner, expiresAt: start + hour, deadline, least: 70, most: 70 };
    await storage.reserve(request, unlimited, start);
    assert.equal(await store.uploads.startUpload(code, upload, quota), 'started');
    assert.deepEqual(await storage.usage(), { stored: 70, reserved: 0 });
    await storage.releaseAbandoned(deadline);
    assert.deepEqual(await storage.usage(), { stored: 70, reserved: 0 });
    assert.deepEqual([await storage.usageOf('client'), await storage.usageOf('network')], [70, 70]);
  });

  it('[TUS-2] is rejected by a full room, and leaves nothing', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms, storage } = store;
    const code = await createRoom(rooms);
    const limit: FileQuota = { files: 2, bytes: 1000 };
    assert.equal(await store.uploads.startUpload(code, unfinishedFile({ size: 1000 }), limit), 'started');
    const refused = unfinishedFile({ size: 1, owner });
    assert.equal(await store.uploads.startUpload(code, refused, limit), 'full');
    assert.equal(await store.files.addFile(code, file({ size: 1 }), limit), 'full');
    assert.equal(await store.uploads.startUpload(code, unfinishedFile({ size: 0 }), limit), 'started');
    assert.equal(await store.uploads.startUpload(code, unfinishedFile({ size: 0 }), limit), 'full');
    assert.equal(await store.uploads.findUpload(code, refused.id, start), 'no-file');
    assert.deepEqual(await store.trash.knownBlobs(namesOf(refused)), new Set());
    assert.equal(await storage.usageOf('client'), 0);
    assert.deepEqual(await storage.usage(), { stored: 1000, reserved: 0 });
  });

  it('[TUS-2] never exceeds the limits of a room, however many are started concurrently', async () => {
    const code = await createRoom(store.rooms);
    const limit = { files: 10, bytes: 1000 };
    const start = () => store.uploads.startUpload(code, unfinishedFile({ size: 300 }), limit);
    const started = await Promise.all(Array.from({ length: 50 }, start));
    assert.equal(started.filter((outcome) => outcome === 'started').length, 3);
    assert.deepEqual(await countedFiles(store.rooms, code), { files: 3, bytes: 900 });
  });

  it('[LIFE-5] makes both names of its bytes known', async () => {
    const { rooms } = store;
    const code = await createRoom(rooms);
    const upload = await startUpload(store.uploads, code);
    const stored = file();
    await store.files.addFile(code, stored, quota);
    const known = await store.trash.knownBlobs([...namesOf(upload), ...namesOf(stored), ...namesOf(file())]);
    assert.deepEqual(known, new Set([...namesOf(upload), stored.blob]));
  });

  it('[MOVE-1] is not part of the record of its room', async (t) => {
    const code = await createRoom(store.rooms);
    await startUpload(store.uploads, code, { size: 70 });
    const record = await store.archive.readRoom(code, start);
    assert.deepEqual(record?.files, []);
    const other = (await ownStore(t, open)).store;
    assert.ok(record && (await other.archive.restoreRoom(record, start)) === 'restored');
    assert.deepEqual(await countedFiles(other.rooms, code), { files: 0, bytes: 0 });
  });
}

function progressTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[TUS-4] is recorded step by step, with the state of the blob store', async () => {
    const { rooms } = store;
    const code = await createRoom(rooms);
    const upload = await startUpload(store.uploads, code, { size: 5e10 });
    const state = JSON.stringify({ parts: Array.from({ length: 1000 }, (_, n) => `"etag-${n}"\u0000ü`) });
    const steps = [
      { received: 7, state: 'first' },
      { received: 3e10, state },
      { received: 5e10, state: '' },
    ];
    let from = 0;
    for (const progress of steps) {
      assert.equal(await store.uploads.advanceUpload(code, upload.id, from, progress, start), 'advanced');
      assert.deepEqual(await store.uploads.findUpload(code, upload.id, start), { ...upload, ...progress });
      from = progress.received;
    }
    const room = await rooms.readState(code, start);
    assert.equal(typeof room === 'object' && room.seq, 0);
  });

  it('[TUS-4] is recorded only if nobody else advanced the upload', async () => {
    const { rooms } = store;
    const code = await createRoom(rooms);
    const upload = await startUpload(store.uploads, code);
    const advance = (from: number, received: number) =>
      store.uploads.advanceUpload(code, upload.id, from, { received, state: `${received}` }, start);
    const outcomes = await Promise.all([advance(0, 10), advance(0, 20), advance(0, 30)]);
    assert.equal(outcomes.filter((outcome) => outcome === 'advanced').length, 1);
    assert.equal(outcomes.filter((outcome) => outcome === 'stale').length, 2);
    const received = 10 * (outcomes.indexOf('advanced') + 1);
    assert.deepEqual(await store.uploads.findUpload(code, upload.id, start), {
      ...upload,
      received,
      state: `${received}`,
    });
    assert.equal(await advance(received - 1, 100), 'stale');
    assert.equal(await advance(received, 100), 'advanced');
  });

  it('[TUS-4] is none of an upload that does not exist, or of another room', async () => {
    const { rooms } = store;
    const code = await createRoom(rooms);
    const upload = await startUpload(store.uploads, code);
    const stored = file();
    await store.files.addFile(code, stored, quota);
    const progress = { received: 1, state: '' };
    for (const id of [file().id, stored.id]) {
      assert.equal(await store.uploads.advanceUpload(code, id, 0, progress, start), 'no-file');
    }
    assert.equal(await store.uploads.advanceUpload(await createRoom(rooms), upload.id, 0, progress, start), 'no-file');
    assert.deepEqual(await store.uploads.findUpload(code, upload.id, start), upload);
  });

  it('[LIFE-6] [TUS-4] survives a restart', async (t) => {
    const under = await ownStore(t, open);
    const code = await createRoom(under.store.rooms);
    const upload = await startUpload(under.store.uploads, code, { owner });
    const progress = { received: 400, state: 'state' };
    await under.store.uploads.advanceUpload(code, upload.id, 0, progress, start);
    const store = await under.reopen(start);
    const { storage } = store;
    assert.deepEqual(await store.uploads.findUpload(code, upload.id, start), { ...upload, ...progress });
    assert.equal(await storage.usageOf('client'), upload.size);
  });
}

function finishTests(open: OpenStore): void {
  const store = sharedStore(open);

  it('[TUS-8] is a file like any other, uploaded when it was finished', async () => {
    const { rooms } = store;
    const code = await createRoom(rooms);
    const upload = await startUpload(store.uploads, code, { owner, name: 'ünï', folder: 'a/b', deviceId: 'phone' });
    await store.uploads.advanceUpload(code, upload.id, 0, { received: upload.size, state: 'state' }, start);
    assert.deepEqual(await store.uploads.finishUpload(code, upload.id, start + second), { seq: 1 });
    const finished = storedFileOf(upload, start + second);
    assert.deepEqual(await store.files.listFiles(code, start + second), [finished]);
    assert.deepEqual(await store.files.findFile(upload.id, start + second), finished);
    const state = await rooms.readState(code, start + second);
    assert.deepEqual(typeof state === 'object' && [state.seq, state.files], [1, [finished]]);
    assert.deepEqual(await countedFiles(rooms, code), { files: 1, bytes: upload.size });
    assert.deepEqual(await store.trash.knownBlobs(namesOf(upload)), new Set([upload.blob]));
    assert.deepEqual((await store.archive.readRoom(code, start))?.files, [finished]);
  });

  it('[TUS-8] is no longer an upload: it is finished once, and neither advanced, cancelled nor expired', async () => {
    const { rooms } = store;
    const code = await createRoom(rooms);
    // Before the uploads of other tests.
    const upload = await startUpload(store.uploads, code, { size: 0, expiresAt: start + hour });
    const finished = await Promise.all(
      Array.from({ length: 10 }, () => store.uploads.finishUpload(code, upload.id, start)),
    );
    assert.deepEqual(
      finished.filter((outcome) => outcome !== 'no-file'),
      [{ seq: 1 }],
    );
    assert.equal(await store.uploads.findUpload(code, upload.id, start), 'no-file');
    assert.equal(await store.uploads.advanceUpload(code, upload.id, 0, { received: 0, state: '' }, start), 'no-file');
    assert.equal(await store.uploads.cancelUpload(code, upload.id, start), 'no-file');
    assert.equal(await store.uploads.expireUploads(upload.expiresAt, 10), 0);
    assert.deepEqual(await store.files.findFile(upload.id, start), storedFileOf(upload, start));
  });

  it('[TUS-8] is not listed before it has all its bytes', async () => {
    const { rooms } = store;
    const code = await createRoom(rooms);
    const upload = await startUpload(store.uploads, code);
    await store.uploads.advanceUpload(code, upload.id, 0, { received: upload.size - 1, state: '' }, start);
    assert.equal(await store.uploads.finishUpload(code, upload.id, start), 'no-file');
    assert.equal(await store.uploads.finishUpload(code, file().id, start), 'no-file');
    assert.equal(await store.uploads.finishUpload(await createRoom(rooms), upload.id, start), 'no-file');
    assert.deepEqual(await store.files.listFiles(code, start), []);
    assert.equal(await store.files.findFile(upload.id, start), undefined);
  });

  it('[TUS-8] is listed in the order in which files were finished, not started', async () => {
    const { rooms } = store;
    const code = await createRoom(rooms);
    const [first, second] = [
      await startUpload(store.uploads, code, { size: 0 }),
      await startUpload(store.uploads, code, { size: 0 }),
    ];
    const between = file();
    await store.uploads.finishUpload(code, second.id, start);
    await store.files.addFile(code, between, quota);
    await store.uploads.finishUpload(code, first.id, start);
    const files = [storedFileOf(second, start), between, storedFileOf(first, start)];
    assert.deepEqual(await store.files.listFiles(code, start), files);
  });

  it('[TUS-8] [UNDO-1] can be removed, restored and erased', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms, storage } = store;
    const code = await createRoom(rooms);
    const upload = await startUpload(store.uploads, code, { size: 70, owner, received: 70 });
    await store.uploads.finishUpload(code, upload.id, start);
    assert.deepEqual(await store.files.removeFile(code, upload.id, start), { seq: 2 });
    assert.deepEqual(await store.files.restoreFile(code, upload.id, start), { seq: 3 });
    assert.deepEqual(await store.files.findFile(upload.id, start), storedFileOf(upload, start));
    await store.files.removeFile(code, upload.id, start);
    assert.equal(await store.files.eraseRemovedIn(code), 1);
    assert.deepEqual(await store.trash.listTrash(10), [upload.blob]);
    await store.trash.clearTrash([upload.blob]);
    assert.deepEqual([await storage.usageOf('client'), await storage.usageOf('network')], [0, 0]);
    assert.deepEqual(await storage.usage(), { stored: 0, reserved: 0 });
  });
}

function dropTests(open: OpenStore): void {
  it('[TUS-6] is cancelled once, and leaves its bytes in the trash under their own name', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms } = store;
    const code = await createRoom(rooms);
    const [upload, other] = [await startUpload(store.uploads, code), await startUpload(store.uploads, code)];
    assert.equal(await store.uploads.cancelUpload(await createRoom(rooms), upload.id, start), 'no-file');
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => store.uploads.cancelUpload(code, upload.id, start)),
    );
    assert.equal(outcomes.filter((outcome) => outcome === 'cancelled').length, 1);
    assert.equal(outcomes.filter((outcome) => outcome === 'no-file').length, 9);
    assert.deepEqual(await countedFiles(rooms, code), { files: 1, bytes: other.size });
    assert.deepEqual(await store.trash.listTrash(10), [unfinishedName(upload.blob)]);
    assert.deepEqual(await store.trash.knownBlobs(namesOf(upload)), new Set([unfinishedName(upload.blob)]));
    assert.equal(await store.uploads.findUpload(code, upload.id, start), 'no-file');
    assert.equal(await store.uploads.finishUpload(code, upload.id, start), 'no-file');
    await store.trash.clearTrash([unfinishedName(upload.blob)]);
    assert.deepEqual(await store.trash.knownBlobs([...namesOf(upload), ...namesOf(other)]), new Set(namesOf(other)));
  });

  it('[TUS-6] no longer counts when its bytes are removed', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms, storage } = store;
    const code = await createRoom(rooms);
    for (const size of [70, 0]) {
      const upload = await startUpload(store.uploads, code, { size, owner });
      await store.uploads.cancelUpload(code, upload.id, start);
    }
    await store.trash.clearTrash(await store.trash.listTrash(10));
    assert.deepEqual([await storage.usageOf('client'), await storage.usageOf('network')], [0, 0]);
    assert.deepEqual(await storage.usage(), { stored: 0, reserved: 0 });
    assert.deepEqual(await countedFiles(rooms, code), { files: 0, bytes: 0 });
  });

  it('[TUS-7] does not exist from the moment it expires, whether or not a sweep has run', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms } = store;
    const code = await createRoom(rooms);
    const upload = await startUpload(store.uploads, code, { size: 0, expiresAt: start + hour });
    assert.deepEqual(await store.uploads.findUpload(code, upload.id, start + hour - 1), upload);
    const progress = { received: 0, state: '' };
    assert.equal(await store.uploads.findUpload(code, upload.id, start + hour), 'no-file');
    assert.equal(await store.uploads.advanceUpload(code, upload.id, 0, progress, start + hour), 'no-file');
    assert.equal(await store.uploads.finishUpload(code, upload.id, start + hour), 'no-file');
    assert.equal(await store.uploads.cancelUpload(code, upload.id, start + hour), 'no-file');
    assert.equal(await store.uploads.expireUploads(start + hour, 10), 1);
    assert.equal(await store.uploads.findUpload(code, upload.id, start), 'no-file');
  });

  it('[TUS-7] is dropped by a sweep when it has expired, at most the given number', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms, storage } = store;
    const uploads: UnfinishedFile[] = [];
    const codes: RoomCode[] = [];
    for (let n = 0; n < 6; n++) {
      codes.push(await createRoom(rooms));
      uploads.push(
        await startUpload(store.uploads, codes[n] as RoomCode, { size: 10, owner, expiresAt: start + n * second }),
      );
    }
    for (const code of codes) assert.deepEqual(await countedFiles(rooms, code), { files: 1, bytes: 10 });
    const counts: number[] = [];
    for (let n = 0; n < 4; n++) counts.push(await store.uploads.expireUploads(start + 4 * second, 2));
    assert.deepEqual(counts, [2, 2, 1, 0]);
    const names = uploads.slice(0, 5).map(({ blob }) => unfinishedName(blob));
    assert.deepEqual((await store.trash.listTrash(10)).sort(), names.sort());
    for (const code of codes.slice(0, 5)) assert.deepEqual(await countedFiles(rooms, code), { files: 0, bytes: 0 });
    assert.deepEqual(await store.uploads.findUpload(codes[5] as RoomCode, uploads[5]?.id ?? '', start), uploads[5]);
    await store.trash.clearTrash(names);
    assert.equal(await storage.usageOf('client'), 10);
    assert.deepEqual(await storage.usage(), { stored: 10, reserved: 0 });
  });

  it('[TUS-7] is dropped once when two sweeps run concurrently', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms } = store;
    const code = await createRoom(rooms);
    for (let n = 0; n < 10; n++) await startUpload(store.uploads, code, { size: 3, expiresAt: start + second });
    const sweep = () => store.uploads.expireUploads(start + second, 10);
    const [one, other] = await Promise.all([sweep(), sweep()]);
    assert.equal(one + other, 10);
    assert.deepEqual(await countedFiles(rooms, code), { files: 0, bytes: 0 });
  });

  it('[TUS-7] [API-3] [LIFE-5] ends with its room, and leaves its bytes in the trash', async (t) => {
    const { store } = await ownStore(t, open);
    const { rooms, storage } = store;
    const [deleted, expiring] = [await createRoom(rooms), await createRoom(rooms, { expiresAt: start + hour })];
    const uploads = [
      await startUpload(store.uploads, deleted, { owner, state: 'state' }),
      await startUpload(store.uploads, expiring, { owner, state: 'state', expiresAt: start + hour }),
    ];
    await rooms.deleteRoom(deleted, start);
    assert.deepEqual(await rooms.expireRooms(start + hour, 10), [expiring]);
    const names = uploads.map(({ blob }) => unfinishedName(blob)).sort();
    assert.deepEqual((await store.trash.listTrash(10)).sort(), names);
    assert.deepEqual(await store.trash.knownBlobs(uploads.flatMap(namesOf)), new Set(names));
    assert.equal(await store.uploads.expireUploads(start + 100 * hour, 10), 0);
    await store.trash.clearTrash(names);
    assert.deepEqual(await storage.usage(), { stored: 0, reserved: 0 });
    assert.deepEqual([await storage.usageOf('client'), await storage.usageOf('network')], [0, 0]);
  });
}

async function startUpload(
  uploads: UploadStore,
  code: RoomCode,
  over: Partial<UnfinishedFile> = {},
): Promise<UnfinishedFile> {
  const upload = unfinishedFile(over);
  assert.equal(await uploads.startUpload(code, upload, { files: 100, bytes: Number.MAX_SAFE_INTEGER }), 'started');
  return upload;
}

/** The file that an upload becomes. */
function storedFileOf({ received, state, expiresAt, ...stored }: UnfinishedFile, uploadedAt: number): StoredFile {
  return { ...stored, uploadedAt };
}

const namesOf = ({ blob }: Pick<StoredFile, 'blob'>): string[] => [blob, unfinishedName(blob)];
