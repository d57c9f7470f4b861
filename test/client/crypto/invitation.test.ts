/** Invitations: a screen opens only what was sealed for its own QR code. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { x25519 } from '@noble/curves/ed25519.js';
import {
  createInvitationSecret,
  formatInvitation,
  type Invitation,
  openAnswer,
  parseInvitation,
  sealAnswer,
  sealAnswerWith,
} from '../../../src/client/crypto/invitation.ts';
import { generateRoomKey, parseRoomKey } from '../../../src/client/crypto/room-key.ts';
import type { RoomCode } from '../../../src/protocol/room-code.ts';
import { throwsWith } from './encrypted-room.ts';

const meeting = '7KQ2MX' as RoomCode;
const code = 'ABC234' as RoomCode;
const secret = createInvitationSecret();
const invitation: Invitation = { meeting, publicKey: secret.publicKey, token: secret.token };

/** All points of small order, and encodings of them that are not canonical. */
const lowOrderPoints = [
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
].map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')));

describe('an invitation', () => {
  it('[PAGE-102] is a fragment of a link with room code, public key and token, and nothing else is accepted', () => {
    const fragment = formatInvitation(invitation);
    assert.match(fragment, /^7KQ2MX\.[\w-]{43}\.[\w-]{22}$/);
    assert.deepEqual(parseInvitation(fragment), invitation);
    const [, key, token] = fragment.split('.');
    const malformed = ['', meeting, `${meeting}.${key}`, `U.${key}.${token}`, `${fragment}.`, `${fragment}=`];
    for (const text of [...malformed, fragment.slice(0, -1), `${meeting}.${token}.${key}`]) {
      assert.equal(parseInvitation(text), undefined, text);
    }
  });

  it('[PAGE-102] is answered with a room that only the screen can read, with or without PIN and key', () => {
    for (const room of [
      { code, pin: undefined, key: undefined },
      { code, pin: '1204', key: undefined },
      { code, pin: '0000', key: generateRoomKey() },
      { code: '0123456789AB' as RoomCode, pin: '0000', key: generateRoomKey() },
    ]) {
      const answer = sealAnswer(invitation, room);
      assert.deepEqual(openAnswer(secret, meeting, answer), room);
      assert.equal(answer.length, 332, 'the size does not tell what it contains');
      assert.equal(answer.includes(room.code), false);
      assert.notEqual(answer, sealAnswer(invitation, room));
    }
  });

  it('[PAGE-102] ignores an answer with another key, token or meeting room, and every changed character', () => {
    const answer = sealAnswer(invitation, { code, pin: '1204' });
    assert.equal(openAnswer(createInvitationSecret(), meeting, answer), undefined);
    assert.equal(openAnswer(secret, 'ABCDEF' as RoomCode, answer), undefined);
    const otherToken = { ...invitation, token: createInvitationSecret().token };
    assert.equal(openAnswer(secret, meeting, sealAnswer(otherToken, { code })), undefined);
    for (let at = 0; at < answer.length; at += 9) {
      const changed = answer.slice(0, at) + (answer[at] === 'A' ? 'B' : 'A') + answer.slice(at + 1);
      assert.equal(openAnswer(secret, meeting, changed), undefined, `character ${at}`);
    }
    for (const junk of ['', 'hello', answer.slice(0, -1), `${answer}A`, 'x'.repeat(1_000_000)]) {
      assert.equal(openAnswer(secret, meeting, junk), undefined);
    }
  });

  it('[PAGE-102] ignores a sealed answer without a valid room, PIN or key', () => {
    const invalid = [
      { code: 'U' },
      { code: undefined },
      { code, pin: '12' },
      { code, pin: 1204 },
      { code, key: 'H4T9WZ3BNQ6YRC89' },
      { code, key: '' },
    ];
    for (const room of invalid) {
      const answer = sealAnswer(invitation, room as unknown as { code: RoomCode });
      assert.equal(openAnswer(secret, meeting, answer), undefined, JSON.stringify(room));
    }
  });

  it('[PAGE-102] rejects public keys of low order, with which everyone could compute the shared secret', () => {
    const answer = sealAnswer(invitation, { code });
    for (const point of lowOrderPoints) {
      throwsWith('DATA_DAMAGED', () => sealAnswer({ ...invitation, publicKey: point }, { code }));
      const forged = Buffer.from(answer.slice('pop1-invite.'.length), 'base64url');
      forged.set(point);
      assert.equal(openAnswer(secret, meeting, `pop1-invite.${forged.toString('base64url')}`), undefined);
    }
  });

  it('[PAGE-102] has a fixed format: libsodium computes the same answer', () => {
    const from = (first: number, length: number) => Uint8Array.from({ length }, (_, i) => first + i);
    const secretKey = from(0, 32);
    const fixed = { secretKey, publicKey: x25519.getPublicKey(secretKey), token: from(64, 16) };
    const fragment = formatInvitation({ ...fixed, meeting });
    assert.equal(fragment, '7KQ2MX.j0DFrbaPJWJK5bIU6nZ6bslNgp09e14a0bpvPiE4KF8.QEFCQ0RFRkdISUpLTE1OTw');
    const room = { code, pin: '1204', key: parseRoomKey('H4T9WZ3BNQ6YRC88') };
    assert.equal(sealAnswerWith(from(32, 32), { ...fixed, meeting }, room), libsodiumAnswer);
    assert.deepEqual(openAnswer(fixed, meeting, libsodiumAnswer), room);
  });
});

/** Computed with PyNaCl: crypto_scalarmult, HMAC-SHA-256 and crypto_aead_xchacha20poly1305_ietf_encrypt. */
const libsodiumAnswer =
  'pop1-invite.NYBy1jZYgNGu6jKa35EhODhR7SGijjt16WXQ0s0WYlRoE7t72Tlqt6p7Tm7Bwnqw9QQzAhZlhmTfS_Fu38cnzD2SSaYcGF97hc6-35o-g5qUSCT9GsxvTRLbCB_4nhJFLtpfzQqrFA3Rum-TBFkVMvlmYpoRm_6BaJEWPHn4AUwq4Ts_VSC559t-uKvRwkmER11zFu_knBSUbD-EpRf7x6SNOkGkCyIrlbJP82P0Q7A-DxYAlHBWfCvKJpiFMCyXEmR3cFE8GqwP_84ElIKhfg5FUKVVG9eiIAN4_a82uy5Sqx6OsYTJXVk8_stSCHzK';
