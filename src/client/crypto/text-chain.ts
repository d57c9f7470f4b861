/** Seals and opens the text of a room and its edits. Each contains the hash of the one before it, so a server cannot drop or replace one unnoticed. */
import { concatBytes } from '@noble/hashes/utils.js';
import { type EnvelopeKind, hashBytes, maxRecentHashes, type SeenVersion } from '../../protocol/sealed.ts';
import type { TextEdit } from '../../protocol/types.ts';
import { EncryptionError } from '../error.ts';
import { areEdits as areOrdered, attempt, parseJson } from '../shapes.ts';
import { decodeBytes, encodeBase64url } from './base64url.ts';
import { damaged, decodeText, encodeText, hashOf, openEnvelope, sealEnvelope } from './envelope.ts';
import type { EncryptedRoom } from './keys.ts';

/** The position of a room without a text. */
export const chainStart: SeenVersion = { version: 0, hash: 'A'.repeat(22) };

/**
 * Returns the new position. Throws `ROLLBACK` if the link is older than `seen`, and `FORK` if it does not continue it.
 * After a gap without a common version nothing can be compared, so the link is accepted.
 */
export function advanceChain(seen: SeenVersion | undefined, link: SeenVersion): SeenVersion {
  const { version, hash } = link;
  if (seen && version < seen.version) {
    const message = `The server sent version ${version} of the text, but this device has seen version ${seen.version}.`;
    throw new EncryptionError('ROLLBACK', message);
  }
  if (seen) checkFork(seen, link);
  const earlier: string[] = [];
  while (earlier.length < maxRecentHashes) {
    const before = version - earlier.length - 1;
    const known = hashAt(link, before) ?? (seen && hashAt(seen, before));
    if (before < 1 || known === undefined) break;
    earlier.push(known);
  }
  return { version, hash, ...(earlier.length > 0 && { earlier }) };
}

/** The position after a version that this device has sealed itself. */
export const nextPosition = (base: SeenVersion, envelope: string): SeenVersion =>
  advanceChain(base, { version: base.version + 1, hash: hashOf(envelope), earlier: [base.hash] });

/** Throws `FORK` if a version that both know has different hashes. */
export function checkFork(seen: SeenVersion, other: SeenVersion): void {
  const newest = Math.min(seen.version, other.version);
  for (let version = newest; version >= newest - maxRecentHashes; version--) {
    const [known, shown] = [hashAt(seen, version), hashAt(other, version)];
    if (known === undefined || shown === undefined) return;
    if (known === shown) continue;
    const message = `The server sent a version ${other.version} that does not continue what this device has seen.`;
    throw new EncryptionError('FORK', message);
  }
}

/** Undefined if it is not known. */
export const hashAt = ({ version, hash, earlier = [] }: SeenVersion, at: number): string | undefined =>
  at === version ? hash : earlier[version - at - 1];

/** Seals a text that replaces the version at `after`. */
export const sealText = (room: EncryptedRoom, after: SeenVersion, text: string): string =>
  seal(room, 'text', after.version + 1, after, fullText(after, text));

/** Seals edits of the version at `after`. They become the next version. */
export function sealEdits(room: EncryptedRoom, after: SeenVersion, edits: readonly TextEdit[]): string {
  if (!areEdits(edits)) throw new RangeError('The edits are out of order, not well-formed or too many.');
  return seal(room, 'edit', after.version + 1, after, encodeText(JSON.stringify(edits)));
}

/** Seals the text of the version at `at` with the hash of that version, to replace the log but continue the chain. */
export const sealSnapshot = (room: EncryptedRoom, at: SeenVersion, text: string): string =>
  seal(room, 'snapshot', at.version, at, fullText(at, text));

const fullText = ({ earlier: recent = [] }: SeenVersion, text: string) => encodeFullText({ text, recent });

function seal(room: EncryptedRoom, kind: EnvelopeKind, version: number, { hash }: SeenVersion, payload: Uint8Array) {
  return sealEnvelope(room.keys.text, { kind, code: room.code, version }, { previous: decodeHash(hash), payload });
}

/** The payload of a text or a snapshot. `recent`: the hashes before the one that `previous` names, newest first. */
export function encodeFullText({ text, recent }: { text: string; recent: readonly string[] }): Uint8Array {
  if (recent.length > maxRecentHashes) throw new RangeError(`A full text has at most ${maxRecentHashes} hashes.`);
  return concatBytes(Uint8Array.of(recent.length), ...recent.map(decodeHash), encodeText(text));
}

export function decodeFullText(bytes: Uint8Array) {
  const [count = maxRecentHashes + 1] = bytes;
  const end = 1 + count * hashBytes;
  if (count > maxRecentHashes || end > bytes.length) throw damaged('The text');
  const recent = Array.from({ length: count }, (_, index) =>
    encodeBase64url(bytes.subarray(1 + index * hashBytes, 1 + (index + 1) * hashBytes)),
  );
  return { text: decodeText(bytes.subarray(end)), recent };
}

/** The bytes of the hash of an envelope. */
function decodeHash(hash: string): Uint8Array {
  const bytes = decodeBytes(hash, hashBytes);
  if (!bytes) throw new RangeError(`The hash of a version has ${hashBytes} bytes.`);
  return bytes;
}

/** Opens a text or a snapshot. The envelope itself proves which of them it is. */
export function openText({ code, keys }: EncryptedRoom, version: number, envelope: string) {
  const replacement = attempt(() => openEnvelope(keys.text, { kind: 'text', code, version }, envelope));
  const content = replacement ?? openEnvelope(keys.text, { kind: 'snapshot', code, version }, envelope);
  const { text, recent } = decodeFullText(content.payload);
  const previous = encodeBase64url(content.previous);
  // A snapshot contains the hash of the version that it replaces.
  const link = replacement
    ? { version, hash: hashOf(envelope), earlier: [previous, ...recent] }
    : { version, hash: previous, earlier: recent };
  // The first version has the number 1.
  if (recent.length > 0 && link.earlier.length >= version) throw damaged('The text');
  return { text, link };
}

/** `version` is the one that the edits created. */
export function openEdits({ code, keys }: EncryptedRoom, version: number, envelope: string) {
  const content = openEnvelope(keys.text, { kind: 'edit', code, version }, envelope);
  const link = { version, hash: hashOf(envelope), earlier: [encodeBase64url(content.previous)] };
  const edits = parseJson(decodeText(content.payload));
  if (!areEdits(edits)) throw damaged('The edit');
  return { edits: edits.map(({ from, to, insert }) => ({ from, to, insert })), link };
}

/** Ten times as many as in a request, because rebasing can split edits. It bounds what another person can send. */
const maxEdits = 10_000;

/** Checks everything except the length of the text, which only the receiver knows. */
const areEdits = (value: unknown): value is readonly TextEdit[] =>
  Array.isArray(value) && value.length <= maxEdits && areOrdered(value);
