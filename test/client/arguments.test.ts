/** Wrong arguments, which the SDK rejects before it sends anything. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ClientOptions, createClient, type Room } from '../../src/client/index.ts';
import { sharedServer } from '../support/server.ts';

const url = 'https://pop.example.org';
const wrong = <T>(value: unknown) => value as T;

describe('a client with wrong options', () => {
  it('[SDK-24] is not created: a URL that no server can have', () => {
    const urls = [
      undefined,
      null,
      7,
      '',
      'pop.example.org',
      '/r/7KQ2MX',
      'ftp://pop.example.org',
      'http://',
      'https://a b',
    ];
    for (const value of urls) assert.throws(() => createClient({ url: wrong(value) }), expected(/"url" must be/));
    assert.throws(() => createClient(wrong(undefined)), expected(/"url"/));
    assert.throws(
      () => createClient({ url: 'https://me:secret@pop.example.org' }),
      expected(/user name or a password/),
    );
    for (const end of ['?x=1', '#x', '/?', '/r/7KQ2MX#KEY'])
      assert.throws(() => createClient({ url: url + end }), expected(/query or a fragment/));
    for (const valid of [url, `${url}/`, `${url}/poproom`, 'HTTP://LOCALHOST:8080'])
      assert.doesNotThrow(() => createClient({ url: valid }), valid);
  });

  it('[SDK-24] is not created: other options', () => {
    const options: Record<string, unknown[]> = {
      timeoutSeconds: [-1, Number.NaN, '30', null],
      onRetry: [true, {}],
      retry: [{ attempts: '5' }, { maxSeconds: -1 }],
      apiKey: [7],
      deviceId: [7],
      deviceName: [{}],
    };
    for (const [name, values] of Object.entries(options))
      for (const value of values)
        assert.throws(() => createClient({ url, [name]: value } as ClientOptions), expected(new RegExp(name)));
  });
});

describe('a room', () => {
  it('[SDK-24] [SDK-8] is opened by its code or its link, and by nothing else', async (t) => {
    const server = await sharedServer(t);
    const client = createClient({ url: server.url });
    const { code, link } = await client.createRoom();
    for (const value of [code, link, `${link}/`.slice(0, -1), ` ${code.toLowerCase()}`])
      assert.equal((await client.room(value).info()).roomId, code);
    for (const value of [undefined, null, 7, {}]) assert.throws(() => client.room(wrong(value)), expected(/"code"/));
    for (const other of ['https://other.example.org/r/7KQ2MX', `${server.url}/docs`])
      assert.throws(() => client.room(other), expected(/not the link of a room on this server/));
  });

  const calls: Record<string, (room: Room) => Promise<unknown>> = {
    text: (room) => room.write(wrong(7)),
    'no text': (room) => room.write(wrong(undefined)),
    appended: (room) => room.append(wrong(null)),
    edits: (room) => room.edit(wrong('x')),
    version: (room) => room.restore(-1),
    'earlier version': (room) => room.historyText(wrong('1')),
    source: (room) => room.upload(wrong(7)),
    'no source': (room) => room.upload(wrong(undefined), { name: 'x' }),
    name: (room) => room.upload(new Blob(['x'])),
    'name of another type': (room) => room.upload(new Blob(['x']), { name: wrong(7) }),
    file: (room) => room.download(wrong('https://pop.example.org/files/x')),
    'one-time file': (room) => room.receive(wrong(undefined)),
    fileId: (room) => room.removeFile(''),
    'no fileId': (room) => room.restoreFile(wrong(undefined)),
    claim: (room) => room.confirmClaim(wrong(undefined)),
    uploadId: (room) => room.cancelUpload(wrong(undefined)),
    changes: (room) => room.update(wrong(undefined)),
    report: (room) => room.report(wrong(undefined)),
    options: (room) => room.read(wrong('now')),
    signal: (room) => room.files({ signal: wrong(new AbortController()) }),
    timeout: (room) => room.info({ timeoutSeconds: -1 }),
    baseVersion: (room) => room.write('x', { baseVersion: 0.5 }),
    onProgress: (room) => room.upload(new Blob(['x']), { name: 'x', onProgress: wrong({}) }),
    'written live': (room) => room.live().write(wrong(7)),
    'written live on a wrong version': (room) => room.live().write('x', { baseVersion: -1 }),
  };

  for (const [kind, access] of Object.entries({ ordinary: {}, encrypted: { key: '7KQ2-MXA4-9FHT-3WYP' } })) {
    it(`[SDK-24] rejects wrong arguments with a TypeError and sends nothing (${kind})`, async (t) => {
      const fetched = t.mock.method(globalThis, 'fetch', async () => new Response('{}'));
      const room = createClient({ url }).room('7KQ2MX', access);
      for (const [name, call] of Object.entries(calls)) {
        if (kind === 'encrypted' && name === 'name') continue;
        await assert.rejects(call(room), expected(/./), name);
      }
      assert.equal(fetched.mock.callCount(), 0);
    });
  }
});

const expected = (message: RegExp) => ({ name: 'TypeError', message });
