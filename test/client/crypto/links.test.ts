/** The keys in the fragments of links, and files that are sealed for the members of a room alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { x25519 } from '@noble/curves/ed25519.js';
import { encodeBase64url } from '../../../src/client/crypto/base64url.ts';
import { deriveKeys, type EncryptedRoom, fragmentOf, parseFragment } from '../../../src/client/crypto/keys.ts';
import {
  openDrop,
  openFileMetadata,
  sealDrop,
  sealDroppedMetadata,
  sealDropWith,
  sharedKey,
} from '../../../src/client/crypto/metadata.ts';
import { parseRoomKey } from '../../../src/client/crypto/room-key.ts';
import type { RoomCode } from '../../../src/protocol/room-code.ts';
import { isDropEnvelope } from '../../../src/protocol/sealed.ts';

const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex');
const counting = (from: number, length: number) => Uint8Array.from({ length }, (_, i) => from + i);

const keys = await deriveKeys(parseRoomKey('H4T9-WZ3B-NQ6Y-RC88'), counting(0, 16));
const room: EncryptedRoom = { code: '7KQ2MX' as RoomCode, keys };
const publicKey = x25519.getPublicKey(keys.drop);

describe('the links of an encrypted room', () => {
  it('[CRYPT-12] have the keys, the shared key and the envelope of the test vectors', () => {
    assert.equal(hex(keys.drop), 'd867336f17ad67f0decc9ed742290ced159a7205a571deb1ec6de51ada8529a8');
    assert.equal(hex(publicKey), '9620ce9deb87c888c101fddd6d9b9be6f5bf85ea27e1b930c036dfb30f8a2458');
    const ephemeral = x25519.getPublicKey(counting(0x60, 32));
    assert.equal(hex(ephemeral), '675dd574ed7789310b3d2e7681f3790b466c773b1521fecf36577958371ea52f');
    const shared = sharedKey(counting(0x60, 32), publicKey, ephemeral, publicKey);
    assert.equal(hex(shared), '3ad036de651257deaf1f7f4021743a9a62bde63d5248c06909c3bf64a000f12c');
    const salt = encodeBase64url(counting(0x80, 32));
    const file = { name: 'photo.jpg', type: 'image/jpeg', size: 65_537, salt };
    const payload = JSON.stringify({ ...file, key: encodeBase64url(counting(0xa0, 32)) });
    const envelope = sealDropWith(counting(0x60, 32), counting(0x40, 24), publicKey, payload);
    assert.equal(envelope.length, 448);
    const bytes = Buffer.from(envelope.slice('pop1-drop.'.length), 'base64url');
    assert.equal(bytes.subarray(-16).toString('hex'), '569343c3eb94626c520497fe705da37f');
    assert.equal(openDrop(room, envelope), payload);
    assert.ok(isDropEnvelope(envelope));
  });

  it('[CRYPT-13] give a reader the keys for reading, but neither auth nor the drop key', () => {
    const fragment = fragmentOf(room, 'read');
    assert.match(fragment, /^7KQ2MX\.[\w-]{128}$/);
    const parsed = parseFragment(fragment);
    assert.ok(parsed.role === 'read');
    const { text, meta, file, auth, drop } = parsed.keys;
    assert.deepEqual(
      [parsed.code, hex(text), hex(meta), hex(file)],
      [room.code, hex(keys.text), hex(keys.meta), hex(keys.file)],
    );
    assert.deepEqual([auth.length, drop.length], [0, 0]);
    const dropped = sealDrop(publicKey, '{}');
    assert.throws(() => openDrop({ code: room.code, keys: parsed.keys }, dropped), { code: 'DATA_DAMAGED' });
    for (const wrong of ['', fragment.slice(0, -1), `${fragment}.x`, `U${fragment}`, 'H4T9WZ3BNQ6YRC88'])
      assert.throws(() => parseFragment(wrong), { code: 'KEY_WRONG' });
  });

  it('[ROLE-43] have a fragment of exactly one form', () => {
    const readKeys = Buffer.concat([keys.text, keys.meta, keys.file]).toString('base64url');
    assert.equal(fragmentOf(room, 'read'), `${room.code}.${readKeys}`);
    assert.equal(fragmentOf(room, 'drop'), encodeBase64url(publicKey));
    for (const role of ['read', 'drop'] as const) {
      const fragment = fragmentOf(room, role);
      for (const wrong of [
        fragment.slice(0, -2),
        fragment.slice(2),
        `${fragment}AA`,
        `${fragment}.`,
        fragment.slice(1),
      ])
        assert.throws(() => parseFragment(wrong), { code: 'KEY_WRONG' }, wrong);
    }
  });

  it('[CRYPT-14] give a dropper a public key, with which only members can open what it seals', async () => {
    const parsed = parseFragment(fragmentOf(room, 'drop'));
    assert.ok(parsed.role === 'drop');
    assert.equal(hex(parsed.publicKey), hex(publicKey));
    const metadata = { name: 'ünï.txt', type: 'text/plain', size: 3, salt: counting(1, 32), key: counting(2, 32) };
    const sealed = sealDroppedMetadata(parsed.publicKey, metadata);
    assert.deepEqual(openFileMetadata(room, sealed), metadata);
    assert.notEqual(sealDroppedMetadata(parsed.publicKey, metadata), sealed, 'another key each time');
    const other = { ...room, keys: await deriveKeys(parseRoomKey('H4T9-WZ3B-NQ6Y-RC88'), counting(1, 16)) };
    assert.throws(() => openFileMetadata(other, sealed), { code: 'DATA_DAMAGED' });
    for (const at of [20, 100, sealed.length - 2]) {
      const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
      assert.throws(() => openFileMetadata(room, changed), { code: 'DATA_DAMAGED' });
    }
    assert.throws(() => sealDrop(new Uint8Array(32), '{}'), { code: 'DATA_DAMAGED' }, 'a point of low order');
    assert.throws(() => openDrop(room, `pop1-drop.${encodeBase64url(new Uint8Array(328))}`), { code: 'DATA_DAMAGED' });
    assert.ok(!isDropEnvelope(`${sealed}AA`) && !isDropEnvelope(sealed.replace('pop1-drop.', 'pop1.')));
  });
});
