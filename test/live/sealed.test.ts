/** Encrypted rooms on the live channel: sealed edits, conflicts, snapshots and reconnecting. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { TextEntry } from '../../src/core/ports/texts.ts';
import { FeedText } from '../../src/live/feed-text.ts';
import type { SealedEdited, Snapshot, TextEdit } from '../../src/protocol/types.ts';
import { type Device, joinRoom } from '../support/device.ts';
import { createSealedRoom, SealedReplica, type SealedRoom } from '../support/sealed-room.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

const unlimited = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };

interface Joined {
  device: Device;
  replica: SealedReplica;
  snapshot: Snapshot;
}

async function join(t: TestContext, url: string, room: SealedRoom, deviceId: string): Promise<Joined> {
  const device = await joinRoom(t, url, room.code, { auth: room.auth, deviceId });
  const snapshot = await device.next('snapshot');
  const replica = new SealedReplica(room);
  replica.load(snapshot.content);
  return { device, replica, snapshot };
}

describe('an encrypted room on the live channel', () => {
  it('[SEALED-7] [SEALED-8] sends sealed edits to all, whether or not they ask for edits', async (t) => {
    const { api, url } = await startTestServer(t, unlimited);
    const room = await createSealedRoom(api);
    const { device: phone, replica: mine } = await join(t, url, room, 'phone');
    const { device: tablet, replica: theirs } = await join(t, url, room, 'tablet');
    const events = await fetch(`${url}/api/rooms/${room.code}/events`, { headers: room.access.headers });
    const edit = mine.insert('Hello');
    phone.send({ type: 'sealed-edit', ...edit, ref: 'r1' });
    const written = await phone.next('written');
    assert.deepEqual([written.version, written.ref, 'compact' in written], [1, 'r1', false]);
    mine.apply({ ...edit, version: 1 });
    const received = await tablet.next('sealed-edit');
    const { timestamp, seq, ...rest } = received;
    assert.deepEqual(rest, { type: 'sealed-edit', version: 1, sealed: edit.sealed, deviceId: 'phone', ref: 'r1' });
    assert.deepEqual([timestamp, seq], [written.timestamp, written.seq]);
    theirs.apply(received);
    assert.ok(!phone.received.some(({ type }) => type === 'sealed-edit'), 'the author receives only the response');

    const whole = theirs.replace('Bye');
    tablet.send({ type: 'content', ...whole, ref: 'r2' });
    assert.deepEqual((await tablet.next('written')).version, 2);
    const replaced = await phone.next('content');
    assert.deepEqual([replaced.content, replaced.contentVersion, replaced.sealedEdits], [whole.content, 2, []]);
    mine.load(replaced);
    assert.equal(mine.text, 'Bye');
    assert.ok(!tablet.received.some(({ type }) => type === 'content'));
    await readUntil(events, [edit.sealed, whole.content]);
  });

  it('[SEALED-7] answers a late write with a conflict, after the edits that it missed', async (t) => {
    const { api, url } = await startTestServer(t, unlimited);
    const room = await createSealedRoom(api);
    const { device: phone, replica: mine } = await join(t, url, room, 'phone');
    const { device: tablet, replica: theirs } = await join(t, url, room, 'tablet');
    const first = theirs.insert('theirs ');
    tablet.send({ type: 'sealed-edit', ...first });
    await tablet.next('written');
    theirs.apply({ ...first, version: 1 });
    const late: TextEdit[] = [{ from: 0, to: 0, insert: 'mine ' }];
    phone.send({ type: 'sealed-edit', ...mine.seal(late), ref: 'late' });
    const { type, timestamp, ...conflict } = await phone.next('conflict');
    assert.deepEqual(conflict, { version: 1, ref: 'late' });
    const missed = phone.received.filter((message) => message.type === 'sealed-edit');
    assert.equal(missed.length, 1, 'the edit precedes the conflict');
    const rebased = mine.rebase(late, missed, 'phone');
    phone.send({ type: 'sealed-edit', ...mine.seal(rebased), ref: 'late' });
    assert.equal((await phone.next('written')).version, 2);
    for (const edit of await edits(tablet, 1)) theirs.apply(edit);
    assert.equal(theirs.text, 'mine theirs ');
    phone.send({ type: 'content', content: mine.replace('x').content, baseVersion: 0, ref: 'old' });
    const whole = await phone.next('conflict');
    assert.deepEqual([whole.version, whole.ref, 'content' in whole], [2, 'old', false]);
  });

  it('[SEALED-7] converges if several devices type and rebase', async (t) => {
    const { api, url } = await sharedServer(t);
    const room = await createSealedRoom(api);
    const names = ['a', 'b', 'c'];
    const joined = await Promise.all(names.map((name) => join(t, url, room, name)));
    await Promise.all(joined.map((each, i) => typeLive(each, names[i] ?? '', 8)));
    for (const { device, replica } of joined) {
      await caughtUp(device, replica, 24);
      assert.equal(replica.text, 'aaaaaaaabbbbbbbbcccccccc');
    }
  });

  it('[SEALED-8] sends the edits that a device missed, or else a snapshot', async (t) => {
    const { api, url } = await startTestServer(t, unlimited);
    const room = await createSealedRoom(api);
    const { device: phone, replica: mine } = await join(t, url, room, 'phone');
    const type = async (text: string) => {
      const edit = mine.insert(text);
      phone.send({ type: 'sealed-edit', ...edit });
      const { version } = await phone.next('written');
      mine.apply({ ...edit, version });
    };
    await type('one ');
    const { device: tablet, replica: theirs, snapshot } = await join(t, url, room, 'tablet');
    assert.equal(snapshot.content.sealedEdits?.length, 1);
    await tablet.leave();
    await type('two ');
    await type('three');
    const { version, timestamp } = snapshot.content;
    const rejoin = async (seq: number) => {
      const joining = { auth: room.auth, deviceId: 'tablet', version, timestamp, seq };
      return joinRoom(t, url, room.code, joining);
    };
    const again = await rejoin(snapshot.seq);
    for (const edit of await edits(again, 2)) theirs.apply(edit);
    assert.equal(theirs.text, 'one two three');
    assert.ok(!again.received.some((message) => message.type === 'snapshot'));
    phone.send({ type: 'content', ...mine.replace('new') });
    await phone.next('written');
    const late = await rejoin(snapshot.seq);
    theirs.load((await late.next('snapshot')).content);
    assert.equal(theirs.text, 'new');
    assert.ok(!late.received.some((message) => message.type === 'sealed-edit'));
  });

  it('[SEALED-9] asks for a snapshot, which those who join later receive', async (t) => {
    const server = await startTestServer(t, unlimited);
    const { api, url } = server;
    const room = await createSealedRoom(api);
    const { device: phone, replica: mine } = await join(t, url, room, 'phone');
    const { device: tablet } = await join(t, url, room, 'tablet');
    const type = async (text: string) => {
      const edit = mine.insert(text);
      phone.send({ type: 'sealed-edit', ...edit });
      const written = await phone.next('written');
      mine.apply({ ...edit, version: written.version });
      return written;
    };
    for (let n = 0; n < 3; n++) assert.equal((await type('x'.repeat(16_000))).compact, undefined);
    assert.equal((await type('y'.repeat(16_000))).compact, true);
    const { content, version } = mine.snapshot();
    phone.send({ type: 'compact', content: 'plain', version, ref: 'c0' });
    assert.equal((await phone.next('error')).error.code, 'ENCRYPTION_REQUIRED');
    phone.send({ type: 'compact', content, version, ref: 'c1' });
    const compacted = await phone.next('written');
    assert.deepEqual([compacted.version, compacted.ref], [4, 'c1']);
    await snapshotReaches(t, server, room, 4);
    assert.equal((await type('!')).compact, undefined);
    const { replica, snapshot } = await join(t, url, room, 'laptop');
    assert.deepEqual([snapshot.content.contentVersion, snapshot.content.sealedEdits?.length], [4, 1]);
    assert.equal(replica.text, mine.text);
    assert.equal((await edits(tablet, 5)).at(-1)?.version, 5, 'others receive only the edits');
    assert.ok(!tablet.received.some((message) => message.type === 'content'));
  });
});

/** The feed of the room learns of the snapshot after the response. */
async function snapshotReaches(t: TestContext, { url }: TestServer, room: SealedRoom, version: number): Promise<void> {
  for (;;) {
    const { device, snapshot } = await join(t, url, room, 'observer');
    await device.leave();
    if (snapshot.content.contentVersion === version) return;
    await wait(20);
  }
}

async function edits(device: Device, count: number): Promise<SealedEdited[]> {
  const all = () => device.received.filter((message) => message.type === 'sealed-edit');
  while (all().length < count) await device.next('sealed-edit');
  return all();
}

async function caughtUp(device: Device, replica: SealedReplica, version: number): Promise<void> {
  for (;;) {
    for (const message of device.received) if (message.type === 'sealed-edit') replica.apply(message);
    if (replica.version === version) return;
    await device.next('sealed-edit');
  }
}

/** Types a letter several times at the start of the text, and rebases after conflicts. */
async function typeLive({ device, replica }: Joined, letter: string, times: number): Promise<void> {
  let at = 0;
  for (let n = 0; n < times; n++) {
    let mine: TextEdit[] = [{ from: at, to: at, insert: letter }];
    for (let attempt = 0; ; attempt++) {
      mine = replica.rebase(mine, missedBy(device, replica), letter);
      const { sealed, baseVersion } = replica.seal(mine);
      const ref = `${n}-${attempt}`;
      device.send({ type: 'sealed-edit', sealed, baseVersion, ref });
      const answer = await Promise.race([
        device.next('written', (message) => message.ref === ref),
        device.next('conflict', (message) => message.ref === ref),
      ]);
      if (answer.type === 'written') {
        replica.apply({ sealed, version: answer.version });
        break;
      }
      // At most 20 messages per second.
      await wait(50);
    }
    at = (mine[0]?.from ?? 0) + 1;
  }
}

const missedBy = ({ received }: Device, { version }: SealedReplica): SealedEdited[] =>
  received.filter((message) => message.type === 'sealed-edit' && message.version > version) as SealedEdited[];

describe('the feed of an encrypted room', () => {
  const entry = (version: number): TextEntry => ({
    version,
    edits: [],
    sealed: `pop1.${version}`,
    deviceId: 'phone',
    ref: undefined,
    writtenAt: version,
  });
  const stateAt = (version: number, contentVersion: number) => ({
    version,
    writtenAt: version,
    content: `pop1.text ${contentVersion}`,
    contentVersion,
    entries: Array.from({ length: version - contentVersion }, (_, index) => entry(contentVersion + 1 + index)),
  });

  it('[SEALED-8] has the edits that it missed after it read the whole text again', () => {
    const before = FeedText.of(stateAt(12, 7)).next(entry(13));
    const versionsSince = (text: FeedText, version: number) => text.since(version)?.map((missed) => missed.version);
    assert.deepEqual(versionsSince(before.follow(stateAt(15, 7)), 12), [13, 14, 15]);
    assert.deepEqual(versionsSince(before.follow(stateAt(15, 13)), 13), [14, 15]);
    assert.deepEqual(versionsSince(before.follow(stateAt(13, 13)), 12), [13]);
    assert.equal(versionsSince(before.follow(stateAt(15, 14)), 13), undefined, 'a snapshot replaced an edit it missed');
    const other = { ...stateAt(15, 7), entries: stateAt(15, 7).entries.map((edit) => ({ ...edit, writtenAt: 99 })) };
    assert.equal(versionsSince(before.follow(other), 13), undefined, 'another text with the same version');
  });
});

/** Reads an event stream until it has contained these strings, and closes it. */
async function readUntil({ body }: Response, parts: readonly string[]): Promise<void> {
  let text = '';
  for await (const chunk of body ?? []) {
    text += Buffer.from(chunk).toString();
    if (parts.every((part) => text.includes(part))) return;
  }
  assert.fail(`The stream ended: ${text.slice(0, 500)}`);
}
