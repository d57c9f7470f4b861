/** Computes the test vectors with our implementation, in any runtime. `vectors.json` has the expected values. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { decodeBase64url, encodeBase64url } from '../../../src/client/crypto/base64url.ts';
import { hashOf, openEnvelope, sealEnvelope } from '../../../src/client/crypto/envelope.ts';
import { createFileCipher } from '../../../src/client/crypto/file-cipher.ts';
import { deriveKeys, type EncryptedRoom, verifierOf } from '../../../src/client/crypto/keys.ts';
import { formatRoomKey, parseRoomKey } from '../../../src/client/crypto/room-key.ts';
import { decodeFullText, encodeFullText } from '../../../src/client/crypto/text-chain.ts';
import type { RoomCode } from '../../../src/protocol/room-code.ts';
import type { EnvelopeKind } from '../../../src/protocol/sealed.ts';
import type { Vectors } from './encrypted-room.ts';
import { bytesOf, streamOf } from './streams.ts';

/** Returns the given vectors with everything that can be computed replaced by what was computed. */
export async function computeVectors(given: Vectors): Promise<Vectors> {
  const key = parseRoomKey(given.roomKey);
  const keys = await deriveKeys(key, hexToBytes(given.salt));
  const room = { code: given.roomCode as RoomCode, keys };
  return {
    ...given,
    roomKey: formatRoomKey(key),
    keys: {
      auth: bytesToHex(keys.auth),
      text: bytesToHex(keys.text),
      meta: bytesToHex(keys.meta),
      file: bytesToHex(keys.file),
    },
    verifier: bytesToHex(decodeBase64url(verifierOf(keys)) as Uint8Array),
    envelopes: given.envelopes.map((vector) => sealVector(room, vector, given.nonce)),
    files: await Promise.all(given.files.map(({ size }) => encryptVector(room, size, given.fileSalt))),
  };
}

/** Derives keys, and returns how often a timer fired during that. */
export async function timersWhileDeriving({ roomKey, salt }: Vectors): Promise<number> {
  let fired = 0;
  const timer = setInterval(() => {
    fired += 1;
  }, 1);
  await deriveKeys(parseRoomKey(roomKey), hexToBytes(salt));
  clearInterval(timer);
  return fired;
}

function sealVector({ code, keys }: EncryptedRoom, vector: Vectors['envelopes'][number], nonce: string) {
  const { version, subject } = vector;
  const key = keys[vector.key as 'text' | 'meta'];
  const context = { kind: vector.kind as EnvelopeKind, code, version, subject };
  const isFullText = vector.kind === 'text' || vector.kind === 'snapshot';
  const recent = vector.recent.map((hash) => encodeBase64url(hexToBytes(hash)));
  const payload = isFullText ? encodeFullText({ text: vector.payload, recent }) : utf8ToBytes(vector.payload);
  const content = { previous: hexToBytes(vector.previous), payload };
  const envelope = sealEnvelope(key, context, content, hexToBytes(nonce));
  const opened = openEnvelope(key, context, envelope);
  const text = isFullText
    ? decodeFullText(opened.payload)
    : { text: new TextDecoder().decode(opened.payload), recent: [] };
  return {
    ...vector,
    previous: bytesToHex(opened.previous),
    recent: text.recent.map(hexOf),
    payload: text.text,
    tag: hexOf(envelope.slice('pop1.'.length)).slice(-32),
    characters: envelope.length,
    hash: hexOf(hashOf(envelope)),
  };
}

const hexOf = (base64url: string) => bytesToHex(decodeBase64url(base64url) as Uint8Array);

async function encryptVector({ keys }: EncryptedRoom, size: number, salt: string) {
  const cipher = createFileCipher(keys, { size, salt: hexToBytes(salt) });
  const file = Uint8Array.from({ length: size }, (_, index) => index & 255);
  const encrypted = await bytesOf(streamOf(file).pipeThrough(cipher.encrypt()));
  const decrypted = await bytesOf(streamOf(encrypted).pipeThrough(cipher.decrypt()));
  if (!decrypted.every((byte, index) => byte === file[index])) throw new Error('Decryption returned another file.');
  return { size: decrypted.length, ciphertextSize: encrypted.length, sha256: bytesToHex(sha256(encrypted)) };
}
