/** Slow readers: when they are disconnected, and how they receive the changes that they missed. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createLocalBus } from '../../src/bus/local.ts';
import { UnreadBytes } from '../../src/core/defence/transfer-budget.ts';
import type { CoreDeps } from '../../src/core/deps.ts';
import { createRooms } from '../../src/core/rooms.ts';
import { createResumeTokens } from '../../src/core/tokens.ts';
import { RoomFeed } from '../../src/live/room-feed.ts';
import { devicesNotice, type TextMode } from '../../src/live/room-view.ts';
import { Session } from '../../src/live/session.ts';
import type { Outgoing, Wire } from '../../src/live/wire.ts';
import { file, quota } from '../contract/store-under-test.ts';
import { openStore, temporaryFolder } from '../store/open-sqlite.ts';
import { defaultLimits, noQuota } from '../support/no-quota.ts';

const slowForMs = 10_000;
const muchWaiting = 200_000;

describe('a slow reader', () => {
  it('[LIVE-10] that reads its backlog keeps up, however often there is more', async (t) => {
    const { session, line, write } = await attend(t);
    for (let second = 0; second <= 11; second++) {
      line.backlog = muchWaiting;
      session.catchUp(second * 1000);
      line.backlog = 0;
      await write(`text ${second}`);
    }
    assert.equal(line.closedWith, undefined);
  });

  it('[LIVE-10] that reads nothing for ten seconds is disconnected', async (t) => {
    const { session, line } = await attend(t);
    line.backlog = muchWaiting;
    for (let second = 0; second < 10; second++) session.catchUp(second * 1000);
    assert.equal(line.closedWith, undefined);
    session.catchUp(slowForMs);
    assert.equal(line.closedWith, 4429);
  });

  it('[LIVE-4] may lose its connection between two messages, and still names the last one that it has received', async (t) => {
    const { session, line, write, addFile, feed } = await attend(t);
    line.backlog = muchWaiting;
    await write('while it was busy');
    await addFile();
    line.backlog = 0;
    const before = line.told.length;
    assert.equal(session.catchUp(1000), true);
    const told = line.told.slice(before).map(({ type, seq }) => ({ type, seq }));
    assert.deepEqual(told, [
      { type: 'file-added', seq: 0 },
      { type: 'content', seq: feed.view.seq },
    ]);
  });

  it('[LIVE-10] [LIVE-17] receives the edits that it missed, with the acknowledgement of its own in their place', async (t) => {
    const { session, line, write } = await attend(t, 'edits');
    line.backlog = muchWaiting;
    await write('a');
    await session.receive({ type: 'edit', edits: [{ from: 1, to: 1, insert: 'b' }], baseVersion: 1, ref: 'mine' });
    await write('abc');
    const before = line.told.length;
    line.backlog = 0;
    session.catchUp(1000);
    const told = line.told.slice(before).map(({ text }) => JSON.parse(text));
    assert.deepEqual(
      told.map(({ type, version, ref }) => [type, version, ref]),
      [
        ['edit', 1, undefined],
        ['written', 2, 'mine'],
        ['edit', 3, undefined],
      ],
    );
  });

  it('[LIVE-10] receives a snapshot if it missed more edits than are available', async (t) => {
    const { session, line, write } = await attend(t, 'edits');
    line.backlog = muchWaiting;
    for (let n = 0; n < 70; n++) await write(`text ${n}`);
    const before = line.told.length;
    line.backlog = 0;
    session.catchUp(1000);
    const [snapshot, ...rest] = line.told.slice(before).map(({ text }) => JSON.parse(text));
    assert.deepEqual([snapshot.type, snapshot.content.content, rest], ['snapshot', 'text 69', []]);
    await write('and on');
    assert.equal(line.told.at(-1)?.type, 'edit');
  });

  it('[LIVE-10] [DEV-5] receives the devices when it has caught up', async (t) => {
    const { session, line, feed, attach } = await attend(t);
    line.backlog = muchWaiting;
    await attach('laptop');
    const before = line.told.length;
    assert.equal(session.followDevices(devicesNotice(feed.view, 'list')), 0);
    line.backlog = 0;
    assert.equal(session.catchUp(1000), true);
    session.catchUp(2000);
    const told = line.told.slice(before).map(({ text }) => JSON.parse(text));
    assert.deepEqual(told, [{ type: 'devices', seq: feed.view.seq, devices: [{ deviceId: 'laptop' }] }]);
  });
});

/** A session in a real room, on a line that holds back what the test says. */
async function attend(t: TestContext, textMode: TextMode = 'content') {
  const parts = await partsOf(t);
  const rooms = createRooms(parts, { lifetime: 3600, longestLifetime: 3600, largestContent: 1000 });
  const { code } = await rooms.create({ client: 'me', pin: undefined, expiresIn: undefined, history: true });
  const feed = new RoomFeed(code, parts, 0, createResumeTokens(parts.secret, parts.clock));
  await feed.refresh();
  const line = { backlog: 0, closedWith: undefined as number | undefined, told: [] as Outgoing[] };
  const wire: Wire = {
    answersPings: false,
    send: (messages) => void line.told.push(...messages),
    backlog: () => line.backlog,
    ping: () => undefined,
    close(code) {
      line.closedWith = code;
    },
  };
  const channel = { id: 'one', device: { id: 'phone', name: undefined } };
  const onLeave = (session: Session) => feed.sessions.delete(session);
  const unread = new UnreadBytes({ perClient: 1_000_000, total: 1_000_000 });
  const session = new Session(
    {
      wire,
      client: 'me',
      feed,
      channel,
      linkBase: '',
      linkTo: ({ id }) => id,
      textMode,
      devicesMode: 'list',
      showsCarets: false,
      admittedBy: '',
    },
    { rooms, slowForMs, unread, onLeave, onFallBehind: () => undefined, reconnectWithin: () => 0 },
  );
  feed.sessions.add(session);
  session.begin({ seq: undefined, sent: 0, missed: undefined });
  const caller = { client: 'me', roomId: code, pin: undefined, deviceId: undefined };
  return {
    session,
    line,
    feed,
    async write(content: string) {
      await rooms.writeContent(caller, content, undefined);
      await feed.refresh();
    },
    async attach(id: string) {
      await parts.rooms.attachDevice(code, { id: `channel of ${id}`, device: { id, name: undefined } }, parts.clock());
      await feed.refresh();
    },
    async addFile() {
      await parts.files.addFile(code, file(), quota);
      await feed.refresh();
    },
  };
}

async function partsOf(t: TestContext): Promise<CoreDeps> {
  const store = await openStore(t, await temporaryFolder(t));
  return {
    ...{ ...store, storage: undefined as never, quota: noQuota, limits: defaultLimits, blobs: undefined as never },
    ...{ bus: createLocalBus(), clock: Date.now, secret: 'a secret' },
  };
}
