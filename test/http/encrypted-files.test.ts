/** Files of encrypted rooms: sealed metadata, ciphertext only, resumable uploads and ranges. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { createFileCipher } from '../../src/client/crypto/file-cipher.ts';
import { openFileMetadata, sealFileMetadata } from '../../src/client/crypto/metadata.ts';
import { assertError } from '../support/assert-error.ts';
import { joinRoom } from '../support/device.ts';
import { field, filePart, form, formType } from '../support/form.ts';
import { createSealedRoom, type SealedRoom, sealedFile } from '../support/sealed-room.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { inspectStore } from '../support/store-inspector.ts';
import { metadata, partType, pathIn, startUpload, tus } from '../support/tus.ts';

const unlimited = { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };
const octets = { 'content-type': 'application/octet-stream' };
const magic = 'POPENC1\n';

async function encrypt(room: SealedRoom, plain: Buffer, salt: Uint8Array): Promise<Buffer<ArrayBuffer>> {
  const cipher = createFileCipher(room.keys, { size: plain.length, salt });
  return bytesOf(new Blob([new Uint8Array(plain)]).stream().pipeThrough(cipher.encrypt()));
}

const bytesOf = async (stream: ReadableStream<Uint8Array>) =>
  Buffer.from(await new Response(stream as never).arrayBuffer());

/** An encrypted file that is ready to upload. */
async function sealedUpload(room: SealedRoom, size = 100_000) {
  const plain = randomBytes(size);
  const { meta, salt } = sealedFile(room, 'geheim.txt', size);
  return { plain, meta, salt, body: await encrypt(room, plain, salt) };
}

describe('a file in an encrypted room', () => {
  it('[SEALED-10] has sealed metadata and a neutral name, however it is uploaded', async (t) => {
    const server = await startTestServer(t, unlimited);
    const { api, url } = server;
    const room = await createSealedRoom(api);
    const device = await joinRoom(t, url, room.code, { auth: room.auth });
    await device.next('snapshot');
    const { plain, meta, salt, body } = await sealedUpload(room);
    const upload = `/api/rooms/${room.code}/upload`;
    const headers = { ...room.access.headers, 'x-file-meta': meta };
    const named = { ...headers, ...octets, 'x-file-name': 'revealed.txt' };
    const responses = [
      await api.post(upload, { body, headers: { ...headers, 'content-type': 'text/revealed' } }),
      await api.post(`${upload}?folder=revealed`, { body, headers: named }),
      await api.call('PUT', `${upload}/revealed.txt`, { body, headers }),
      await api.post(upload, {
        body: form(field('meta', meta), field('folder', 'revealed'), filePart(body, 'revealed.txt', 'text/revealed')),
        headers: { ...room.access.headers, 'content-type': formType },
      }),
    ];
    const tusHeaders = { ...room.access.headers, 'upload-metadata': metadata({ filename: 'revealed.txt', meta }) };
    const path = await startUpload(api, room.code, body.length, tusHeaders);
    for (const [from, to] of [
      [0, 3],
      [3, 10],
      [10, 70_000],
      [70_000, body.length],
    ] as const) {
      const sent = await api.patch(path, {
        headers: { ...tus, ...partType, ...room.access.headers, 'upload-offset': String(from) },
        body: body.subarray(from, to),
      });
      assert.equal(sent.headers.get('upload-offset'), String(to), sent.text);
    }
    for (const { status, json, text } of responses) {
      assert.equal(status, 201, text);
      assert.deepEqual([json.fileName, json.fileSize], ['encrypted', body.length]);
    }
    const { files } = (await api.get(`/api/rooms/${room.code}/files`, room.access)).json;
    assert.equal(files.length, 5);
    for (const file of files) {
      assert.deepEqual([file.meta, file.fileName, file.contentType], [meta, 'encrypted', octets['content-type']]);
      assert.ok(!('folder' in file));
      const { name, folder, size } = openFileMetadata(room, file.meta);
      assert.deepEqual([name, folder, size], ['geheim.txt', 'secret', plain.length]);
      const bytes = Buffer.from(await (await fetch(file.fileUrl)).arrayBuffer());
      assert.ok(bytes.equals(body));
    }
    assert.equal((await device.next('file-added')).file.meta, meta);
    const cipher = createFileCipher(room.keys, { size: plain.length, salt });
    const wanted = { from: 70_000, to: 70_100 };
    const { from, to } = cipher.ciphertextFor(wanted);
    const part = await fetch(files[0].fileUrl, { headers: { range: `bytes=${from}-${to - 1}` } });
    assert.equal(part.status, 206);
    const opened = await bytesOf((part.body as ReadableStream<Uint8Array>).pipeThrough(cipher.decrypt(wanted)));
    assert.ok(opened.equals(plain.subarray(wanted.from, wanted.to)));
    await device.leave();
    await server.stop();
    assert.ok(!(await (await inspectStore(server)).bytes()).includes('revealed'));
  });

  it('[SEALED-5] [SEALED-10] is refused without sealed metadata, and nothing is stored', async (t) => {
    const server = await startTestServer(t, unlimited);
    const { api } = server;
    const room = await createSealedRoom(api);
    const { meta, body } = await sealedUpload(room, 1000);
    const upload = `/api/rooms/${room.code}/upload`;
    const { headers } = room.access;
    const long = sealFileMetadata(room, { name: 'x'.repeat(3000), type: '', size: 1, salt: randomBytes(32) });
    assertError(await api.upload(room.code, 'a.txt', body, room.access), 400, 'ENCRYPTION_REQUIRED');
    assertError(await api.call('PUT', `${upload}/a.txt`, { body, headers }), 400, 'ENCRYPTION_REQUIRED');
    for (const offered of ['plain', 'pop1.AAAA', `${meta}AAAA`]) {
      const response = await api.post(upload, { body, headers: { ...headers, ...octets, 'x-file-meta': offered } });
      assertError(response, 400, 'ENCRYPTION_REQUIRED', offered);
    }
    const tooLong = await api.post(upload, { body, headers: { ...headers, ...octets, 'x-file-meta': long } });
    assertError(tooLong, 400, 'VALIDATION_FAILED');
    const inForm = await api.post(upload, {
      body: form(filePart(body)),
      headers: { ...headers, 'content-type': formType },
    });
    assertError(inForm, 400, 'ENCRYPTION_REQUIRED');
    for (const values of [{ filename: 'a' }, { meta: 'plain' }]) {
      const created = await api.post(`/api/rooms/${room.code}/uploads`, {
        headers: { ...tus, ...headers, 'upload-length': '999', 'upload-metadata': metadata(values) },
      });
      assertError(created, 400, 'ENCRYPTION_REQUIRED');
    }
    await assertNoFiles(server, room);
    const plain = await api.room();
    const elsewhere = await api.post(`/api/rooms/${plain}/upload`, {
      body,
      headers: { ...octets, 'x-file-meta': meta },
    });
    assertError(elsewhere, 400, 'VALIDATION_FAILED');
    assert.equal((await api.upload(plain, 'a.bin', body)).status, 201, 'encrypted bytes are fine in other rooms');
  });

  it('[SEALED-5] is refused if it is not encrypted, and nothing is stored', async (t) => {
    const server = await startTestServer(t, unlimited);
    const { api } = server;
    const room = await createSealedRoom(api);
    const { meta, body } = await sealedUpload(room, 1000);
    const upload = `/api/rooms/${room.code}/upload`;
    const headers = { ...room.access.headers, 'x-file-meta': meta };
    const large = Buffer.alloc(300_000, 'plain text ');
    for (const plain of ['', 'POP', 'POPENC1', 'POPENC1\r\n', 'POPENC2\n', 'plain text', large]) {
      const about = plain.slice(0, 10).toString();
      assertError(
        await api.post(upload, { body: plain, headers: { ...headers, ...octets } }),
        400,
        'ENCRYPTION_REQUIRED',
        about,
      );
      const asForm = {
        body: form(field('meta', meta), filePart(plain)),
        headers: { ...room.access.headers, 'content-type': formType },
      };
      assertError(await api.post(upload, asForm), 400, 'ENCRYPTION_REQUIRED', about);
    }
    assertError(await api.call('PUT', `${upload}/x`, { body: 'plain text', headers }), 400, 'ENCRYPTION_REQUIRED');
    const tusHeaders = { ...tus, ...room.access.headers, 'upload-metadata': metadata({ meta }) };
    const create = (size: number, more: object = {}, first?: Buffer | string) =>
      api.post(`/api/rooms/${room.code}/uploads`, {
        headers: { ...tusHeaders, 'upload-length': String(size), ...more },
        ...(first !== undefined && { body: first as never }),
      });
    assertError(await create(7), 400, 'ENCRYPTION_REQUIRED');
    assertError(await create(1000, partType, 'plain text'), 400, 'ENCRYPTION_REQUIRED');
    await assertNoFiles(server, room);
    const path = pathIn(await create(body.length));
    const send = (offset: number, part: Buffer | string) =>
      api.patch(path, {
        headers: { ...tus, ...partType, ...room.access.headers, 'upload-offset': String(offset) },
        body: part as never,
      });
    assertError(await send(0, 'plain text'), 400, 'ENCRYPTION_REQUIRED');
    assert.equal((await send(0, magic.slice(0, 4))).status, 204);
    assertError(await send(4, 'NO1\nplain'), 400, 'ENCRYPTION_REQUIRED');
    const { headers: progress } = await api.call('HEAD', path, { headers: { ...tus, ...room.access.headers } });
    assert.equal(progress.get('upload-offset'), '4', 'nothing of it was stored');
    assert.equal((await send(4, body.subarray(4))).status, 204);
    assert.equal((await api.get(`/api/rooms/${room.code}/files`, room.access)).json.files.length, 1);
  });
});

async function assertNoFiles(server: TestServer, room: SealedRoom): Promise<void> {
  const { json } = await server.api.get(`/api/rooms/${room.code}`, room.access);
  assert.deepEqual([json.fileCount, json.fileBytes], [0, 0]);
  assert.equal((await (await inspectStore(server)).counts()).files, 0);
}
