/** Random sequences of operations, compared with a simple model. */
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import fc from 'fast-check';
import type { RoomStore } from '../../src/core/ports/rooms.ts';
import type { Content, TextState } from '../../src/core/ports/texts.ts';
import type { RoomCode } from '../../src/core/room-code.ts';
import { isLongRun } from '../hostile/long-run.ts';
import { anyText } from './any-text.ts';
import { absence, foreseen, live, type Model, type ModelRoom, type Real, type Step } from './model.ts';
import { addSomeFiles, compareFiles, fileSteps, listedIn } from './model-files.ts';
import {
  anyAppend,
  appendTo,
  apply,
  type DrawnAppend,
  emptyText,
  entriesSince,
  lastRefsOf,
  storedTextOf,
} from './model-text.ts';
import {
  accessAttempt,
  currentText,
  day,
  draft,
  hour,
  manyMisses,
  type OpenStore,
  ownStore,
  type RoomStores,
  replacement,
  start,
  textAppend,
  textOf,
  writeText,
} from './store-under-test.ts';

const lifetime = 2 * hour;
const interruptAfterTimeLimit = isLongRun ? 600_000 : 60_000;
const [fewRuns, manyRuns] = [4, isLongRun ? 200 : 40];

export function modelTests(open: OpenStore): void {
  const agreeOn = async (t: TestContext, numRuns: number, anyCommands: fc.Arbitrary<Command>[], first: Step) => {
    const { store } = await ownStore(t, open, manyMisses);
    const agrees = fc.asyncProperty(fc.commands(anyCommands, { maxCommands: 40, size: 'max' }), async (sequence) => {
      const { model, real } = begin(store);
      for (const code of real.codes) await first(model, real, code);
      await fc.asyncModelRun(() => ({ model, real }), sequence);
    });
    await fc.assert(agrees, { seed: 20261115, numRuns, interruptAfterTimeLimit });
  };

  const agreeOnRooms = (t: TestContext, numRuns: number) => agreeOn(t, numRuns, commands, async () => undefined);
  const agreeOnFiles = (t: TestContext, numRuns: number) =>
    agreeOn(t, numRuns, fileCommands, async (model, real, code) => {
      await create(model, real, code);
      await addSomeFiles(model, real, code);
    });

  it('has the outcome that a simple model of rooms predicts', (t) => agreeOnRooms(t, fewRuns));

  it('[slow] has the outcome that a simple model of rooms predicts in many runs', (t) => agreeOnRooms(t, manyRuns));

  it('[UNDO-1] [UNDO-2] [TUS-4] [TUS-8] has the outcome that a simple model of files predicts', (t) =>
    agreeOnFiles(t, fewRuns));

  it('[slow] [UNDO-1] [UNDO-2] [TUS-4] [TUS-8] has the outcome that a simple model of files predicts in many runs', (t) =>
    agreeOnFiles(t, manyRuns));
}

function begin(store: RoomStores): { model: Model; real: Real } {
  const codes = Array.from({ length: 3 }, () => draft().draw.slice(0, 8) as RoomCode);
  return { model: { now: start, rooms: new Map(), everTaken: [] }, real: { store, codes } };
}

type Command = fc.AsyncCommand<Model, Real>;

/** A step on one of the rooms, after which everything that can be seen is compared. */
function command(name: string, room: number, step: Step): Command {
  return {
    check: () => true,
    async run(model: Model, real: Real) {
      await step(model, real, real.codes[room] as RoomCode);
      // Concurrently, because a store answers many reads for little more than the cost of one.
      await Promise.all([...real.codes.map((code) => compare(model, real, code)), compareFiles(model, real)]);
    },
    toString: () => `${name} on room ${room}`,
  };
}

const anyRoom = fc.nat({ max: 2 });

/** On two rooms, so that they meet. */
const fileCommands: fc.Arbitrary<Command>[] = [
  ...fileSteps.map((anyStep) =>
    fc.tuple(fc.nat({ max: 1 }), anyStep).map(([room, [name, step]]) => command(name, room, step)),
  ),
  fc.nat({ max: hour / 4 }).map((ms) => command(`let ${ms} ms pass`, 0, passing(ms))),
];

const commands: fc.Arbitrary<Command>[] = [
  anyRoom.map((room) => command('create', room, create)),
  fc.tuple(anyRoom, anyText(20)).map(([room, text]) => command(`write ${JSON.stringify(text)}`, room, writing(text))),
  fc
    .tuple(anyRoom, anyAppend)
    .map(([room, drawn]) => command(`append ${JSON.stringify(drawn)}`, room, appending(drawn))),
  anyRoom.map((room) => command('clear the history', room, clearHistory)),
  anyRoom.map((room) => command('delete', room, remove)),
  ...fileSteps.map((anyStep) => fc.tuple(anyRoom, anyStep).map(([room, [name, step]]) => command(name, room, step))),
  fc
    .oneof(fc.nat({ max: hour }), fc.constantFrom(lifetime, day))
    .map((ms) => command(`let ${ms} ms pass`, 0, passing(ms))),
  fc.nat({ max: 2 }).map((limit) => command(`sweep ${limit}`, 0, sweeping(limit))),
];

async function create(model: Model, { store }: Real, code: RoomCode): Promise<void> {
  const known = model.rooms.get(code);
  // Whether a forgotten code is free depends on when the last sweep ran; both are right.
  if (known && known.expiresAt + day <= model.now) return;
  const expiresAt = model.now + lifetime;
  const made = await store.rooms.createRoom(draft({ draw: `${code}00000`, createdAt: model.now, expiresAt }));
  assert.equal(made, known ? undefined : code);
  if (!known) model.rooms.set(code, { expiresAt, seq: 0, text: emptyText(model.now), files: [] });
}

function writing(content: string): Step {
  return async (model, { store }, code) => {
    const room = live(model, code);
    const outcome = await writeText(store.texts, code, content, model.now);
    if (!room) return assert.deepEqual(outcome, absence(model, code));
    const entry = replacement(room.text.content, content, model.now);
    room.seq += 1;
    apply(room.text, textAppend(entry));
    assert.deepEqual(outcome, { version: entry.version, seq: room.seq });
  };
}

function appending(drawn: DrawnAppend): Step {
  return async (model, { store }, code) => {
    const room = live(model, code);
    const append = appendTo(room?.text ?? emptyText(0), drawn, model.now);
    const outcome = await store.texts.appendText(code, append);
    if (!room) return assert.deepEqual(outcome, { outcome: absence(model, code) });
    const since = append.entry.version - 1;
    const { version } = room.text.content;
    if (since === version) {
      room.seq += 1;
      apply(room.text, append);
      return assert.ok(outcome.outcome === 'appended' && outcome.seq === room.seq);
    }
    assert.deepEqual(outcome, {
      outcome: 'stale',
      version,
      revision: version,
      entries: entriesSince(room.text, since),
    });
  };
}

async function clearHistory(model: Model, { store }: Real, code: RoomCode): Promise<void> {
  const room = live(model, code);
  const { content, version } = room?.text.content ?? { content: '', version: 0 };
  const cleared = await store.texts.clearHistory(code, currentText(content, version), model.now);
  assert.equal(cleared, room ? 'cleared' : absence(model, code));
  if (room) Object.assign(room.text, { history: [], log: [], fullTextVersion: version });
}

async function remove(model: Model, { store }: Real, code: RoomCode): Promise<void> {
  const room = live(model, code);
  assert.deepEqual(await store.rooms.deleteRoom(code, model.now), room ? { seq: room.seq + 1 } : absence(model, code));
  if (room) model.rooms.delete(code);
}

function passing(ms: number): Step {
  return async (model) => {
    model.now += ms;
  };
}

function sweeping(limit: number): Step {
  return async (model, { store }) => {
    await store.rooms.expireRooms(model.now, limit);
  };
}

async function compare(model: Model, { store }: Real, code: RoomCode): Promise<void> {
  const room = live(model, code);
  const [access, content, files, text] = await Promise.all([
    seen(store.rooms, code, model.now),
    textOf(store.rooms, code, model.now),
    store.files.listFiles(code, model.now),
    store.texts.readText(code, model.now),
    room && compareHistory(store, code, room, model.now),
    room && compareState(store.rooms, code, room, model.now),
  ]);
  assert.deepEqual(access, foreseen(model, code));
  assert.deepEqual(spread(content), room?.text.content);
  assert.deepEqual(files, room ? listedIn(room) : absence(model, code));
  const { logBytes, ...compared } = typeof text === 'object' ? text : { logBytes: 0 };
  assert.deepEqual(typeof text === 'object' ? compared : text, room ? storedTextOf(room.text) : absence(model, code));
}

async function compareHistory(store: RoomStores, code: RoomCode, { text }: ModelRoom, now: number): Promise<void> {
  const infos = text.history.map(({ content, ...info }) => info);
  assert.deepEqual(await store.texts.listHistory(code, now), infos.toReversed());
  const newest = text.history.at(-1);
  if (newest) assert.deepEqual(await store.texts.readCheckpoint(code, newest.version, now), newest);
}

/** Read since a version that differs from one comparison to the next. */
async function compareState(rooms: RoomStore, code: RoomCode, room: ModelRoom, now: number): Promise<void> {
  const { content, version, writtenAt } = room.text.content;
  const since = Math.max(0, version + 1 - (room.seq % 6));
  const entries = entriesSince(room.text, since);
  const text: TextState = entries
    ? { version, writtenAt, content: undefined, entries }
    : { version, writtenAt, content, entries: [], lastRefs: lastRefsOf(room.text) };
  const known = room.text.log.find((entry) => entry.version === since)?.writtenAt;
  const state = await rooms.readState(code, now, { version: since, writtenAt: known ?? writtenAt });
  assert.ok(typeof state === 'object');
  assert.deepEqual([state.seq, state.text], [room.seq, text]);
}

async function seen(rooms: RoomStore, code: RoomCode, now: number) {
  const admission = await rooms.admit(accessAttempt(code, { now }));
  if (admission.outcome !== 'admitted') return admission.outcome;
  return { files: admission.room.fileCount, bytes: admission.room.fileBytes, expiresAt: admission.room.expiresAt };
}

function spread(content: Content | undefined): Content | undefined {
  return content && { ...content };
}
