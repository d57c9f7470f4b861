/** The text of an encrypted room over the API: sealed texts, edits, conflicts, snapshots and history. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openText } from '../../src/client/crypto/text-chain.ts';
import type { SealedEdit, TextEdit } from '../../src/protocol/types.ts';
import type { ApiResponse } from '../support/api.ts';
import { assertError } from '../support/assert-error.ts';
import { createSealedRoom, readSealed, SealedReplica, type SealedRoom } from '../support/sealed-room.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';
import { inspectStore } from '../support/store-inspector.ts';

const unlimited = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };
type Api = TestServer['api'];

const textPath = ({ code }: SealedRoom) => `/api/rooms/${code}/content`;

function write(api: Api, { room, ...replica }: { room: SealedRoom; content: string; baseVersion: number }) {
  const headers = { ...room.access.headers, 'if-match': `"${replica.baseVersion}"` };
  return api.post(textPath(room), { json: { content: replica.content }, headers });
}

function edit(api: Api, room: SealedRoom, json: object, deviceId = 'phone'): Promise<ApiResponse> {
  return api.patch(textPath(room), { json, headers: { ...room.access.headers, 'x-device-id': deviceId } });
}

const compact = (api: Api, room: SealedRoom, json: object) =>
  api.post(`${textPath(room)}/compact`, { json, ...room.access });

describe('the text of an encrypted room', () => {
  it('[SEALED-6] [SEALED-7] [SEALED-8] is a full text and the sealed edits since', async (t) => {
    const { api } = await startTestServer(t, unlimited);
    const room = await createSealedRoom(api);
    const replica = new SealedReplica(room);
    const first = replica.replace('Hello');
    assertError(
      await api.post(textPath(room), { json: { content: first.content }, ...room.access }),
      428,
      'BASE_VERSION_REQUIRED',
    );
    for (const tags of ['*', '"0", "1"']) {
      const headers = { ...room.access.headers, 'if-match': tags };
      assertError(
        await api.post(textPath(room), { json: { content: first.content }, headers }),
        428,
        'BASE_VERSION_REQUIRED',
      );
    }
    assertError(await edit(api, room, { sealed: replica.insert('x').sealed }), 428, 'BASE_VERSION_REQUIRED');
    const written = await write(api, { room, ...first });
    assert.deepEqual([written.status, written.json.version, written.headers.get('etag')], [200, 1, '"1"']);
    replica.load({ ...written.json, contentVersion: 1 });

    const second = replica.insert(', world');
    const edited = await edit(api, room, second);
    assert.deepEqual([edited.status, edited.json.version, 'compact' in edited.json], [200, 2, false]);
    const { json: text, headers } = await api.get(textPath(room), room.access);
    assert.deepEqual([text.content, text.contentVersion, text.version], [first.content, 1, 2]);
    const { timestamp, ...entry } = text.sealedEdits[0];
    assert.deepEqual(entry, { version: 2, sealed: second.sealed, deviceId: 'phone' });
    assert.equal(headers.get('etag'), '"2"');
    const asText = await api.get(textPath(room), { headers: { ...room.access.headers, accept: 'text/plain' } });
    assert.equal(asText.json.version, 2, 'always JSON');
    const again = await api.get(textPath(room), { headers: { ...room.access.headers, 'if-none-match': '"2"' } });
    assert.equal(again.status, 304);
    assert.equal((await readSealed(api, room)).text, 'Hello, world');
  });

  it('[SEALED-8] is never an older one, however often it was read before a change', async (t) => {
    const { api } = await startTestServer(t, unlimited);
    const room = await createSealedRoom(api);
    const replica = new SealedReplica(room);
    await write(api, { room, ...replica.replace('one') });
    const readOften = async () => {
      for (let n = 0; n < 3; n++) {
        const { json } = await api.get(textPath(room), room.access);
        if (n === 0) replica.load(json);
        assert.deepEqual([json.version, json.sealedEdits.at(-1)?.version], [replica.version, lastEdit]);
      }
    };
    let lastEdit: number | undefined;
    await readOften();
    await edit(api, room, replica.insert(' two'));
    lastEdit = 2;
    await readOften();
    assert.equal((await compact(api, room, replica.snapshot())).status, 200);
    lastEdit = undefined;
    await readOften();
    await write(api, { room, ...replica.replace('three') });
    await readOften();
    assertError(await api.get(textPath(room)), 401, 'KEY_REQUIRED');
    assert.equal((await readSealed(api, room)).text, 'three');
  });

  it('[SEALED-7] accepts a write on the current version only, and returns the newer edits', async (t) => {
    const { api } = await startTestServer(t, unlimited);
    const room = await createSealedRoom(api);
    const [mine, theirs] = [new SealedReplica(room), new SealedReplica(room)];
    await write(api, { room, ...theirs.replace('one') });
    for (const replica of [mine, theirs]) replica.load((await api.get(textPath(room), room.access)).json);
    for (const word of [' two', ' three']) {
      const { json } = await edit(api, room, theirs.insert(word), 'tablet');
      theirs.load((await api.get(textPath(room), room.access)).json);
      assert.equal(json.version, theirs.version);
    }
    const late: TextEdit[] = [{ from: 0, to: 0, insert: 'zero ' }];
    const details = assertError(await edit(api, room, mine.seal(late)), 409, 'EDIT_CONFLICT');
    assert.equal(details.version, 3);
    assert.ok(!('content' in details), 'the log has the edits');
    const rebased = mine.rebase(late, details.sealedEdits as SealedEdit[], 'phone');
    assert.equal((await edit(api, room, mine.seal(rebased))).status, 200);
    assert.equal((await readSealed(api, room)).text, 'zero one two three');

    const stale = assertError(await write(api, { room, ...theirs.replace('lost') }), 412, 'VERSION_CONFLICT');
    assert.deepEqual(
      (stale.sealedEdits as SealedEdit[]).map(({ version }) => version),
      [4],
    );
    const contradiction = { ...room.access.headers, 'if-match': '"3"' };
    const current = await readSealed(api, room);
    assertError(
      await api.patch(textPath(room), { json: current.insert('!'), headers: contradiction }),
      412,
      'VERSION_CONFLICT',
    );
    // A replaced text has no edits that lead to it.
    assert.equal((await write(api, { room, ...current.replace('new') })).status, 200);
    const whole = assertError(await edit(api, room, theirs.insert('?')), 409, 'EDIT_CONFLICT');
    assert.deepEqual([whole.contentVersion, whole.version, whole.sealedEdits], [5, 5, []]);
    assert.equal(openText(room, 5, String(whole.content)).text, 'new');
    const future = { ...current.insert('!'), baseVersion: 99 };
    assertError(await edit(api, room, future), 409, 'EDIT_CONFLICT');
    assert.equal((await readSealed(api, room)).version, 5, 'nothing else was stored');
  });

  it('[SEALED-7] has the edits of concurrent writers who rebase', async (t) => {
    const { api } = await sharedServer(t);
    const room = await createSealedRoom(api);
    const words = { a: 'aaaaaaaa', b: 'bbbbbbbb', c: 'cccccccc' };
    await Promise.all(Object.entries(words).map(([device, word]) => typeWord(api, room, device, word)));
    const { text, version } = await readSealed(api, room);
    assert.equal(version, 24);
    assert.equal(text, 'aaaaaaaabbbbbbbbcccccccc');
  });

  it('[SEALED-9] asks for a snapshot of a long log, which replaces it', async (t) => {
    const { api } = await startTestServer(t, unlimited);
    const room = await createSealedRoom(api);
    const replica = new SealedReplica(room);
    const type = async (text: string) => {
      const { sealed, baseVersion } = replica.insert(text);
      const response = await edit(api, room, { sealed, baseVersion });
      replica.apply({ sealed, version: response.json.version });
      return response;
    };
    for (let n = 0; n < 3; n++) assert.ok(!('compact' in (await type('x'.repeat(16_000))).json));
    assert.equal((await type('y'.repeat(16_000))).json.compact, true);
    const snapshot = replica.snapshot();
    await type('z');
    assertError(await compact(api, room, { ...snapshot, version: 6 }), 412, 'VERSION_CONFLICT');
    assertError(await compact(api, room, { ...snapshot, content: 'plain' }), 400, 'ENCRYPTION_REQUIRED');
    const plain = await api.room();
    const elsewhere = await api.post(`/api/rooms/${plain}/content/compact`, { json: snapshot });
    assertError(elsewhere, 400, 'VALIDATION_FAILED');
    const stored = await compact(api, room, snapshot);
    assert.deepEqual([stored.status, stored.json.version], [200, 4]);
    const { json: text } = await api.get(textPath(room), room.access);
    assert.deepEqual([text.contentVersion, text.version, text.sealedEdits.length], [4, 5, 1]);
    const repeated = await compact(api, room, { ...snapshot, version: 3 });
    assert.deepEqual([repeated.status, repeated.json.version], [200, 3], 'a newer snapshot stays');
    assert.ok(!('compact' in (await type('!')).json));
    // The chain continues across the snapshot.
    assert.equal((await readSealed(api, room)).text, replica.text);
    const old = assertError(await edit(api, room, { ...replica.insert('y'), baseVersion: 4 }), 409, 'EDIT_CONFLICT');
    assert.equal((old.sealedEdits as SealedEdit[]).length, 2);
  });

  it('[SEALED-11] may be as long as the sealed form of the longest text', async (t) => {
    const { api } = await startTestServer(t, { ...unlimited, POPROOM_CONTENT_MAX: '1000' });
    const room = await createSealedRoom(api);
    const replica = new SealedReplica(room);
    const longest = replica.replace('x'.repeat(1000));
    assertError(await write(api, { room, ...replica.replace('x'.repeat(2100)) }), 413, 'CONTENT_TOO_LARGE');
    const asText = { ...room.access.headers, 'if-match': '"0"', 'content-type': 'text/plain' };
    const { json, status } = await api.post(textPath(room), { body: longest.content, headers: asText });
    assert.equal(status, 200);
    replica.load({ ...json, contentVersion: 1 });
    assertError(await edit(api, room, replica.insert('y'.repeat(2100))), 413, 'CONTENT_TOO_LARGE');
    for (let n = 0; n < 65; n++) {
      const { json } = await write(api, { room, ...replica.replace('x'.repeat(1000)) });
      replica.load({ ...json, contentVersion: json.version });
    }
    assert.equal(replica.position.earlier?.length, 64, 'with the longest list of hashes');
    // The log is limited by the same length.
    let response = await edit(api, room, replica.insert('y'.repeat(300)));
    for (let n = 0; n < 20 && response.status === 200; n++) {
      replica.load((await api.get(textPath(room), room.access)).json);
      response = await edit(api, room, replica.insert('y'.repeat(300)));
    }
    assertError(response, 409, 'COMPACTION_REQUIRED');
    const plain = await api.room();
    const tooLong = await api.post(`/api/rooms/${plain}/content`, { json: { content: 'x'.repeat(1001) } });
    assertError(tooLong, 413, 'CONTENT_TOO_LARGE');
  });

  it('[SEALED-11] counts towards the quota of its creator', async (t) => {
    const { api } = await startTestServer(t, { ...unlimited, POPROOM_CLIENT_MAX_BYTES: '300000' });
    const room = await createSealedRoom(api);
    const replica = new SealedReplica(room);
    const { json } = await write(api, { room, ...replica.replace('x'.repeat(100_000)) });
    replica.load({ ...json, contentVersion: 1 });
    assert.ok((await api.get('/api/limits')).json.storedBytes >= json.content.length);
    assertError(await edit(api, room, replica.insert('y'.repeat(200_000))), 413, 'QUOTA_EXCEEDED');
    assertError(await write(api, { room, ...replica.replace('x'.repeat(300_000)) }), 413, 'QUOTA_EXCEEDED');
    assert.equal((await write(api, { room, ...replica.replace('short') })).status, 200);
  });

  it('[SEALED-12] has a history of full texts, which can be cleared', async (t) => {
    const server = await startTestServer(t, unlimited);
    const { api, clock } = server;
    const room = await createSealedRoom(api);
    const replica = new SealedReplica(room);
    const reload = async () => replica.load((await api.get(textPath(room), room.access)).json);
    for (const text of ['first', 'second']) {
      await write(api, { room, ...replica.replace(text) });
      await reload();
      clock.advance(10_000);
    }
    const { sealed } = replica.insert(' edited');
    await edit(api, room, { sealed, baseVersion: 2 });
    await reload();
    await compact(api, room, replica.snapshot());
    const history = `/api/rooms/${room.code}/history`;
    const { json: list } = await api.get(history, room.access);
    assert.deepEqual(
      list.history.map(({ version }: { version: number }) => version),
      [2, 1],
    );
    const { json: checkpoint } = await api.get(`${history}/2`, room.access);
    assert.equal(openText(room, 2, checkpoint.content).text, 'second');
    const last = replica.insert('!');
    await edit(api, room, last);
    assert.equal((await api.delete(history, room.access)).status, 200);
    assert.deepEqual((await api.get(history, room.access)).json.history, []);
    await reload();
    assert.equal(replica.text, 'second edited!', 'edits since the full text stay');
    const conflict = assertError(await edit(api, room, { sealed: last.sealed, baseVersion: 1 }), 409, 'EDIT_CONFLICT');
    assert.equal(conflict.contentVersion, 3, 'earlier edits are gone');
    const without = await createSealedRoom(api, { history: false });
    const other = new SealedReplica(without);
    await write(api, { room: without, ...other.replace('one') });
    other.load((await api.get(textPath(without), without.access)).json);
    await write(api, { room: without, ...other.replace('two') });
    assert.deepEqual((await api.get(`/api/rooms/${without.code}/history`, without.access)).json.history, []);
    await server.stop();
    const bytes = await (await inspectStore(server)).bytes();
    for (const gone of [sealed, checkpoint.content]) assert.ok(!bytes.includes(gone.slice(0, 100)));
  });

  it('[SEALED-13] survives a restart, and ends with its room', async (t) => {
    const server = await startTestServer(t, unlimited);
    const room = await createSealedRoom(server.api);
    const replica = new SealedReplica(room);
    await write(server.api, { room, ...replica.replace('before') });
    replica.load((await server.api.get(textPath(room), room.access)).json);
    const last = replica.insert(' and after');
    await edit(server.api, room, last);
    await server.restart();
    assertError(await server.api.get(textPath(room)), 401, 'KEY_REQUIRED');
    const loaded = await readSealed(server.api, room);
    assert.equal(loaded.text, 'before and after');
    assert.equal((await edit(server.api, room, loaded.insert('!'))).json.version, 3);
    assert.equal((await server.api.delete(`/api/rooms/${room.code}`, room.access)).status, 200);
    assertError(await server.api.get(textPath(room), room.access), 404, 'ROOM_NOT_FOUND');
    await server.stop();
    const bytes = await (await inspectStore(server)).bytes();
    for (const gone of [last.sealed, room.salt]) assert.ok(!bytes.includes(gone.slice(0, 100)));
  });
});

/** Types a word at the start of the text, letter by letter, and rebases after conflicts. */
async function typeWord(api: Api, room: SealedRoom, device: string, word: string): Promise<void> {
  const replica = new SealedReplica(room);
  let at = 0;
  for (const letter of word) {
    let mine: TextEdit[] = [{ from: at, to: at, insert: letter }];
    for (;;) {
      const { sealed, baseVersion } = replica.seal(mine);
      const response = await edit(api, room, { sealed, baseVersion }, device);
      if (response.status === 200) {
        replica.apply({ sealed, version: response.json.version });
        break;
      }
      const { sealedEdits } = assertError(response, 409, 'EDIT_CONFLICT');
      mine = replica.rebase(mine, sealedEdits as SealedEdit[], device);
    }
    at = (mine[0]?.from ?? 0) + 1;
  }
}
