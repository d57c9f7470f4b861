/** Names of uploaded files: readable, without deceptive characters, never a path. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { filePart, form, formType } from '../support/form.ts';
import { openRawSocket, requestHead } from '../support/raw-socket.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';
import { assertNothingStored, storedBlobs } from '../support/stored-blobs.ts';

const noLimit = { POPROOM_FREE_LIMIT: '0' };

const names: { raw: string; kept: string }[] = [
  { raw: '../../etc/passwd', kept: 'passwd' },
  { raw: '/etc/passwd', kept: 'passwd' },
  { raw: '..\\..\\windows\\win.ini', kept: 'win.ini' },
  { raw: 'C:\\Users\\me\\photo.jpg', kept: 'photo.jpg' },
  { raw: 'folder/', kept: 'file' },
  { raw: '.', kept: 'file' },
  { raw: '..', kept: 'file' },
  { raw: ' .. ', kept: 'file' },
  { raw: '...', kept: '...' },
  { raw: '.profile', kept: '.profile' },
  { raw: 'a\u0000b.txt', kept: 'ab.txt' },
  { raw: '\u0000', kept: 'file' },
  { raw: 'tab\tand\u007fdelete\u0085.txt', kept: 'tabanddelete.txt' },
  { raw: 'photo\u202Egpj.exe', kept: 'photogpj.exe' },
  { raw: '\u2066iso\u2069lated\u200F.txt', kept: 'isolated.txt' },
  { raw: 'two words & more; "quoted" 100% #1?.txt', kept: 'two words & more; "quoted" 100% #1?.txt' },
  { raw: 'CON', kept: 'CON' },
  { raw: '履歴書 (最終).pdf', kept: '履歴書 (最終).pdf' },
  { raw: 'e\u0301te\u0301.txt', kept: 'e\u0301te\u0301.txt' },
  { raw: '%2e%2e%2fetc', kept: '%2e%2e%2fetc' },
];

describe('the name of an upload', () => {
  it('[UP-5] [FILE-1] is stored without path parts, control characters and direction overrides, sent as raw bytes', async (t) => {
    const server = await startTestServer(t, noLimit);
    const room = await server.api.room();
    for (const { raw, kept } of names) {
      await assertKept(server, await server.api.upload(room, raw, raw), raw, kept);
      const query = `?fileName=${encodeURIComponent(raw)}`;
      const sending = { body: raw, headers: { 'content-type': 'text/plain' } };
      await assertKept(server, await server.api.post(`/api/rooms/${room}/upload${query}`, sending), raw, kept);
    }
    await assertOnlyHashes(server);
  });

  it('[UP-5] [FILE-1] is stored in the same way, sent as a form', async (t) => {
    const server = await startTestServer(t, noLimit);
    const room = await server.api.room();
    for (const { raw, kept } of names) {
      const quoted = raw.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
      const body = form(filePart(raw, quoted));
      const sending = { body, headers: { 'content-type': formType } };
      await assertKept(server, await server.api.post(`/api/rooms/${room}/upload`, sending), raw, kept);
    }
    await assertOnlyHashes(server);
  });

  it('[UP-5] loses line breaks, and cannot add a header', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room();
    const { json } = await api.upload(room, 'a\r\nSet-Cookie: x=1\r\n.txt', 'x');
    assert.equal(json.fileName, 'aSet-Cookie: x=1.txt');
    const { headers } = await api.get(json.fileUrl);
    assert.equal(headers.get('set-cookie'), null);
  });

  it('[UP-5] is cut to 255 bytes between characters, and keeps its extension', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room();
    const emoji = '👩‍🚀'.repeat(100);
    const sendAsForm = (name: string) =>
      api.post(`/api/rooms/${room}/upload`, { body: form(filePart('x', name)), headers: { 'content-type': formType } });
    for (const name of [`${emoji}.png`, `${'é'.repeat(500)}.png`, `${'a'.repeat(2000)}.png`]) {
      for (const { json } of [await api.upload(room, name, 'x'), await sendAsForm(name)]) {
        const bytes = Buffer.byteLength(json.fileName);
        assert.ok(bytes <= 255 && bytes > 245, `${bytes} bytes`);
        assert.ok(json.fileName.isWellFormed());
        assert.ok(json.fileName.endsWith('.png'));
        assert.ok(name.startsWith(json.fileName.slice(0, -4)));
        assert.equal((await api.get(json.fileUrl)).text, 'x');
      }
    }
  });

  it('[UP-5] is read from a form in all encodings that clients use', async (t) => {
    const { api } = await sharedServer(t);
    const room = await api.room();
    const dispositions = [
      ['name="file"; filename="naïve 😀.txt"', 'naïve 😀.txt'],
      ['name="file"; filename="a\\"b\\".txt"', 'a"b".txt'],
      ['name="file"; filename*=UTF-8\'\'na%C3%AFve.txt', 'naïve.txt'],
      ['name="file"; filename="na_ve.txt"; filename*=UTF-8\'\'na%C3%AFve.txt', 'naïve.txt'],
      ['name="file"; filename*=UTF-8\'\'na%C3%AFve.txt; filename="na_ve.txt"', 'naïve.txt'],
      ['name="file"; FileName*=utf-8\'de\'na%C3%AFve.txt;filename=na_ve.txt', 'naïve.txt'],
      ['name="file"; filename="a; filename*=UTF-8\'\'b.txt"', "a; filename*=UTF-8''b.txt"],
      ['name=file; filename=plain.txt', 'plain.txt'],
      ['filename="first.txt"; name="file"', 'first.txt'],
      ['name="file"; filename="half\xff.txt"', 'half.txt'],
    ];
    for (const [disposition = '', kept] of dispositions) {
      const encoding = disposition.includes('\xff') ? 'latin1' : 'utf8';
      const body = Buffer.from(form({ disposition, body: 'x' }).toString(), encoding);
      const { status, json } = await api.post(`/api/rooms/${room}/upload`, {
        body,
        headers: { 'content-type': formType },
      });
      assert.deepEqual([status, json.fileName], [201, kept]);
    }
  });

  it('[UP-1] [UP-6] must be percent-encoded UTF-8 in its header', async (t) => {
    const server = await startTestServer(t);
    const room = await server.api.room();
    for (const name of ['%', '%zz.txt', '%ff.txt', '%c3', 'half%e2%82.txt', '%ed%a0%80', '']) {
      const { status, code, json } = await server.api.upload(room, '', 'x', { headers: { 'x-file-name': name } });
      assert.deepEqual([status, code], [400, 'VALIDATION_FAILED'], name);
      assert.equal(json.error.details.field, 'X-File-Name');
    }
    for (const bytes of ['na\xefve.txt', 'na\xc3\xafve.txt']) {
      const socket = await openRawSocket(t, server.port);
      const headers = { 'Content-Type': 'text/plain', 'X-File-Name': bytes, 'Content-Length': 1 };
      await socket.send(Buffer.from(`${requestHead('POST', `/api/rooms/${room}/upload`, headers)}x`, 'latin1'));
      assert.equal((await socket.response()).code, 'VALIDATION_FAILED');
    }
    await assertNothingStored(server, room);
  });
});

interface Uploaded {
  status: number;
  json: { fileName: string; fileUrl: string };
}

async function assertKept({ api }: TestServer, { status, json }: Uploaded, raw: string, kept: string): Promise<void> {
  assert.deepEqual([status, json.fileName], [201, kept], `the name ${JSON.stringify(raw)}`);
  assert.equal((await api.get(json.fileUrl)).text, raw, 'its address works');
  assert.ok(json.fileUrl.endsWith(`/${encodeURIComponent(kept)}`));
}

/** No name of a stranger's choice is on the disk, nor in the bucket. */
async function assertOnlyHashes(server: TestServer): Promise<void> {
  for (const path of await storedBlobs(server)) assert.match(path, /^(([0-9a-f]{2})\/(?=\2))?[0-9a-f]{64}$/);
  const ours = /^(files|spool|secret|poproom\.db.*|server\.lock.*)$/;
  const strange = (await readdir(server.folder)).filter((name) => !ours.test(name));
  assert.deepEqual(strange, []);
}
