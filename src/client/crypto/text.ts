/** Seals and opens the text of a room and its edits. */
import type { TextEdit } from '../../protocol/types.ts';
import { findProblem } from '../../text/edits.ts';
import { parseJson } from '../json.ts';
import { encodeBase64url } from './base64url.ts';
import type { ChainPosition } from './chain.ts';
import {
  type EnvelopeContent,
  type EnvelopeContext,
  hashOf,
  openEnvelope,
  sealEnvelope,
  tryOpenEnvelope,
} from './envelope.ts';
import { damaged } from './errors.ts';
import type { EncryptedRoom } from './keys.ts';
import { decodeFullText, decodeHash, decodeText, encodeFullText, encodeText } from './payload.ts';

export interface OpenedText {
  readonly text: string;
  readonly link: ChainPosition;
}

export interface OpenedEdits {
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
