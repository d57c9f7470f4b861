/** Sealed data of encrypted rooms, scheme `pop1`, as far as a server can check it: form and length. */
import { maxNameLength } from './limits.ts';

/** The kinds of envelopes, each with the minimum size of its padded content. Drafts and uploads never leave their device. */
export const minimumSizes = {
  text: 256,
  snapshot: 256,
  edit: 256,
  file: 256,
  device: 64,
  caret: 64,
  room: 64,
  draft: 256,
  upload: 256,
} as const;
export type EnvelopeKind = keyof typeof minimumSizes;

export const envelopePrefix = 'pop1.';
/** The hash of the previous envelope, in the padded content. */
export const hashBytes = 16;
export const [nonceBytes, tagBytes] = [24, 16];
/** Full texts begin with the number and the hashes of versions before them. */
export const maxRecentHashes = 64;
export const maxRecentBytes = 1 + maxRecentHashes * hashBytes;
/**
 * The newest version of a text that a device has seen, with the hash of its envelope. It can be stored as JSON, and must
 * be passed back unchanged.
 */
export interface SeenVersion {
  readonly version: number;
  /** 16 bytes as base64url. */
  readonly hash: string;
  /** The hashes of the versions before it, newest first. The list ends at the first unknown version, or after 64. */
  readonly earlier?: readonly string[] | undefined;
}

/** The first bytes of every encrypted file. */
export const encryptedFileHeader = 'POPENC1\n';

/** The maximum sizes of sealed names, with four bytes for each character, and of the metadata of a file as JSON. */
export const maxPayloadBytes = { room: 4 * maxNameLength.room, device: 4 * maxNameLength.device, file: 2048 } as const;

/** The next size that Padmé allows (https://lbarman.ch/blog/padme/): only the first few bits of the size may be set. */
export function paddedSize(size: number, minimum: number): number {
  if (size <= minimum) return minimum;
  const exponent = floorLog2(size);
  const step = 2 ** (exponent - (floorLog2(exponent) + 1));
  return Math.ceil(size / step) * step;
}

/** The number of characters of an envelope for a payload of this many bytes. */
export function envelopeSize(kind: EnvelopeKind, payloadBytes: number): number {
  const padded = paddedSize(hashBytes + payloadBytes + 1, minimumSizes[kind]);
  return envelopePrefix.length + Math.ceil(((nonceBytes + padded + tagBytes) * 4) / 3);
}

/** Whether a text can be an envelope of this kind: canonical base64url of a length that Padmé allows. */
export function isEnvelope(text: string, kind: EnvelopeKind): boolean {
  if (!text.startsWith(envelopePrefix)) return false;
  const symbols = text.length - envelopePrefix.length;
  const padded = Math.floor((symbols * 3) / 4) - nonceBytes - tagBytes;
  if (symbols % 4 === 1 || padded < minimumSizes[kind]) return false;
  return paddedSize(padded, minimumSizes[kind]) === padded && envelopeForm[symbols % 4]?.test(text) === true;
}

/** By the symbols after the last group of four, whose unused bits are zero. */
const envelopeForm: Record<number, RegExp> = {
  0: /^pop1\.[A-Za-z0-9_-]+$/,
  2: /^pop1\.[A-Za-z0-9_-]+[AQgw]$/,
  3: /^pop1\.[A-Za-z0-9_-]+[AEIMQUYcgkosw048]$/,
};

/** The metadata of a file that was sealed for the members of a room, by the holder of a drop link. */
export const dropEnvelopePrefix = 'pop1-drop.';
/** Of the ephemeral public key at its start. */
const publicKeyBytes = 32;
/** The metadata of a dropped file also has its key. */
const maxDropPayload = maxPayloadBytes.file + 64;
export const maxDropEnvelope =
  dropEnvelopePrefix.length +
  Math.ceil(((publicKeyBytes + nonceBytes + paddedSize(maxDropPayload + 1, minimumSizes.file) + tagBytes) * 4) / 3);

/** Whether a text can be such an envelope. */
export function isDropEnvelope(text: string): boolean {
  if (!/^pop1-drop\.[A-Za-z0-9_-]+$/.test(text) || text.length > maxDropEnvelope) return false;
  const bytes = Math.floor(((text.length - dropEnvelopePrefix.length) * 3) / 4);
  const padded = bytes - publicKeyBytes - nonceBytes - tagBytes;
  return padded >= minimumSizes.file && paddedSize(padded, minimumSizes.file) === padded;
}

/** Exact for all safe integers, unlike Math.log2. */
function floorLog2(value: number): number {
  return value >= 2 ** 32 ? 63 - Math.clz32(Math.floor(value / 2 ** 32)) : 31 - Math.clz32(value);
}
