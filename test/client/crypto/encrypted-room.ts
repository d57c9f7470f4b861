/** A room with known keys, and checks of errors. */
import assert from 'node:assert/strict';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { EncryptedRoom } from '../../../src/client/crypto/keys.ts';
import { EncryptionError, type EncryptionErrorCode } from '../../../src/client/error.ts';
import type { RoomCode } from '../../../src/protocol/room-code.ts';
import vectors from './vectors.json' with { type: 'json' };

export type Vectors = typeof vectors;

/** The keys of the test vectors. */
export const room: EncryptedRoom = {
  code: vectors.roomCode as RoomCode,
  keys: {
    auth: hexToBytes(vectors.keys.auth),
    text: hexToBytes(vectors.keys.text),
    meta: hexToBytes(vectors.keys.meta),
    file: hexToBytes(vectors.keys.file),
    drop: hexToBytes('d867336f17ad67f0decc9ed742290ced159a7205a571deb1ec6de51ada8529a8'),
  },
};

export const otherCode: EncryptedRoom = { ...room, code: '7KQ2MY' as RoomCode };

const otherBytes = new Uint8Array(32).fill(7);
export const otherKeys: EncryptedRoom = {
  ...room,
  keys: { auth: otherBytes, text: otherBytes, meta: otherBytes, file: otherBytes, drop: otherBytes },
};

export function throwsWith(code: EncryptionErrorCode, action: () => unknown): void {
  assert.throws(action, (error) => error instanceof EncryptionError && error.code === code);
}

/** `what` names the case if the check fails. */
export function rejectsWith(code: EncryptionErrorCode, promise: Promise<unknown>, what?: string): Promise<void> {
  return assert.rejects(promise, (error) => error instanceof EncryptionError && error.code === code, what);
}
