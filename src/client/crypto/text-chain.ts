/** Seals and opens the text of a room and its edits. Each contains the hash of the one before it, so a server cannot drop or replace one unnoticed. */
import { maxRecentHashes } from '../../protocol/sealed.ts';
import type { TextEdit } from '../../protocol/types.ts';
import { findProblem } from '../../text/edits.ts';
import { EncryptionError } from '../error.ts';
import { parseJson } from '../shapes.ts';
import { encodeBase64url } from './base64url.ts';
import {
  damaged,
  decodeFullText,
  decodeHash,
  decodeText,
  type EnvelopeContent,
  type EnvelopeContext,
  encodeFullText,
  encodeText,
  hashOf,
  openEnvelope,
  sealEnvelope,
  tryOpenEnvelope,
} from './envelope.ts';
import type { EncryptedRoom } from './keys.ts';

/** A version of the text, with the versions before it that are known. It can be stored as JSON. */
export interface ChainPosition {
  readonly version: number;
  /** The hash of the envelope of this version: 16 bytes as base64url. */
  readonly hash: string;
  /** The hashes of the versions before it, newest first. The list ends at the first unknown version, or after 64. */
  readonly earlier?: readonly string[] | undefined;
}

/** The position of a room without a text. */
export const chainStart: ChainPosition = { version: 0, hash: 'A'.repeat(22) };

/**
 * Returns the new position. Throws `ROLLBACK` if the link is older than `seen`, and `FORK` if it does not continue it.
 * After a gap without a common version nothing can be compared, so the link is accepted.
 */
export function advanceChain(seen: ChainPosition | undefined, link: ChainPosition): ChainPosition {
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
export const nextPosition = (base: ChainPosition, envelope: string): ChainPosition =>
  advanceChain(base, { version: base.version + 1, hash: hashOf(envelope), earlier: [base.hash] });

/** Throws `FORK` if a version that both know has different hashes. */
export function checkFork(seen: ChainPosition, other: ChainPosition): void {
  const newest = Math.min(seen.version, other.version);
  for (let version = newest; version >= newest - maxRecentHashes; version--) {
    const [known, shown] = [hashAt(seen, version), hashAt(other, version)];
    if (known === undefined || shown === undefined) return;
    if (known === shown) continue;
    throw new EncryptionError(
      'FORK',
      `The server sent a version ${other.version} that does not continue what this device has seen.`,
    );
  }
}

/** Undefined if it is not known. */
export function hashAt({ version, hash, earlier = [] }: ChainPosition, at: number): string | undefined {
  return at === version ? hash : earlier[version - at - 1];
}

interface OpenedText {
  readonly text: string;
  readonly link: ChainPosition;
}

interface OpenedEdits {
  readonly edits: TextEdit[];
  readonly link: ChainPosition;
}

/** Seals a text that replaces the version at `after`. */
export function sealText(room: EncryptedRoom, after: ChainPosition, text: string): string {
  const context = { kind: 'text', code: room.code, version: after.version + 1 } as const;
  return sealEnvelope(room.keys.text, context, contentOf(after, text));
}

/** Seals edits of the version at `after`. They become the next version. */
export function sealEdits(room: EncryptedRoom, after: ChainPosition, edits: readonly TextEdit[]): string {
  if (!areEdits(edits)) throw new RangeError('The edits are out of order, not well-formed or too many.');
  const context = { kind: 'edit', code: room.code, version: after.version + 1 } as const;
  return sealEnvelope(room.keys.text, context, {
    previous: decodeHash(after.hash),
    payload: encodeText(JSON.stringify(edits)),
  });
}

/**
 * Seals the whole text of the version at `at`, to replace the log up to there. It contains the hash of that version, so
 * that the next edit still continues the chain.
 */
export function sealSnapshot(room: EncryptedRoom, at: ChainPosition, text: string): string {
  const context = { kind: 'snapshot', code: room.code, version: at.version } as const;
  return sealEnvelope(room.keys.text, context, contentOf(at, text));
}

const contentOf = ({ hash, earlier: recent = [] }: ChainPosition, text: string): EnvelopeContent => ({
  previous: decodeHash(hash),
  payload: encodeFullText({ text, recent }),
});

/** Opens a text or a snapshot. The envelope itself proves which of them it is. */
export function openText(room: EncryptedRoom, version: number, envelope: string): OpenedText {
  const { code, keys } = room;
  const replacement = tryOpenEnvelope(keys.text, { kind: 'text', code, version }, envelope);
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
export function openEdits(room: EncryptedRoom, version: number, envelope: string): OpenedEdits {
  const context: EnvelopeContext = { kind: 'edit', code: room.code, version };
  const content = openEnvelope(room.keys.text, context, envelope);
  const link = { version, hash: hashOf(envelope), earlier: [encodeBase64url(content.previous)] };
  return { edits: parseEdits(decodeText(content.payload)), link };
}

function parseEdits(json: string): TextEdit[] {
  const edits = parseJson(json);
  if (!areEdits(edits)) throw damaged('The edit');
  return edits.map(({ from, to, insert }) => ({ from, to, insert }));
}

/** Ten times as many as in a request, because rebasing can split edits. It bounds what another person can send. */
const maxEdits = 10_000;

/** Checks everything except the length of the text, which only the receiver knows. */
const areEdits = (value: unknown): value is readonly TextEdit[] =>
  Array.isArray(value) &&
  value.length <= maxEdits &&
  value.every(isEdit) &&
  findProblem(value, Number.MAX_SAFE_INTEGER) === undefined;

function isEdit(value: unknown): value is TextEdit {
  const { from, to, insert } = (value ?? {}) as Partial<Record<keyof TextEdit, unknown>>;
  return Number.isSafeInteger(from) && (from as number) >= 0 && Number.isSafeInteger(to) && typeof insert === 'string';
}
