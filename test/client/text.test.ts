/** The shared text of a room, with a real server. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createClient, createSharedText, type LiveText, type LiveTextOptions } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

describe('room.text()', () => {
  it('[SDK-13] [SYNC-1] is the same on two devices that type at the same time', async (t) => {
    const { open } = await startRoom(t);
    const [one, two] = [open('one'), open('two')];
    await Promise.all([one.synchronized(), two.synchronized()]);
    for (const letter of 'Hello') one.append(letter);
    for (const letter of 'world') two.append(letter);
    await Promise.all([one.synchronized(), two.synchronized()]);
    await eventually('both have both words', () => one.value === 'Helloworld' && two.value === 'Helloworld');
    one.undo();
    await eventually('the undo arrives', () => two.value === 'world');
  });

  it('[SDK-13] can be appended to before it is loaded', async (t) => {
    const { open, api, path } = await startRoom(t);
    await api.post(`${path}/content`, { json: { content: 'there, ' } });
    const text = open('one');
    text.append('and here');
    await text.synchronized();
    assert.equal(text.value, 'there, and here');
  });

  it('[SYNC-3] stores an edit once if its response was lost', async (t) => {
    const { open, proxy, textNow } = await startRoom(t);
    const text = open('one', { proxy });
    await text.synchronized();
    proxy.pauseResponses();
    text.append('once');
    await eventually('the edit is stored', async () => (await textNow()) === 'once');
    proxy.disconnect();
    await eventually('the text is offline', () => !text.isOnline);
    text.append(', and more');
    assert.equal(text.state, 'awaiting-answer-with-buffer');
    proxy.resume();
    await text.synchronized();
    assert.equal(await textNow(), 'once, and more');
    assert.equal(text.value, 'once, and more');
  });

  it('[SYNC-3] stores an edit once across a reload', async (t) => {
    const { open, proxy, textNow } = await startRoom(t);
    const text = open('one', { proxy });
    await text.synchronized();
    proxy.pauseResponses();
    text.append('once');
    text.append(', and more');
    await eventually('the edit is stored', async () => (await textNow()) === 'once');
    const saved = JSON.parse(JSON.stringify(text.save()));
    text.close();
    proxy.disconnect();
    proxy.resume();
    const other = open('other');
    other.append('Someone else. ');
    await other.synchronized();
    const reloaded = open(undefined, { saved });
    assert.equal(reloaded.value, 'once, and more');
    await reloaded.synchronized();
    assert.deepEqual((await textNow()).split('once').length, 2);
    assert.match(reloaded.value, /once, and more/);
    assert.match(reloaded.value, /Someone else/);
  });

  it('[SYNC-1] merges offline edits with remote edits', async (t) => {
    const { open, proxy } = await startRoom(t);
    const [away, here] = [open('away', { proxy }), open('here')];
    here.append('one two three');
    await eventually('it arrives', () => away.value === 'one two three');
    proxy.pause();
    proxy.disconnect();
    await eventually('the text is offline', () => !away.isOnline);
    away.insert(3, ' and a half');
    here.append(' four');
    await here.synchronized();
    proxy.resume();
    const merged = 'one and a half two three four';
    await eventually('both are merged', () => away.value === merged && here.value === merged);
  });

  it('[SDK-13] reports why an edit was not stored, and sends it with the next one', async (t) => {
    const { open, textNow } = await startRoom(t, { POPROOM_CONTENT_MAX: '1KiB' });
    const text = open('one');
    await text.synchronized();
    text.append('x'.repeat(1025));
    await assert.rejects(text.synchronized(), { code: 'CONTENT_TOO_LARGE' });
    assert.equal(text.refusal?.code, 'CONTENT_TOO_LARGE');
    text.edit([{ from: 0, to: 1025, insert: 'short' }]);
    await text.synchronized();
    assert.equal(text.refusal, undefined);
    assert.equal(await textNow(), 'short');
  });

  it('[SDK-13] ends with the room', async (t) => {
    const { open, api, path } = await startRoom(t);
    const text = open('one');
    await text.synchronized();
    await api.delete(path);
    assert.equal(await text.ended, 'deleted');
    text.append('too late');
    await assert.rejects(text.synchronized(), { code: 'ROOM_NOT_FOUND' });
  });

  it('[SDK-13] reports why it cannot join', async (t) => {
    const { url } = await sharedServer(t);
    const room = await createClient({ url }).createRoom({ pin: '0427' });
    const text = createClient({ url }).room(room.code).text();
    await assert.rejects(text.synchronized(), { code: 'PIN_REQUIRED' });
    await assert.rejects(text.ended, { code: 'PIN_REQUIRED' });
  });

  it('[SDK-13] disconnects when it is closed or its signal aborts', async (t) => {
    const { open, room } = await startRoom(t);
    const leaving = new AbortController();
    const [one, two] = [open('one'), open('two', { signal: leaving.signal })];
    await Promise.all([one.synchronized(), two.synchronized()]);
    await eventually('both are there', async () => (await room.info()).deviceCount === 2);
    one.close();
    leaving.abort();
    assert.equal(one.isOnline, false);
    assert.deepEqual(await Promise.all([one.ended, two.ended]), ['left', 'left']);
    await eventually('both are gone', async () => (await room.info()).deviceCount === 0);
    const late = open('late', { signal: leaving.signal });
    assert.equal(await late.ended, 'left');
    await assert.rejects(late.synchronized(), { code: 'OFFLINE' });
  });
});

describe('room.live({ text })', () => {
  it('[SDK-13] updates the text before it emits the snapshot, and emits no edits', async (t) => {
    const { room, open } = await startRoom(t);
    const leaving = new AbortController();
    t.after(() => leaving.abort());
    const text = createSharedText();
    const other = open('other');
    other.append('hello');
    await other.synchronized();
    const seen: string[] = [];
    const done = (async () => {
      for await (const event of room.live({ text, signal: leaving.signal })) {
        seen.push(event.type);
        if (event.type === 'snapshot') assert.equal(text.value, event.content.content);
      }
    })();
    await eventually('it has the text', () => text.value === 'hello' && text.isOnline);
    other.append(', world');
    await eventually('it follows', () => text.value === 'hello, world');
    text.append('!');
    await text.synchronized();
    await eventually('the other follows', () => other.value === 'hello, world!');
    leaving.abort();
    await done;
    assert.equal(text.isOnline, false);
    const told = new Set(seen.filter((type) => type !== 'devices'));
    assert.deepEqual([...told], ['connecting', 'connected', 'snapshot']);
  });

  it('[SDK-13] accepts only a text of this SDK', async (t) => {
    const { room } = await startRoom(t);
    assert.throws(() => room.live({ text: {} as never }), TypeError);
  });

  it('[SDK-13] follows writes of the whole text by the same channel', async (t) => {
    const { room, textNow } = await startRoom(t);
    const leaving = new AbortController();
    t.after(() => leaving.abort());
    const text = createSharedText();
    const live = room.live({ text, signal: leaving.signal });
    void (async () => {
      for await (const _ of live);
    })();
    await text.synchronized();
    await live.write('a whole text', 0);
    await eventually('the text has it', () => text.value === 'a whole text');
    text.append('!');
    await text.synchronized();
    assert.equal(await textNow(), 'a whole text!');
  });
});

describe('a room', () => {
  it('[SDK-14] is edited and appended to by requests', async (t) => {
    const { room } = await startRoom(t);
    const { version } = await room.write('one two');
    const edited = await room.edit([{ from: 0, to: 3, insert: 'three' }], { baseVersion: version });
    assert.equal(edited.version, version + 1);
    await room.edit([{ from: 7, to: 7, insert: '!' }], { baseVersion: version });
    const appended = await room.append(' four');
    assert.equal(appended.version, version + 3);
    const { content, timestamp } = await room.read();
    assert.equal(content, 'three two! four');
    assert.equal(timestamp, appended.timestamp);
    await room.edit([{ from: 0, to: 0, insert: '> ' }]);
    assert.equal((await room.read()).content, '> three two! four');
    await assert.rejects(room.edit([{ from: 99, to: 99, insert: 'x' }]), { code: 'VALIDATION_FAILED' });
    await assert.rejects(room.edit([], { baseVersion: 99 }), { code: 'VALIDATION_FAILED' });
  });

  it('[SDK-14] lists, shows, restores and clears its history', async (t) => {
    const { room } = await startRoom(t);
    const first = await room.write('a text that is long enough to be kept');
    await room.write('');
    const history = await room.history();
    assert.deepEqual(
      history.map(({ version }) => version),
      [first.version],
    );
    const earlier = await room.historyText(first.version);
    assert.equal(earlier.content, 'a text that is long enough to be kept');
    assert.equal((await room.restore(first.version)).content, earlier.content);
    assert.equal((await room.read()).content, earlier.content);
    await assert.rejects(room.restore(99), { code: 'NOT_FOUND' });
    assert.equal((await room.clearHistory()).success, true);
    assert.deepEqual(await room.history(), []);
  });

  it('[SDK-14] keeps no history when it was created without one', async (t) => {
    const { url } = await sharedServer(t);
    const room = await createClient({ url }).createRoom({ history: false });
    await room.write('a text that is long enough to be kept');
    await room.write('');
    assert.deepEqual(await room.history(), []);
  });
});

async function startRoom(t: TestContext, settings: Record<string, string> = {}) {
  const server = await startTestServer(t, settings);
  const proxy = await startTcpProxy(t, () => server.port);
  const code = await server.api.room();
  const roomOf = (url: string, deviceId?: string) => createClient({ url, deviceId }).room(code);

  function open(deviceId: string | undefined, options: LiveTextOptions & { proxy?: TcpProxy } = {}): LiveText {
    const { proxy, ...textOptions } = options;
    const text = roomOf(proxy?.url ?? server.url, deviceId).text(textOptions);
    t.after(() => text.close());
    return text;
  }

  const room = roomOf(server.url);
  return {
    open,
    room,
    proxy,
    api: server.api,
    path: `/api/rooms/${code}`,
    textNow: async () => (await room.read()).content,
  };
}
