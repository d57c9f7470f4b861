/**
 * Invites a screen into a room: the screen shows a public key and a token as a QR code, and another device answers with
 * a room that only this screen can read. Works without `crypto.subtle`, which browsers do not have over plain HTTP.
 */
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { equalBytes } from '@noble/ciphers/utils.js';
import { x25519 } from '@noble/curves/ed25519.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { parseRoomCode, type RoomCode } from '../../protocol/room-code.ts';
import { attempt, parseJson } from '../shapes.ts';
import { decodeBase64url, decodeBytes, encodeBase64url } from './base64url.ts';
import { damaged, pad, unpad } from './envelope.ts';
import { parseRoomKey, type RoomKey } from './room-key.ts';

/** The contents of the QR code. */
export interface Invitation {
  /** The code of the meeting room, through which the answer is sent. */
  readonly meeting: RoomCode;
  readonly publicKey: Uint8Array;
  /** Proves that the sender of an answer has seen the QR code. */
  readonly token: Uint8Array;
}

/** The secrets of a screen, which it keeps until it is invited. */
export interface InvitationSecret extends Omit<Invitation, 'meeting'> {
  readonly secretKey: Uint8Array;
}

/** The answer: the room to join, with the PIN and the room key if the sender knows them. */
export interface InvitedRoom {
  readonly code: RoomCode;
  readonly pin?: string | undefined;
  readonly key?: RoomKey | undefined;
}

const [keyBytes, nonceBytes, tagBytes, tokenBytes] = [32, 24, 16, 16];
const prefix = 'pop1-invite.';
/** Hides whether the answer has a PIN or a key. */
const paddedBytes = 192;
const answerBytes = keyBytes + paddedBytes + tagBytes;

export function createInvitationSecret(): InvitationSecret {
  const { secretKey, publicKey } = x25519.keygen();
  return { secretKey, publicKey, token: randomBytes(tokenBytes) };
}

/** The fragment of the link in the QR code. Browsers do not send it to the server. */
export const formatInvitation = ({ meeting, publicKey, token }: Invitation): string =>
  [meeting, encodeBase64url(publicKey), encodeBase64url(token)].join('.');

/** Returns undefined if the fragment is not a complete invitation. */
export function parseInvitation(fragment: string): Invitation | undefined {
  const [code = '', keyText = '', tokenText = '', ...rest] = fragment.split('.');
  const [meeting, publicKey] = [parseRoomCode(code), decodeBytes(keyText, keyBytes)];
  const token = decodeBytes(tokenText, tokenBytes);
  return meeting && publicKey && token && rest.length === 0 ? { meeting, publicKey, token } : undefined;
}

/** Throws `DATA_DAMAGED` for a public key of low order, with which everyone could open the answer. */
export const sealAnswer = (invitation: Invitation, room: InvitedRoom): string =>
  sealAnswerWith(x25519.utils.randomSecretKey(), invitation, room);

/** For test vectors only: the secret key must never be used twice. */
export function sealAnswerWith(ephemeralKey: Uint8Array, invitation: Invitation, room: InvitedRoom): string {
  const { code, pin, key } = room;
  const message = { v: 1, code, pin, key, token: encodeBase64url(invitation.token) };
  const ephemeral = x25519.getPublicKey(ephemeralKey);
  const shared = sharedSecret(ephemeralKey, invitation.publicKey);
  if (!shared) throw damaged('The invitation');
  const cipher = cipherFor(shared, ephemeral, invitation);
  const sealed = cipher.encrypt(pad(utf8ToBytes(JSON.stringify(message)), paddedBytes));
  return prefix + encodeBase64url(concatBytes(ephemeral, sealed));
}

/** Returns undefined for anything but an answer to exactly this invitation. */
export function openAnswer(secret: InvitationSecret, meeting: RoomCode, answer: string): InvitedRoom | undefined {
  // Anyone in the meeting room can write a long text: reject it before it is decoded.
  if (answer.length !== prefix.length + (answerBytes * 4) / 3 || !answer.startsWith(prefix)) return undefined;
  const bytes = decodeBase64url(answer.slice(prefix.length));
  const ephemeral = bytes?.subarray(0, keyBytes);
  const shared = ephemeral && sharedSecret(secret.secretKey, ephemeral);
  if (!bytes || !shared) return undefined;
  const cipher = cipherFor(shared, ephemeral, { ...secret, meeting });
  const padded = attempt(() => cipher.decrypt(bytes.subarray(keyBytes)));
  const message = padded && unpad(padded, paddedBytes);
  return message && parseMessage(message, secret.token);
}

/** The ephemeral key is new for each answer, so key and nonce are too. */
function cipherFor(shared: Uint8Array, ephemeral: Uint8Array, { publicKey, meeting }: Invitation) {
  const context = utf8ToBytes(`poproom/v1/invite\0${meeting}`);
  const derived = hkdf(sha256, shared, concatBytes(ephemeral, publicKey), context, keyBytes + nonceBytes);
  return xchacha20poly1305(derived.subarray(0, keyBytes), derived.subarray(keyBytes), context);
}

/** Undefined for a public key of low order. */
const sharedSecret = (secretKey: Uint8Array, publicKey: Uint8Array): Uint8Array | undefined =>
  attempt(() => x25519.getSharedSecret(secretKey, publicKey));

function parseMessage(bytes: Uint8Array, expectedToken: Uint8Array): InvitedRoom | undefined {
  const { v, code, pin, key, token } = Object(parseJson(new TextDecoder().decode(bytes)));
  const given = decodeBytes(token, tokenBytes);
  if (v !== 1 || !given || !equalBytes(given, expectedToken) || !isOptionalPin(pin)) return undefined;
  const room = { code: parseRoomCode(String(code)), pin, key: attempt(() => parseRoomKey(String(key))) };
  const isValid = room.code && (key === undefined) === (room.key === undefined);
  return isValid ? (room as InvitedRoom) : undefined;
}

const isOptionalPin = (pin: unknown): boolean => pin === undefined || (typeof pin === 'string' && /^\d{4}$/.test(pin));
