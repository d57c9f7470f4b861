/** Encrypted rooms in the SDK: their keys, names and texts by requests, and what leaves the device. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { deriveKeys } from '../../src/client/crypto/keys.ts';
import { openEncryptedRoom } from '../../src/client/encrypted-room.ts';
import { createClient, EncryptionError, PoproomError } from '../../src/client/index.ts';
import { createRoomPin } from '../../src/client/room-access.ts';
import { createTransport } from '../../src/client/transport.ts';
import { eventually } from '../support/eventually.ts';
import { jsonResponse, startMaliciousServer, tamperJson } from '../support/malicious-server.ts';
import { startTestServer } from '../support/server.ts';

const unlimited = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };
const hasCode = (code: string) => (error: unknown) => error instanceof PoproomError && error.code === code;
const isDamage = (code: string) => (error: unknown) => error instanceof EncryptionError && error.code === code;

async function start(t: TestContext) {
  const server = await startTestServer(t, unlimited);
  const proxy = await startMaliciousServer(t, () => server.port);
  const client = createClient({ url: proxy.url, deviceId: 'laptop', deviceName: 'Zoë’s laptop' });
  const room = await client.createRoom({ encrypted: true, name: 'Travel plans' });
  return { server, proxy, client, room };
}

type Started = Awaited<ReturnType<typeof start>>;

/** Another device, without anything that the first one has seen. */
const openAgain = ({ proxy, room }: Started, key = room.key ?? '') =>
  createClient({ url: proxy.url, deviceId: 'phone' }).room(room.code, { key });

describe('an encrypted room in the SDK', () => {
  it('[SEALED-30] is created with a key and a link, which open it', async (t) => {
    const started = await start(t);
    const { proxy, client, room } = started;
    assert.match(room.key ?? '', /^(\w{4}-){3}\w{4}$/);
    assert.equal(room.link, `${proxy.url}/r/${room.code}#${room.key?.replaceAll('-', '')}`);
    await room.write('Hello');
    for (const other of [openAgain(started, ` ${room.key?.toLowerCase()} `), client.room(room.link)]) {
      assert.equal((await other.read()).content, 'Hello');
      assert.equal((await other.info()).name, 'Travel plans');
    }
    assert.equal((await room.update({ name: 'Trip' })).name, 'Trip');
    assert.equal((await room.update({ name: null })).name, undefined);
    assert.throws(() => client.room(`https://elsewhere.example/r/${room.code}`), TypeError);
  });

  it('[slow] [SEALED-30] rejects a mistyped key before any request, and a wrong one after the server has', async (t) => {
    const started = await start(t);
    const { proxy, client, room } = started;
    const key = room.key ?? '';
    const typo = `${key.startsWith('0') ? '1' : '0'}${key.slice(1)}`;
    proxy.sent.length = 0;
    await assert.rejects(openAgain(started, 'not a key').read(), isDamage('KEY_MALFORMED'));
    const mistyped = openAgain(started, typo)
      .read()
      .then(
        () => assert.fail(),
        (error) => error,
      );
    // One of 32 typos has the same check symbol.
    if (isDamage('KEY_MISTYPED')(await mistyped)) assert.deepEqual(proxy.sent, []);
    await assert.rejects(openAgain(started, 'H4T9-WZ3B-NQ6Y-RC88').read(), hasCode('KEY_INCORRECT'));
    await assert.rejects(client.room(room.code).read(), hasCode('KEY_REQUIRED'));
    const text = openAgain(started, 'H4T9-WZ3B-NQ6Y-RC88').text();
    await assert.rejects(text.ended, hasCode('KEY_INCORRECT'));
  });

  it('[slow] [SEALED-30] opens the live channel while the keys are derived, but not for a key with a typo', async (t) => {
    const started = await start(t);
    const { proxy, room } = started;
    const access = { code: room.code, pin: createRoomPin(undefined), deviceId: 'phone', deviceName: undefined };
    const hasChannel = () => proxy.sent.some((line) => line.includes('/live'));
    const derive = async (...values: Parameters<typeof deriveKeys>) => {
      await eventually('the channel is opened', async () => hasChannel());
      return deriveKeys(...values);
    };
    const transport = createTransport({ url: proxy.url, apiKey: undefined, withRetry: (attempt) => attempt() });
    const openPlain = () => started.client.room(room.code);
    const { room: other } = openEncryptedRoom(transport, access, { key: room.key ?? '', derive }, openPlain);
    for await (const event of other.live()) if (event.type === 'snapshot') break;
    assert.ok(hasChannel());
    proxy.sent.length = 0;
    await assert.rejects(openAgain(started, 'not a key').text().ended, isDamage('KEY_MALFORMED'));
    assert.deepEqual(proxy.sent, []);
  });

  it('[SEALED-31] sends nothing to a room that the server calls unencrypted', async (t) => {
    const started = await start(t);
    const { proxy, client, server } = started;
    const plain = await client.createRoom();
    const withKey = client.room(plain.code, { key: 'H4T9-WZ3B-NQ6Y-RC88' });
    proxy.sent.length = 0;
    for (const operation of [
      () => withKey.write('secret text'),
      () => withKey.append('secret text'),
      () => withKey.update({ name: 'secret text' }),
      () => withKey.upload(new Blob(['secret text']), { name: 'secret text' }),
      () => withKey.text({}).ended,
    ])
      await assert.rejects(operation, isDamage('NOT_ENCRYPTED'));
    assert.ok(!proxy.sent.join('\n').includes('secret'));
    assert.equal((await server.api.get(`/api/rooms/${plain.code}/content`)).json.content, '');
    // A server that stops claiming the encryption later.
    proxy.tamper = tamperJson(started.room.code, ({ encrypted, ...info }) => info);
    await assert.rejects(started.room.info(), isDamage('NOT_ENCRYPTED'));
    proxy.tamper = tamperJson('/api/rooms', ({ encrypted, ...created }) => created);
    await assert.rejects(client.createRoom({ encrypted: true }), isDamage('NOT_ENCRYPTED'));
  });

  it('[slow] [CODE-7] refuses a code of the other kind when it creates a room', async (t) => {
    const { proxy, client } = await start(t);
    proxy.tamper = tamperJson('/api/rooms', (created) => ({ ...created, roomId: 'E7KQ2MX' }));
    await assert.rejects(client.createRoom(), hasCode('INVALID_RESPONSE'));
    proxy.tamper = tamperJson('/api/rooms', (created) => ({ ...created, roomId: '7KQ2MX' }));
    await assert.rejects(client.createRoom({ encrypted: true }), isDamage('NOT_ENCRYPTED'));
  });

  it('[CODE-7] needs the key of a code with E before any request, whatever the server says', async (t) => {
    const { proxy, client, room } = await start(t);
    proxy.sent.length = 0;
    // A server that has a plain room under this code.
    const info = { roomId: room.code, expiresAt: '2999-01-01T00:00:00.000Z', hasPin: false, deviceCount: 0 };
    proxy.answer = () =>
      jsonResponse(200, { ...info, success: true, content: '', version: 0, timestamp: info.expiresAt });
    const dashed = `${room.code.slice(0, 3)}-${room.code.slice(3)}`.toLowerCase();
    for (const name of [room.code, dashed, `${proxy.url}/r/${room.code}`]) {
      const locked = client.room(name, { pin: '0427' });
      assert.equal(locked.key, undefined);
      for (const operation of [
        () => locked.info(),
        () => locked.read(),
        () => locked.write('secret text'),
        () => locked.upload(new Blob(['secret text']), { name: 'secret text' }),
        () => locked.files(),
        () => locked.delete(),
        () => locked.text().ended,
        async () => {
          for await (const { type } of locked.live()) assert.equal(type, 'connecting');
        },
      ])
        await assert.rejects(operation, hasCode('KEY_REQUIRED'), String(operation));
    }
    assert.deepEqual(proxy.sent, []);
    await assert.rejects(client.room(room.code, { key: room.key }).write('secret text'), isDamage('NOT_ENCRYPTED'));
    assert.ok(!proxy.sent.join('\n').includes('secret'));
  });

  it('[SEALED-45] reports the salt of a room, and refuses another one than it knows', async (t) => {
    const started = await start(t);
    const { proxy, client, room } = started;
    const other = openAgain(started);
    assert.equal(other.salt, undefined, 'it is not known yet');
    await other.info();
    assert.match(other.salt ?? '', /^[\w-]{22}$/);
    assert.equal(room.salt, other.salt, 'the creator chose it');
    const known = client.room(room.code, { key: room.key, salt: room.salt });
    assert.equal((await known.info()).name, 'Travel plans');
    const isOther = (name: string, value: unknown) => (name === 'salt' ? 'AAAAAAAAAAAAAAAAAAAAAA' : value);
    proxy.tamper = (_path, body) => Buffer.from(JSON.stringify(JSON.parse(String(body)), isOther));
    proxy.sent.length = 0;
    const { key, salt } = room;
    await assert.rejects(client.room(room.code, { key, salt }).info(), isDamage('DATA_DAMAGED'));
    await assert.rejects(client.room(room.code, { key, salt }).text().ended, isDamage('DATA_DAMAGED'));
    assert.ok(!proxy.sent.join('\n').includes('x-room-auth'), 'nothing that derives from the key was sent');
  });

  it('[SEALED-32] sends no key, no plaintext and no names, and nothing secret in a URL', async (t) => {
    const { proxy, room, client } = await start(t);
    const secret = 'the treasure is buried';
    const text = room.text();
    await text.synchronized();
    text.append(secret);
    await text.synchronized();
    text.close();
    await room.append(`, ${secret}`);
    await room.write(`${secret} elsewhere`);
    await room.upload(new Blob([secret]), { name: 'treasure.txt', folder: 'buried', type: 'text/treasure' });
    await room.upload(new Blob([secret]), { name: 'treasure.txt', onProgress: () => undefined });
    await client.room(room.link).read();
    const sent = proxy.sent.join('\n');
    for (const word of ['treasure', 'buried', 'laptop’', 'Travel', 'Zoë', room.key, room.key?.replaceAll('-', '')])
      assert.ok(!sent.includes(word ?? ''), `${word} was sent`);
    const auth = /"x-room-auth":"([\w-]{43})"/.exec(sent)?.[1] ?? assert.fail('no key was sent');
    const urls = proxy.sent.filter((line) => /^(\/|[A-Z]+ \/)/.test(line)).map((line) => line.split(' {')[0] ?? '');
    assert.ok(urls.length > 10 && !urls.some((url) => url.includes(auth)));
    assert.ok(!Buffer.from(sent, 'latin1').includes(Buffer.from(secret).toString('base64url').slice(0, 20)));
  });

  it('[SEALED-33] reads, replaces, edits and appends like an ordinary room', async (t) => {
    const { room, client } = await start(t);
    assert.deepEqual((await room.write('one three')).version, 1);
    const other = client.room(room.link);
    assert.equal((await other.edit([{ from: 4, to: 4, insert: 'two ' }])).version, 2);
    // Based on version 1, and rebased over the edit of the other.
    await room.edit([{ from: 9, to: 9, insert: ' four' }], { baseVersion: 1 });
    assert.deepEqual((await other.read()).content, 'one two three four');
    await Promise.all(Array.from({ length: 8 }, (_, n) => (n % 2 ? room : other).append(`-${n}`)));
    const { content, version } = await room.read();
    assert.equal(version, 11);
    for (let n = 0; n < 8; n++) assert.equal(content.split(`-${n}`).length, 2, `-${n} once in ${content}`);
    await assert.rejects(room.write('late', { baseVersion: 3 }), (error) => {
      assert.ok(error instanceof PoproomError);
      assert.equal(error.code, 'VERSION_CONFLICT');
      return error.details.content === content;
    });
    await assert.rejects(room.edit([{ from: 500, to: 500, insert: 'x' }]), hasCode('VALIDATION_FAILED'));
    const tooLong = 'x'.repeat((await room.info()).limits.textBytes + 1);
    await assert.rejects(room.write(tooLong), hasCode('CONTENT_TOO_LARGE'));
    await room.write('replaced');
    const [earlier] = await room.history();
    if (earlier) assert.ok((await room.historyText(earlier.version)).content.length > 0);
    await assert.rejects(room.downloadZip(), isDamage('ZIP_UNAVAILABLE'));
    await assert.rejects(room.zipUrl(), isDamage('ZIP_UNAVAILABLE'));
  });

  it('[slow] [SEALED-48] keeps a text that is replaced or restored over in the history, as an ordinary room does', async (t) => {
    const { client } = await start(t);
    const [plain, sealed] = [await client.createRoom(), await client.createRoom({ encrypted: true })];
    for (const room of [plain, sealed]) {
      const newest = async () => {
        const [entry = assert.fail('there is no history')] = await room.history();
        return { version: entry.version, content: (await room.historyText(entry.version)).content };
      };
      await room.write('the first text, number 0');
      for (let n = 1; n <= 6; n++) await room.append(` ${n}`);
      await room.write('another');
      assert.deepEqual(await newest(), { version: 7, content: 'the first text, number 0 1 2 3 4 5 6' });
      await room.append(' text, which is longer');
      await room.restore(7);
      assert.deepEqual(await newest(), { version: 9, content: 'another text, which is longer' });
      assert.equal((await room.read()).content, 'the first text, number 0 1 2 3 4 5 6');
    }
  });

  it('[SEALED-48] keeps a text that is replaced on the live channel', async (t) => {
    const { room } = await start(t);
    await room.write('the first text, number 0');
    await room.append(' 1');
    const live = room.live();
    for await (const event of live) {
      if (event.type !== 'snapshot') continue;
      await live.write('another', event.content.version);
      break;
    }
    assert.equal((await room.historyText(2)).content, 'the first text, number 0 1');
    assert.equal((await room.read()).content, 'another');
  });

  it('[slow] [SEALED-34] reports every change of the text by the server', async (t) => {
    const started = await start(t);
    const { proxy, room, client } = started;
    const foreign = await client.createRoom({ encrypted: true });
    await foreign.write('foreign');
    await foreign.append('!');
    await room.write('one');
    const old = JSON.stringify(await rawContent(started));
    await room.append(' two');
    await room.append(' three');
    const now = await rawContent(started);
    const [two, three] = now.sealedEdits as { sealed: string; version: number }[];
    const other = await rawContent({ ...started, room: foreign });
    const changes: [string, object, string][] = [
      ['another version', { ...now, contentVersion: 2, sealedEdits: [three] }, 'DATA_DAMAGED'],
      [
        'swapped edits',
        {
          ...now,
          sealedEdits: [
            { ...two, sealed: three?.sealed },
            { ...three, sealed: two?.sealed },
          ],
        },
        'DATA_DAMAGED',
      ],
      ['the text of another room', { ...now, content: other.content }, 'DATA_DAMAGED'],
      ['an edit of another room', { ...now, sealedEdits: [(other.sealedEdits as object[])[0], three] }, 'DATA_DAMAGED'],
      ['a log without its end', { ...now, sealedEdits: [two] }, 'DATA_DAMAGED'],
      ['a log without its start', { ...now, sealedEdits: [three] }, 'DATA_DAMAGED'],
      ['plaintext', { content: 'hello', version: 3, timestamp: now.timestamp }, 'NOT_ENCRYPTED'],
      ['plaintext as sealed', { ...now, content: 'hello' }, 'DATA_DAMAGED'],
    ];
    const fresh = openAgain(started);
    for (const [what, changed, code] of changes) {
      proxy.tamper = tamperJson('/content', () => changed);
      await assert.rejects(fresh.read(), isDamage(code), what);
      await assert.rejects(fresh.append('x'), isDamage(code), what);
    }
    proxy.tamper = tamperJson('/content', () => JSON.parse(old));
    await assert.rejects(room.read(), isDamage('ROLLBACK'), 'an old snapshot');
    const { seen } = room;
    const restarted = client.room(room.code, { key: room.key, seen });
    await assert.rejects(restarted.append('x'), isDamage('ROLLBACK'), 'after a restart');
    assert.equal((await fresh.read()).content, 'one', 'a new device cannot notice it');
    proxy.tamper = (_path, body) => body;
    assert.equal((await room.read()).content, 'one two three');
  });

  it('[SEALED-34] reports a server that shows two devices different texts of one version', async (t) => {
    const started = await start(t);
    const { proxy, room } = started;
    await room.write('one');
    const old = await rawContent(started);
    await room.append(' two');
    const misled = openAgain(started);
    proxy.tamper = tamperJson('/content', () => old);
    const before = proxy.sent.length;
    await assert.rejects(misled.append(' other'));
    const written = proxy.sent.slice(before).join('\n');
    const [sealed = assert.fail(written)] = /pop1\.[\w-]+/.exec(written.slice(written.indexOf('PATCH '))) ?? [];
    const forked = { ...old, version: 2, sealedEdits: [{ version: 2, sealed, timestamp: old.timestamp }] };
    proxy.tamper = tamperJson('/content', () => forked);
    assert.equal((await openAgain(started).read()).content, 'one other', 'it is a text that could be real');
    await assert.rejects(room.read(), isDamage('FORK'));
    await assert.rejects(room.append('x'), isDamage('FORK'));
  });

  it('[SEALED-35] shows names that do not open as unknown', async (t) => {
    const started = await start(t);
    const { proxy, room } = started;
    const changed = (_all: string, before: string, symbol: string) => before + (symbol === 'A' ? 'B' : 'A');
    proxy.tamperMessage = (message) =>
      JSON.parse(JSON.stringify(message).replace(/("(?:deviceName|name)":"pop1\.[\w-]{20})(.)/g, changed));
    proxy.tamper = tamperJson(room.code, (info) => ({ ...info, name: `${String(info.name).slice(0, -1)}` }));
    assert.equal((await room.info()).name, undefined);
    for await (const event of room.live()) {
      if (event.type !== 'snapshot') continue;
      assert.deepEqual(event.devices, [{ deviceId: 'laptop' }]);
      assert.equal(event.room.name, undefined);
      break;
    }
  });
});

/** The response of the server, with the key of the room. */
async function rawContent({ server, proxy, room }: Pick<Started, 'server' | 'proxy' | 'room'>) {
  const sent = proxy.sent.filter((line) => line.includes(`/api/rooms/${room.code}`)).join('\n');
  const auth = [...sent.matchAll(/"x-room-auth":"([\w-]{43})"/g)].at(-1)?.[1] ?? '';
  const { json } = await server.api.get(`/api/rooms/${room.code}/content`, { headers: { 'x-room-auth': auth } });
  return json as Record<string, unknown>;
}
