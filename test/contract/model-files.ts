/** Random operations on files, and the model that they are compared with. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type StoredFile, type UnfinishedFile, unfinishedName } from '../../src/core/ports/files.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { absence, bytesIn, live, type Model, type ModelFile, type ModelRoom, type Real, type Step } from './model.ts';
import { file, hour, unfinishedFile } from './store-under-test.ts';

const quota = { files: 4, bytes: 1000 };
const removedMs = 60_000;
/** More than all runs together leave. */
const all = 100_000;

/** An operation on the files of a room, with its name. */
type Named = [name: string, step: Step];

const anySize = fc.oneof(fc.constant(0), fc.nat({ max: 400 }));
const anyFile = fc.nat({ max: 1 });

export const fileSteps: fc.Arbitrary<Named>[] = [
  anySize.map((size): Named => [`add ${size} bytes`, adding(size)]),
  anyFile.map((nth): Named => [`remove file ${nth}`, changing(nth, 'listed', remove)]),
  anyFile.map((nth): Named => [`restore file ${nth}`, changing(nth, 'removed', restore)]),
  fc
    .tuple(anySize, fc.constantFrom(hour / 4, 2 * hour))
    .map(([size, ms]): Named => [`start an upload of ${size} bytes for ${ms} ms`, starting(size, ms)]),
  fc
    .tuple(anyFile, fc.constantFrom(0, 50, 400, 400), fc.constantFrom(0, 0, 0, 1))
    .map(([nth, by, ahead]): Named => [`advance file ${nth} by ${by}, ${ahead} ahead`, advancing(nth, by, ahead)]),
  anyFile.map((nth): Named => [`finish file ${nth}`, changing(nth, 'unfinished', finish)]),
  anyFile.map((nth): Named => [`cancel file ${nth}`, cancelling(nth)]),
  fc.constant<Named>(['erase what was removed', erase]),
  fc.constant<Named>(['erase what was removed in it', eraseInRoom]),
  fc.constant<Named>(['expire uploads', expireUploads]),
];

/** A file and two uploads, so that most operations find what they need. */
export const addSomeFiles: Step = async (model, real, code) => {
  for (const step of [adding(100), starting(300, hour), starting(0, hour)]) await step(model, real, code);
};

/** The listed files of a room. */
export const listedIn = ({ files }: ModelRoom): StoredFile[] =>
  files.filter(({ status }) => status === 'listed').map(({ file: one }) => storedFileOf(one));

/** A file is found while it is listed in a live room. Its bytes are known for ever, as nobody empties the trash here. */
export async function compareFiles(model: Model, { store, codes }: Real): Promise<void> {
  const present = new Map(codes.flatMap((code) => (live(model, code)?.files ?? []).map((one) => [one, code] as const)));
  const names = new Map<string, boolean>();
  const compareFile = async (taken: ModelFile) => {
    const { id } = taken.file;
    const code = present.get(taken);
    const found = code && taken.status === 'listed' ? storedFileOf(taken.file) : undefined;
    for (const [name, isKnown] of namesOf(taken, code !== undefined)) names.set(name, isKnown);
    assert.deepEqual(await store.files.findFile(id, model.now), found);
    if (code)
      assert.deepEqual(await store.uploads.findUpload(code, id, model.now), uploadOf(taken, model.now) ?? 'no-file');
  };
  await Promise.all(model.everTaken.map(compareFile));
  const known = new Set([...names.keys()].filter((name) => names.get(name)));
  assert.deepEqual(await store.trash.knownBlobs([...names.keys()]), known);
}

/** The names of the bytes of a file, and whether they are known. Where a room has ended, that of an upload may be. */
function namesOf({ file: { blob }, status }: ModelFile, isPresent: boolean): [string, boolean][] {
  const isUpload = status === 'unfinished' || status === 'cancelled';
  const part: [string, boolean] = [unfinishedName(blob), isUpload];
  if (status === 'unfinished' && !isPresent) return [part];
  return [part, [blob, status !== 'cancelled']];
}

function adding(size: number): Step {
  return async (model, { store }, code) => {
    const room = live(model, code);
    const added = file({ size, uploadedAt: model.now });
    const outcome = await store.files.addFile(code, added, quota);
    if (!room) return assert.equal(outcome, absence(model, code));
    if (!hasSpace(room, size)) return assert.equal(outcome, 'full');
    room.seq += 1;
    take(model, room, { ...added, received: size, state: '', expiresAt: 0 }, 'listed');
    assert.deepEqual(outcome, { seq: room.seq });
  };
}

function starting(size: number, ms: number): Step {
  return async (model, { store }, code) => {
    const room = live(model, code);
    const upload = unfinishedFile({ size, uploadedAt: model.now, expiresAt: model.now + ms });
    const outcome = await store.uploads.startUpload(code, upload, quota);
    if (!room) return assert.equal(outcome, absence(model, code));
    assert.equal(outcome, hasSpace(room, size) ? 'started' : 'full');
    if (outcome === 'started') take(model, room, upload, 'unfinished');
  };
}

interface Change {
  run(real: Real, code: RoomCode, fileId: string, now: number): Promise<unknown>;
  /** False if the file does not allow it. */
  apply(room: ModelRoom, one: ModelFile, now: number): boolean;
}

const remove: Change = {
  run: ({ store }, code, fileId, now) => store.files.removeFile(code, fileId, now),
  apply: (_, one, now) => Boolean(Object.assign(one, { status: 'removed', removedAt: now })),
};

const restore: Change = {
  run: ({ store }, code, fileId, now) => store.files.restoreFile(code, fileId, now),
  apply: (_, one) => Boolean(Object.assign(one, { status: 'listed' })),
};

const finish: Change = {
  run: ({ store }, code, fileId, now) => store.uploads.finishUpload(code, fileId, now),
  apply(room, one, now) {
    if (one.file.received < one.file.size || one.file.expiresAt <= now) return false;
    Object.assign(one, { status: 'listed', file: { ...one.file, uploadedAt: now } });
    room.files.push(...room.files.splice(room.files.indexOf(one), 1));
    return true;
  },
};

/** A change of the room that is possible for files of one status. */
function changing(nth: number, status: ModelFile['status'], { run, apply }: Change): Step {
  return async (model, real, code) => {
    const room = live(model, code);
    const one = fileOf(room, nth, status);
    const outcome = await run(real, code, one?.file.id ?? file().id, model.now);
    if (!room) return assert.equal(outcome, absence(model, code));
    if (one?.status !== status || !apply(room, one, model.now)) return assert.equal(outcome, 'no-file');
    room.seq += 1;
    assert.deepEqual(outcome, { seq: room.seq });
  };
}

/** From the received bytes, or from further on, as a caller would that has seen others. */
function advancing(nth: number, by: number, ahead: number): Step {
  return async (model, { store }, code) => {
    const room = live(model, code);
    const one = fileOf(room, nth, 'unfinished');
    const { id, received, size } = one?.file ?? unfinishedFile();
    const progress = { received: Math.min(size, received + by), state: `after ${by}` };
    const outcome = await store.uploads.advanceUpload(code, id, received + ahead, progress, model.now);
    if (!room) return assert.equal(outcome, absence(model, code));
    if (!one || !uploadOf(one, model.now)) return assert.equal(outcome, 'no-file');
    assert.equal(outcome, ahead ? 'stale' : 'advanced');
    if (!ahead) one.file = { ...one.file, ...progress };
  };
}

function cancelling(nth: number): Step {
  return async (model, { store }, code) => {
    const room = live(model, code);
    const one = fileOf(room, nth, 'unfinished');
    const outcome = await store.uploads.cancelUpload(code, one?.file.id ?? file().id, model.now);
    if (!room) return assert.equal(outcome, absence(model, code));
    if (!one || !uploadOf(one, model.now)) return assert.equal(outcome, 'no-file');
    drop(room, (other) => other === one, 'cancelled');
    assert.equal(outcome, 'cancelled');
  };
}

async function erase(model: Model, { store }: Real): Promise<void> {
  const moment = model.now - removedMs;
  await store.files.eraseRemoved(moment, all);
  for (const room of model.rooms.values()) {
    drop(room, ({ status, removedAt }) => status === 'removed' && removedAt < moment, 'erased');
  }
}

async function eraseInRoom(model: Model, { store }: Real, code: RoomCode): Promise<void> {
  const room = live(model, code);
  const erased = await store.files.eraseRemovedIn(code);
  if (room)
    assert.equal(
      drop(room, ({ status }) => status === 'removed', 'erased'),
      erased,
    );
}

async function expireUploads(model: Model, { store }: Real): Promise<void> {
  await store.uploads.expireUploads(model.now, all);
  for (const room of model.rooms.values()) {
    drop(room, ({ status, file: { expiresAt } }) => status === 'unfinished' && expiresAt <= model.now, 'cancelled');
  }
}

/** One of this status if there is one, and else any. */
function fileOf(room: ModelRoom | undefined, nth: number, status: ModelFile['status']): ModelFile | undefined {
  const fitting = room?.files.filter((one) => one.status === status);
  return fitting?.[nth] ?? room?.files[nth];
}

function take(model: Model, room: ModelRoom, added: UnfinishedFile, status: ModelFile['status']): void {
  const one = { file: added, status, removedAt: 0 };
  room.files.push(one);
  model.everTaken.push(one);
}

/** Returns how many were dropped. */
function drop(room: ModelRoom, isDropped: (one: ModelFile) => boolean, status: ModelFile['status']): number {
  const dropped = room.files.filter(isDropped);
  for (const one of dropped) one.status = status;
  room.files = room.files.filter((one) => !dropped.includes(one));
  return dropped.length;
}

const hasSpace = (room: ModelRoom, size: number) =>
  room.files.length < quota.files && bytesIn(room) + size <= quota.bytes;

const uploadOf = ({ status, file: upload }: ModelFile, now: number) =>
  status === 'unfinished' && upload.expiresAt > now ? upload : undefined;

const storedFileOf = ({ received, state, expiresAt, ...stored }: UnfinishedFile): StoredFile => stored;
