/** One-time files in the SDK: uploaded, received, given back. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { createClient, type FileEntry, PoproomError, type Room } from '../../src/client/index.ts';
import { eventually } from '../support/eventually.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { sharedServer } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

const MiB = 1024 * 1024;

async function start(t: TestContext) {
  const server = await sharedServer(t);
  const line = await startTcpProxy(t, () => server.port);
  const client = createClient({ url: line.url });
  const { code } = await client.createRoom({ pin: '0427' });
  return { server, line, room: client.room(code, { pin: '0427' }) };
}

async function uploadOnce(room: Room, bytes: Uint8Array): Promise<FileEntry> {
  const uploaded = await room.upload(bytes, { name: 'secret.bin', once: true });
  assert.equal(uploaded.once, true);
  const file = (await room.files()).at(-1);
  assert.equal(file?.once, true);
  return file as FileEntry;
}

const hasCode = (code: string) => (error: unknown) => error instanceof PoproomError && error.code === code;

async function assertAvailable(room: Room, { fileId }: FileEntry): Promise<void> {
  const { claim } = await room.claim(fileId);
  await room.releaseClaim(claim);
}

describe('a one-time file in the SDK', () => {
  it('[SDK-21] is received as a Blob or by the program, and is gone then', async (t) => {
    const { room } = await start(t);
    for (const bytes of [randomBytes(100), randomBytes(6 * MiB), Buffer.alloc(0)]) {
      const file = await uploadOnce(room, bytes);
      const blob = await room.receive(file);
      assert.deepEqual(Buffer.from(await blob.arrayBuffer()), bytes);
      assert.deepEqual(await room.files(), []);
    }
    const file = await uploadOnce(room, Buffer.from('text'));
    let atSaving: readonly FileEntry[] = [];
    const text = await room.receive(file, {
      async save(response) {
        const read = await response.text();
        atSaving = await room.files();
        return read;
      },
    });
    assert.deepEqual([text, atSaving.length], ['text', 1]);
    assert.deepEqual(await room.files(), []);
    await assert.rejects(room.receive(file), hasCode('FILE_NOT_FOUND'));
  });

  it('[SDK-21] is not downloaded, and an ordinary file is not received', async (t) => {
    const { room } = await start(t);
    const file = await uploadOnce(room, Buffer.from('text'));
    await assert.rejects(room.download(file), hasCode('ONE_TIME_FILE'));
    await room.upload(Buffer.from('x'), { name: 'plain' });
    const plain = (await room.files()).at(-1) as FileEntry;
    assert.equal(plain.once, undefined);
    await assert.rejects(room.receive(plain), hasCode('NOT_ONE_TIME_FILE'));
    const { claim } = await room.claim(file.fileId);
    await assert.rejects(
      room.receive(file),
      (error) => hasCode('FILE_CLAIMED')(error) && (error as PoproomError).retryAfter === 30 * 60,
    );
    await room.confirmClaim(claim);
    await assert.rejects(room.releaseClaim(claim), hasCode('CLAIM_NOT_FOUND'));
  });

  it('[SDK-21] is given back if it is not saved completely', async (t) => {
    const { room } = await start(t);
    const file = await uploadOnce(room, randomBytes(2 * MiB));
    const full = new Error('The disk is full.');
    await assert.rejects(room.receive(file, { save: () => Promise.reject(full) }), (error) => error === full);
    await assertAvailable(room, file);
    await assert.rejects(room.receive(file, { save: async () => 'unread' }), /stays in the room/);
    await assertAvailable(room, file);
    const aborting = new AbortController();
    const received = room.receive(file, {
      signal: aborting.signal,
      async save(response) {
        aborting.abort();
        return response.blob();
      },
    });
    await assert.rejects(received, { name: 'AbortError' });
    await assertAvailable(room, file);
  });

  it('[SDK-21] is given back if the receipt is aborted before the response to the claim', async (t) => {
    const { room } = await start(t);
    const file = await uploadOnce(room, randomBytes(100));
    const aborting = new AbortController();
    const { fetch } = globalThis;
    t.mock.method(globalThis, 'fetch', async (url: string, init: RequestInit) => {
      const response = await fetch(url, init);
      // The server has claimed the file; the SDK does not know it yet.
      if (url.endsWith('/claim')) aborting.abort();
      return response;
    });
    await assert.rejects(room.receive(file, { signal: aborting.signal }), { name: 'AbortError' });
    await assertAvailable(room, file);
  });

  it('[SDK-21] is received over a connection that breaks, also before the response to the confirmation', async (t) => {
    const { server, line, room } = await start(t);
    const bytes = randomBytes(6 * MiB);
    const file = await uploadOnce(room, bytes);
    const chunks: Uint8Array[] = [];
    let cuts = 0;
    let lost: Promise<void> | undefined;
    const around = createClient({ url: server.url }).room(room.code, { pin: '0427' });
    await room.receive(file, {
      async save({ body }) {
        let size = 0;
        for await (const chunk of body ?? []) {
          chunks.push(chunk);
          size += chunk.byteLength;
          if (cuts < 2 && size > (cuts + 1) * 2 * MiB) {
            cuts += 1;
            line.disconnect();
          }
        }
        // The first confirmation reaches the server, and its response is lost.
        line.pauseResponses();
        lost = eventually('it is received', async () => (await around.files()).length === 0).then(() => {
          line.disconnect();
          line.resume();
        });
      },
    });
    await lost;
    assert.equal(cuts, 2);
    assert.ok(Buffer.concat(chunks).equals(bytes));
    assert.deepEqual(await room.files(), []);
  });

  it('[SDK-21] is not left on a server that would make it an ordinary file', async (t) => {
    const { server } = await start(t);
    const requests: string[] = [];
    // An older server ignores `once`.
    const older = createServer(async (request, response) => {
      requests.push(`${request.method} ${request.url?.replace(/[0-9a-f]{32}/, 'ID')}`);
      const {
        host: _,
        connection: _c,
        'transfer-encoding': _t,
        'upload-metadata': metadata = '',
        ...headers
      } = request.headers;
      const forwarded = await fetch(`${server.url}${request.url?.replace('once=true', '')}`, {
        method: request.method ?? 'GET',
        headers: {
          ...(headers as Record<string, string>),
          'upload-metadata': String(metadata).split(',once')[0] ?? '',
        },
        ...(request.method === 'POST' && { body: Buffer.concat(await request.toArray()) }),
      });
      response.statusCode = forwarded.status;
      const location = forwarded.headers.get('location');
      if (location) response.setHeader('location', location);
      response.setHeader('upload-offset', forwarded.headers.get('upload-offset') ?? '');
      response.end(Buffer.from(await forwarded.arrayBuffer()));
    });
    const client = createClient({ url: await listenOnFreePort(t, older) });
    const { code } = await client.createRoom();
    const room = client.room(code);
    const refused = /does not support one-time files/;
    await assert.rejects(room.upload(Buffer.from('x'), { name: 'a', once: true }), refused);
    await assert.rejects(room.upload(randomBytes(6 * MiB), { name: 'a', once: true }), refused);
    assert.deepEqual(await room.files(), []);
    assert.ok(requests.includes(`DELETE /api/rooms/${code}/files/ID`));
    assert.ok(requests.includes(`DELETE /api/rooms/${code}/uploads/ID`));
    assert.ok(!requests.some((request) => request.startsWith('PATCH')), 'no bytes were sent');
  });
});
