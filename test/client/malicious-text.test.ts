/** The text of an encrypted room on a malicious server, which orders and stores what it cannot read. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createClient, EncryptionError, type LiveText, type Room } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import {
  dropSealedEdits,
  jsonResponse,
  type LiveMessage,
  type MaliciousServer,
  startMaliciousServer,
  tamperJson,
} from '../support/malicious-server.ts';
import { startTestServer } from '../support/server.ts';

const settings = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };

async function start(t: TestContext) {
  const server = await startTestServer(t, settings);
  const malicious = await startMaliciousServer(t, () => server.port);
  const room = await createClient({ url: server.url, deviceId: 'honest' }).createRoom({ encrypted: true });
  /** The same room on another device, through the malicious server. */
  const misled = () => createClient({ url: malicious.url, deviceId: 'misled' }).room(room.code, { key: room.key });

  function openText(): LiveText {
    const text = misled().text();
    t.after(() => text.close());
    return text;
  }

  /** The stored text, in sealed form. */
  async function stored(): Promise<LiveMessage> {
    let content: unknown;
    malicious.tamper = (path, body) => {
      if (path.endsWith('/content')) content = JSON.parse(String(body));
      return body;
    };
    await misled().read();
    malicious.tamper = (_path, body) => body;
    return content as LiveMessage;
  }

  return { malicious, room, misled, openText, stored };
}

const isEncryptionError = (code: string) => (error: unknown) => error instanceof EncryptionError && error.code === code;

/** The history entry of a version, in sealed form. */
async function storedAt(
  room: Room,
  malicious: MaliciousServer,
  version: number,
): Promise<{ version: number; content: string }> {
  let entry: unknown;
  malicious.tamper = tamperJson(`/history/${version}`, (json) => {
    entry = json;
    return json;
  });
  await createClient({ url: malicious.url }).room(room.code, { key: room.key }).historyText(version);
  malicious.tamper = (_path, body) => body;
  return entry as { version: number; content: string };
}

const endsWith = (text: LiveText, code: string) =>
  assert.rejects(text.ended, (error) => error instanceof EncryptionError && error.code === code);

describe('the text of an encrypted room on a malicious server', () => {
  it('[slow] [SEALED-46] is forked if the server drops confirmed words and then shows the text of others', async (t) => {
    const { malicious, room, openText, stored } = await start(t);
    await room.write('one');
    for (const replace of [true, false]) {
      const text = openText();
      await text.synchronized();
      dropSealedEdits(malicious);
      text.append(' mine');
      await text.synchronized();
      const { value } = text;
      for (let n = 0; n < 5; n++) await room.append(` ${n}`);
      if (replace) await room.write('a new text');
      else await room.append('.');
      // Also if the edits between are hidden.
      const content = replace ? await stored() : await compacted(room, stored);
      malicious.inject({ type: 'content', seq: 99, ...content });
      await endsWith(text, 'FORK');
      assert.equal(text.value, value, 'the words are still here');
      malicious.tamperMessage = (message) => message;
      malicious.tamperSentMessage = (message) => message;
    }
  });

  /** Removing much stores a snapshot of the text before and after it. */
  async function compacted(
    room: Awaited<ReturnType<typeof start>>['room'],
    stored: () => Promise<LiveMessage>,
  ): Promise<LiveMessage> {
    const other = room.text();
    await other.synchronized();
    other.replace('');
    await other.synchronized();
    let content = await stored();
    await eventually('a snapshot is stored', async () => {
      content = await stored();
      return content.contentVersion === content.version;
    });
    other.close();
    return content;
  }

  it('[slow] [SEALED-46] reports confirmed words that are missing after a gap of more than 64 versions', async (t) => {
    const { malicious, room, openText, stored } = await start(t);
    await room.write('one\ntwo');
    const text = openText();
    const lost: string[] = [];
    text.on('lost', (words) => lost.push(words));
    await text.synchronized();
    text.append('\nkept');
    await text.synchronized();
    dropSealedEdits(malicious);
    text.append('\nmy lost');
    await text.synchronized();
    text.append(' words');
    await text.synchronized();
    const first = { version: text.version };
    for (let n = 0; n < 70; n++) await room.append('.');
    await room.write('one\ntwo\nkept\nof others');
    malicious.inject({ type: 'content', seq: 99, ...(await stored()) });
    await eventually('the new text arrives', () => text.version > first.version);
    assert.equal(text.value, 'one\ntwo\nkept\nof others');
    assert.deepEqual(lost, ['my lost words']);
  });

  it('[SEALED-47] is not replaced by another version of its history', async (t) => {
    const { malicious, room, misled } = await start(t);
    const texts = ['one', 'two', 'three', 'four', 'five'];
    for (const text of texts) await room.write(text);
    const history = (version: number, body: object) => {
      malicious.answer = ({ path }) => (path.endsWith(`/history/${version}`) ? jsonResponse(200, body) : undefined);
    };
    const { version, content } = await storedAt(room, malicious, 1);
    const entry = { version, content, timestamp: new Date().toISOString(), size: 256 };
    const other = misled();
    await other.read();
    for (const body of [entry, { ...entry, version: 4 }]) {
      history(4, body);
      await assert.rejects(other.historyText(4), isEncryptionError('DATA_DAMAGED'));
      await assert.rejects(other.restore(4), isEncryptionError('DATA_DAMAGED'));
    }
    assert.equal((await room.read()).content, 'five', 'nothing was restored');
  });

  it('[slow] [SEALED-47] is not locked by a version that the server has invented', async (t) => {
    const { malicious, room, misled } = await start(t);
    await room.write('one');
    const other = misled();
    for (const invented of [2 ** 53 - 1, 99, 1, 0]) {
      for (const act of [() => other.write('x'), () => other.append('y')]) {
        malicious.tamperResponse = (response, { method, path }) => {
          if (method === 'GET' || !path.endsWith('/content')) return response;
          return jsonResponse(200, { ...JSON.parse(String(response.body)), version: invented });
        };
        await assert.rejects(act(), { code: 'INVALID_RESPONSE' }, `${invented}`);
        malicious.tamperResponse = (response) => response;
        const { version } = await other.read();
        assert.ok(version < 20, 'honest reads still work');
        assert.equal(other.seen?.version, version);
      }
    }
  });

  it('[slow] [SEALED-47] ignores confirmations of edits and versions that were not sent', async (t) => {
    const { malicious, room, openText } = await start(t);
    await room.write('one');
    const timestamp = new Date().toISOString();
    const unsent = ({ ref, baseVersion }: LiveMessage): object[] => [
      { ref, version: 2 ** 53 - 1 },
      { ref, version: Number(baseVersion) },
      { ref: 'another', version: Number(baseVersion) + 1 },
      { ref: 'compact', version: Number(baseVersion) + 1 },
    ];
    for (let n = 0; n < 4; n++) {
      const text = openText();
      await text.synchronized();
      let isFalse = false;
      malicious.tamperSentMessage = (message) => {
        if (message.type !== 'sealed-edit' || isFalse) return message;
        isFalse = true;
        setImmediate(() => malicious.inject({ type: 'written', seq: 98, timestamp, ...unsent(message)[n] }));
        return undefined;
      };
      text.append(` word${n}`);
      await text.synchronized();
      assert.ok(isFalse && text.value.endsWith(` word${n}`), text.value);
      assert.equal((await room.read()).content, text.value, 'the edit was sent again and stored');
      text.close();
    }
  });

  it('[SEALED-47] keeps an edit that the server says it has stored, in an edit of another or in a snapshot', async (t) => {
    const { malicious, room, openText } = await start(t);
    await room.write('one');
    const text = openText();
    await text.synchronized();
    let ref: unknown;
    malicious.tamperSentMessage = (message) => {
      if (message.type !== 'sealed-edit') return message;
      ref = message.ref;
      return undefined;
    };
    malicious.tamperMessage = (message) =>
      message.type === 'sealed-edit' ? { ...message, deviceId: 'misled', ref } : message;
    text.append(' mine');
    await eventually('the edit is sent', () => ref !== undefined);
    await room.append(' theirs');
    await eventually('the other one arrives', () => text.value.includes('theirs'));
    assert.ok(text.value.includes(' mine'), text.value);

    malicious.tamperSentMessage = (message) => {
      const { seq: _seq, version: _version, timestamp: _timestamp, ...rest } = message;
      return message.type === 'join' ? rest : message;
    };
    malicious.tamperMessage = (message) => {
      if (message.type !== 'snapshot') return message;
      return { ...message, content: { ...(message.content as object), lastRefs: [{ deviceId: 'misled', ref }] } };
    };
    malicious.closeChannels(1001);
    await text.synchronized();
    await eventually('the edit is stored', async () => (await room.read()).content.includes(' mine'));
    assert.equal((await room.read()).content, text.value);
  });

  it('[SEALED-46] reports nothing if others have removed own words, which the versions prove', async (t) => {
    const { room, openText } = await start(t);
    const text = openText();
    const lost: string[] = [];
    text.on('lost', (words) => lost.push(words));
    await text.synchronized();
    text.append('my words');
    await text.synchronized();
    await room.append('!');
    await room.write('of others');
    await eventually('the new text arrives', () => text.value === 'of others');
    assert.deepEqual(lost, []);
  });
});
