/** The encryption of rooms, scheme `pop1`: see docs/encryption.md. Loaded only for encrypted rooms. */
export { decodeBase64url, encodeBase64url } from './base64url.ts';
export type { ByteTransform } from './byte-transform.ts';
export { advanceChain, type ChainPosition, chainStart, checkFork, hashAt, nextPosition } from './chain.ts';
export type { CreateChunkCipher } from './chunk-cipher.ts';
export { type EnvelopeKind, envelopeSize, hashOf } from './envelope.ts';
export { EncryptionError, type EncryptionErrorCode } from './errors.ts';
export { createFileCipher, createSealedTags, type FileCipher, type SealedTags } from './file-cipher.ts';
export { type ByteRange, fileLayout } from './file-layout.ts';
export {
  authToken,
  checkVerifier,
  createSalt,
  deriveKeys,
  type EncryptedRoom,
  parseSalt,
  type RoomKeys,
  verifierOf,
} from './keys.ts';
export {
  createFileSalt,
  type FileMetadata,
  hashFile,
  hideText,
  openDeviceName,
  openDraft,
  openFileMetadata,
  openRoomName,
  openUpload,
  sealDeviceName,
  sealDraft,
  sealFileMetadata,
  sealRoomName,
  sealUpload,
  type UnfinishedUpload,
} from './metadata.ts';
export { formatRoomKey, generateRoomKey, parseRoomKey, type RoomKey } from './room-key.ts';
export {
  type OpenedEdits,
  type OpenedText,
  openEdits,
  openText,
  sealEdits,
  sealSnapshot,
  sealText,
} from './text.ts';
