/** The shared text of an encrypted room, with a real server. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { createClient, EncryptionError, type LiveText, type LiveTextOptions } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { type Random, randomFromSeed } from '../support/seeded-random.ts';
import { startTestServer } from '../support/server.ts';
import { startTamperingProxy } from '../support/tampering-proxy.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const settings = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };

async function start(t: TestContext) {
  const server = await startTestServer(t, settings);
  const proxy = await startTcpProxy(t, () => server.port);
  const room = await createClient({ url: server.url, deviceId: 'maker' }).createRoom({ encrypted: true });
  const access = { key: room.key };

  function open(deviceId: string, url = server.url, options: LiveTextOptions = {}): LiveText {
    const text = createClient({ url, deviceId }).room(room.code, access).text(options);
    t.after(() => text.close());
    return text;
  }
  return { server, proxy, room, open };
}

const allSynchronized = (...texts: LiveText[]) => Promise.all(texts.map((text) => text.synchronized()));

const endsWith = (text: LiveText, code: string) =>
  assert.rejects(text.ended, (error) => error instanceof EncryptionError && error.code === code);

describe('the text of an encrypted room', () => {
  it('[SEALED-36] becomes the same on all devices, which type, undo and lose their connection', async (t) => {
    const { room, proxy, open } = await start(t);
    const seed = Number(process.env.POPROOM_TEST_SEED ?? randomInt(2 ** 31));
    t.diagnostic(`to repeat this run: POPROOM_TEST_SEED=${seed}`);
    const random = randomFromSeed(seed);
    const texts = [open('a'), open('b', proxy.url), open('c')];
    await allSynchronized(...texts);
    const inserted: string[] = [];
    for (let round = 0; round < 120; round++) {
      if (random.number(40) === 0) proxy.disconnect();
      act(random, random.pick(texts), inserted);
      if (random.number(4) === 0) await new Promise((resolve) => setTimeout(resolve, random.number(40)));
    }
    await allSynchronized(...texts);
    const { content } = await room.read();
    await eventually('all have the same text', () => texts.every(({ value }) => value === content));
    assert.deepEqual([...content].sort(), inserted, 'every letter is there exactly once');
    for (const text of texts) while (text.undo());
    await allSynchronized(...texts);
    await eventually('everything is undone', () => texts.every(({ value }) => value === ''));
  });

  it('[SEALED-37] has an edit once if its response was lost, also after a reload', async (t) => {
    const { room, proxy, open } = await start(t);
    const textNow = async () => (await room.read()).content;
    const text = open('one', proxy.url);
    await text.synchronized();
    proxy.pauseResponses();
    text.append('once');
    await eventually('the edit is stored', async () => (await textNow()) === 'once');
    proxy.disconnect();
    await eventually('the text is offline', () => !text.isOnline);
    text.append(', and more');
    proxy.resume();
    await text.synchronized();
    assert.equal(await textNow(), 'once, and more');

    proxy.pauseResponses();
    text.append('. Again');
    await eventually('the edit is stored', async () => (await textNow()).endsWith('. Again'));
    text.append(' and again');
    const saved = JSON.parse(JSON.stringify(text.save()));
    assert.equal(typeof saved.seen.hash, 'string');
    text.close();
    proxy.disconnect();
    proxy.resume();
    await room.append('!');
    const reloaded = open('one', proxy.url, { saved });
    await reloaded.synchronized();
    assert.equal((await textNow()).split('. Again and again').length, 2, await textNow());
    assert.equal(reloaded.value, await textNow());
  });

  it('[SEALED-38] is replaced by a snapshot when the server asks, and stays the same', async (t) => {
    const { server, room, open } = await start(t);
    const proxy = await startTamperingProxy(t, () => server.port);
    const [one, two] = [open('one', proxy.url), open('two')];
    await allSynchronized(one, two);
    let isStored = false;
    proxy.tamperMessage = (message) => {
      isStored ||= message.type === 'written' && message.ref === 'compact';
      return message;
    };
    for (let n = 0; n < 6; n++) {
      one.append(`${n}`.repeat(9000));
      await one.synchronized();
    }
    await eventually('a snapshot is stored', () => isStored);
    const joined: unknown[] = [];
    proxy.tamperMessage = (message) => {
      if (message.type === 'snapshot') joined.push(message.content);
      return message;
    };
    const late = open('late', proxy.url);
    await late.synchronized();
    // Of the version at which the random delay ended.
    assert.ok((joined[0] as { contentVersion: number }).contentVersion > 0);
    two.append('.');
    await two.synchronized();
    await eventually('all follow', () => [one, late].every(({ value }) => value === two.value));
    assert.equal((await room.read()).content, two.value);
  });

  it('[SEALED-39] ends with an error if the server shows an older text or another one', async (t) => {
    const { server, room, open } = await start(t);
    const proxy = await startTamperingProxy(t, () => server.port);
    await room.write('one');
    let old: unknown;
    proxy.tamperMessage = (message) => {
      if (message.type === 'snapshot') old ??= message.content;
      return message;
    };
    const rolledBack = open('a', proxy.url);
    await rolledBack.synchronized();
    await room.append(' two');
    await eventually('the edit arrives', () => rolledBack.value === 'one two');
    proxy.inject({ type: 'content', seq: 99, ...(old as object) });
    await endsWith(rolledBack, 'ROLLBACK');
    assert.equal(rolledBack.value, 'one two');

    proxy.tamperMessage = (message) => {
      if (message.type !== 'sealed-edit') return message;
      return { ...message, sealed: `${String(message.sealed).slice(0, 60)}A${String(message.sealed).slice(61)}` };
    };
    const damaged = open('b', proxy.url);
    await damaged.synchronized();
    await room.append(' three');
    await room.append(' four');
    await endsWith(damaged, 'DATA_DAMAGED');
    assert.equal(damaged.value, 'one two');

    proxy.tamperMessage = (message) =>
      message.type === 'sealed-edit' ? { ...message, type: 'edit', edits: [] } : message;
    const plain = open('c', proxy.url);
    await plain.synchronized();
    await room.append(' five');
    await endsWith(plain, 'NOT_ENCRYPTED');
  });
});

/** Each letter is inserted once, and only own letters are removed, by undo. */
function act(random: Random, text: LiveText, inserted: string[]): void {
  const letter = String.fromCharCode(0xe000 + inserted.length);
  inserted.push(letter);
  text.insert(random.number(text.value.length + 1), letter);
  if (random.number(5) === 0 && text.undo()) text.redo();
}
