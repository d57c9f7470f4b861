/** Another implementation of the format, in Python with libsodium, opens what ours seals, and the other way round. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bytesToHex } from '@noble/hashes/utils.js';
import { decodeBase64url, encodeBase64url } from '../../../src/client/crypto/base64url.ts';
import { createFileCipher } from '../../../src/client/crypto/file-cipher.ts';
import { createSalt, deriveKeys, type EncryptedRoom } from '../../../src/client/crypto/keys.ts';
import {
  createFileSalt,
  openDeviceName,
  openFileMetadata,
  openRoomName,
  sealDeviceName,
  sealFileMetadata,
  sealRoomName,
} from '../../../src/client/crypto/metadata.ts';
import { formatRoomKey, generateRoomKey } from '../../../src/client/crypto/room-key.ts';
import {
  advanceChain,
  openEdits,
  openText,
  sealEdits,
  sealSnapshot,
  sealText,
} from '../../../src/client/crypto/text-chain.ts';
import type { RoomCode } from '../../../src/protocol/room-code.ts';
import type { SeenVersion } from '../../../src/protocol/sealed.ts';
import { findPython, pyNaClMissing } from '../../support/python.ts';
import { bytesOf, streamOf } from './streams.ts';
import vectors from './vectors.json' with { type: 'json' };

interface Room {
  roomKey: string;
  roomCode: string;
  salt: string;
}

const script = fileURLToPath(new URL('pop1.py', import.meta.url));
const python = findPython();

/** Returns one result per task; `refused` if it could not be opened. */
function runPython(room: Room, tasks: readonly object[]): unknown[] {
  assert.ok(python, pyNaClMissing);
  const { stdout, stderr, status } = spawnSync(python, [script], {
    input: JSON.stringify({ ...room, tasks }),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

const hexOf = (base64url: string) => bytesToHex(decodeBase64url(base64url) as Uint8Array);

describe('a second implementation', () => {
  it('[CRYPT-10] computes the test vectors', () => {
    const files = vectors.files.map(({ size }) => {
      const content = bytesToHex(Uint8Array.from({ length: size }, (_, at) => at & 255));
      return { action: 'encrypt-file', salt: vectors.fileSalt, content };
    });
    const envelopes = vectors.envelopes.map((vector) => ({ ...vector, action: 'seal', nonce: vectors.nonce }));
    const [keys, ...rest] = runPython(vectors, [{ action: 'keys' }, ...envelopes, ...files]);
    assert.deepEqual(keys, { ...vectors.keys, verifier: vectors.verifier });
    const sealed = rest.slice(0, envelopes.length) as string[];
    const seen = sealed.map((text) => ({
      tag: hexOf(text.slice(5)).slice(-32),
      characters: text.length,
      hash: createHash('sha256').update(text).digest('hex').slice(0, 32),
    }));
    assert.deepEqual(
      seen,
      vectors.envelopes.map(({ tag, characters, hash }) => ({ tag, characters, hash })),
    );
    const hashes = (rest.slice(envelopes.length) as string[]).map((hex) => ({
      ciphertextSize: hex.length / 2,
      sha256: createHash('sha256').update(hex, 'hex').digest('hex'),
    }));
    assert.deepEqual(
      hashes,
      vectors.files.map(({ ciphertextSize, sha256 }) => ({ ciphertextSize, sha256 })),
    );
  });

  it('[CRYPT-10] opens what ours seals, and seals what ours opens', async () => {
    const [key, salt, code] = [generateRoomKey(), createSalt(), 'ABCDEFGH' as RoomCode];
    const room = { code, keys: await deriveKeys(key, salt) };
    const exchanges = [...textExchanges(room), ...nameExchanges(room), ...(await fileExchanges(room))];
    const python = { roomKey: formatRoomKey(key), roomCode: code, salt: bytesToHex(salt) };
    const results = runPython(
      python,
      exchanges.map(({ task }) => task),
    );
    for (const [index, { check }] of exchanges.entries()) check(results[index]);
  });
});

/** A task for Python, and the check of its result. */
interface Exchange {
  task: object;
  check(result: unknown): void;
}

interface Envelope {
  kind: string;
  version: number;
  subject: string;
  previous: string;
  recent: readonly string[];
  payload: string;
}

/** Python opens our envelope, does not open it with another version, and seals the same content for us. */
function exchangesOf(envelope: string, content: Envelope, check: (sealed: string) => void): Exchange[] {
  const { previous, recent, payload, version } = content;
  return [
    {
      task: { ...content, action: 'open', envelope },
      check: (opened) => assert.deepEqual(opened, { previous, recent, payload }),
    },
    {
      task: { ...content, action: 'open', envelope, version: version + 1 },
      check: (opened) => assert.equal(opened, 'refused'),
    },
    { task: { ...content, action: 'seal' }, check: (sealed) => check(sealed as string) },
  ];
}

function textExchanges(room: EncryptedRoom): Exchange[] {
  const earlier = Array.from({ length: 64 }, (_, n) => encodeBase64url(new Uint8Array(16).fill(n)));
  const at: SeenVersion = { version: 2 ** 40, hash: 'AQEBAQEBAQEBAQEBAQEBAQ', earlier };
  const version = at.version + 1;
  const text = `\ufeff${'日本 text\u0000\u0080'.repeat(500)}`;
  const edits = [{ from: 1, to: 2, insert: '😀\\"' }];
  const recent = earlier.map(hexOf);
  const content = { kind: 'text', version, subject: '', previous: hexOf(at.hash), recent, payload: text };
  const envelope = sealText(room, at, text);
  return [
    ...exchangesOf(envelope, content, (sealed) => {
      assert.equal(openText(room, version, sealed).text, text);
      assert.deepEqual(openText(room, version, sealed).link.earlier, [at.hash, ...earlier]);
    }),
    ...exchangesOf(sealSnapshot(room, at, text), { ...content, kind: 'snapshot', version: at.version }, (sealed) =>
      assert.deepEqual(advanceChain(at, openText(room, at.version, sealed).link), at),
    ),
    ...exchangesOf(
      sealEdits(room, at, edits),
      { ...content, kind: 'edit', recent: [], payload: JSON.stringify(edits) },
      (sealed) => assert.deepEqual(openEdits(room, version, sealed).edits, edits),
    ),
    {
      task: { ...content, action: 'hash', envelope },
      check: (hash) => assert.equal(hash, hexOf(openText(room, version, envelope).link.hash)),
    },
  ];
}

function nameExchanges(room: EncryptedRoom): Exchange[] {
  const content = { version: 0, subject: '', previous: '0'.repeat(32), recent: [] };
  const device = { ...content, kind: 'device', subject: 'dév', payload: 'Zoë' };
  const name = { ...content, kind: 'room', payload: 'Plans' };
  return [
    ...exchangesOf(sealDeviceName(room, 'dév', 'Zoë'), device, (sealed) =>
      assert.equal(openDeviceName(room, 'dév', sealed), 'Zoë'),
    ),
    ...exchangesOf(sealRoomName(room, 'Plans'), name, (sealed) => assert.equal(openRoomName(room, sealed), 'Plans')),
  ];
}

async function fileExchanges(room: EncryptedRoom): Promise<Exchange[]> {
  const exchanges = await Promise.all([0, 257, 65_536, 140_000].map((size) => exchangesOfFile(room, size)));
  return exchanges.flat();
}

async function exchangesOfFile(room: EncryptedRoom, size: number): Promise<Exchange[]> {
  const file = { name: 'ünï', type: 'a/b', folder: 'x/y', size, salt: createFileSalt() };
  const content = Uint8Array.from({ length: size }, (_, index) => (index * 7) & 255);
  const body = bytesToHex(await bytesOf(streamOf(content).pipeThrough(createFileCipher(room.keys, file).encrypt())));
  const salt = bytesToHex(file.salt);
  const payload = JSON.stringify({ ...file, salt: Buffer.from(file.salt).toString('base64url') });
  const metadata = { kind: 'file', version: 0, subject: '', previous: '0'.repeat(32), recent: [], payload };
  return [
    ...exchangesOf(sealFileMetadata(room, file), metadata, (sealed) =>
      assert.deepEqual(openFileMetadata(room, sealed), file),
    ),
    {
      task: { action: 'decrypt-file', size, salt, body },
      check: (decrypted) => assert.equal(decrypted, bytesToHex(content)),
    },
    {
      task: { action: 'decrypt-file', size, salt: bytesToHex(createFileSalt()), body },
      check: (decrypted) => assert.equal(decrypted, 'refused'),
    },
    {
      task: { action: 'encrypt-file', salt, content: bytesToHex(content) },
      check: (encrypted) => assert.equal(encrypted, body),
    },
  ];
}
