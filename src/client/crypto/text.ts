/** Seals and opens the text of a room and its edits. */
import type { TextEdit } from '../../protocol/types.ts';
import { findProblem } from '../../text/edits.ts';
import { parseJson } from '../json.ts';
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import type { ChainLink, ChainPosition } from './chain.ts';
import {
  type EnvelopeContent,
  type EnvelopeContext,
  hashBytes,
  hashOf,
  openEnvelope,
  sealEnvelope,
  tryOpenEnvelope,
} from './envelope.ts';
import { damaged } from './errors.ts';
import type { EncryptedRoom } from './keys.ts';
import { decodeText, encodeText } from './payload.ts';

export interface OpenedText {
  readonly text: string;
  readonly link: ChainLink;
}

export interface OpenedEdits {
  readonly edits: TextEdit[];
  readonly link: ChainLink;
}

/** Seals a text that replaces the version at `after`. */
export function sealText(room: EncryptedRoom, after: ChainPosition, text: string): string {
  const context = { kind: 'text', code: room.code, version: after.version + 1 } as const;
  return sealEnvelope(room.keys.text, context, { previous: hashIn(after), payload: encodeText(text) });
}

/** Seals edits of the version at `after`. They become the next version. */
export function sealEdits(room: EncryptedRoom, after: ChainPosition, edits: readonly TextEdit[]): string {
  if (!areEdits(edits)) throw new RangeError('The edits are out of order, not well-formed or too many.');
  const context = { kind: 'edit', code: room.code, version: after.version + 1 } as const;
  return sealEnvelope(room.keys.text, context, { previous: hashIn(after), payload: encodeText(JSON.stringify(edits)) });
}

/**
 * Seals the whole text of the version at `at`, to replace the log up to there. It contains the hash of that version, so
 * that the next edit still continues the chain.
 */
export function sealSnapshot(room: EncryptedRoom, at: ChainPosition, text: string): string {
  const context = { kind: 'snapshot', code: room.code, version: at.version } as const;
  return sealEnvelope(room.keys.text, context, { previous: hashIn(at), payload: encodeText(text) });
}

/** Opens a text or a snapshot. The envelope itself proves which of them it is. */
export function openText(room: EncryptedRoom, version: number, envelope: string): OpenedText {
  const { code, keys } = room;
  const text = tryOpenEnvelope(keys.text, { kind: 'text', code, version }, envelope);
  if (text) return { text: decodeText(text.payload), link: linkOf(version, envelope, text) };
  const snapshot = openEnvelope(keys.text, { kind: 'snapshot', code, version }, envelope);
  const hash = encodeBase64url(snapshot.previous);
  return { text: decodeText(snapshot.payload), link: { version, hash, previous: undefined } };
}

/** `version` is the one that the edits created. */
export function openEdits(room: EncryptedRoom, version: number, envelope: string): OpenedEdits {
  const context: EnvelopeContext = { kind: 'edit', code: room.code, version };
  const content = openEnvelope(room.keys.text, context, envelope);
  return { edits: parseEdits(decodeText(content.payload)), link: linkOf(version, envelope, content) };
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

function linkOf(version: number, envelope: string, { previous }: EnvelopeContent): ChainLink {
  return { version, hash: hashOf(envelope), previous: encodeBase64url(previous) };
}

function hashIn({ hash }: ChainPosition): Uint8Array {
  const bytes = decodeBase64url(hash);
  if (bytes?.length !== hashBytes) throw new RangeError(`The hash of a position has ${hashBytes} bytes.`);
  return bytes;
}
