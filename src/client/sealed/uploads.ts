/** Uploads files to an encrypted room. Nothing that the server says decides the key or a nonce of a file. */
import type { FileUploaded } from '../../protocol/types.ts';
import { fileChanged } from '../crypto/errors.ts';
import {
  type CreateChunkCipher,
  createFileCipher,
  createFileSalt,
  createSealedTags,
  type EncryptedRoom,
  encodeBase64url,
  type FileCipher,
  type FileMetadata,
  fileLayout,
  hashFile,
  openUpload,
  type SealedTags,
  sealFileMetadata,
  sealUpload,
} from '../crypto/index.ts';
import { typeByName } from '../type-by-name.ts';
import { hasXhr, missingName, type OnProgress, transfer, type UploadOptions, type UploadTarget } from '../upload.ts';
import { nameOf, openSource, readIntoBlob, type UploadSource, versionOf } from '../upload-source.ts';

export async function uploadSealed(
  room: EncryptedRoom,
  target: UploadTarget,
  source: UploadSource,
  options: UploadOptions,
  createCipher?: CreateChunkCipher,
): Promise<FileUploaded> {
  const bytes = await knownBytes(source, options);
  const file = describe(source, bytes, options);
  const fingerprint = await fingerprintOf(file, bytes, options);
  const earlier = openEarlier(room, options.uploadId, fingerprint);
  const used: Uint8Array[] = [];

  /** Every new upload needs another salt. */
  function sealWith(salt: Uint8Array) {
    used.push(salt);
    const cipher = createFileCipher(room.keys, { ...file, salt }, createCipher, tagsOf(salt));
    return {
      ...sealedBytes(cipher, bytes),
      labels: { meta: sealFileMetadata(room, { ...file, salt }) },
      idToKeep: (id: string) => (fingerprint ? `${id}.${sealUpload(room, id, { salt, fingerprint })}` : id),
    };
  }

  const inParts = sealWith(createFileSalt());
  const partsOf = ({ parts, idToKeep }: typeof inParts) => parts && { ...parts, idToKeep };
  let inOneRequest: typeof inParts | undefined;
  const outgoing = {
    parts: partsOf(inParts),
    continued: earlier && partsOf(sealWith(earlier.salt)),
    labels: inParts.labels,
    async whole() {
      inOneRequest = sealWith(createFileSalt());
      const { whole, size, labels } = inOneRequest;
      return { bytes: await whole(), size, labels };
    },
  };
  const onProgress = plainProgress(file, options.onProgress);
  const uploaded = await transfer(target, outgoing, { ...options, uploadId: earlier?.uploadId, onProgress });
  if (inOneRequest && fingerprint) options.onUploadId?.(inOneRequest.idToKeep(uploaded.fileId));
  for (const salt of used) sealedTags.delete(encodeBase64url(salt));
  return { ...uploaded, fileName: file.name, fileSize: file.size };
}

/** The id that the server knows. */
export const serverIdOf = (uploadId: string): string => uploadId.split('.', 1)[0] as string;

/** Bytes whose size is known, which the metadata needs before the upload. */
interface SizedBytes {
  readonly size: number;
  readonly type: string;
  /** Undefined for a stream, which cannot be read twice. */
  readonly blob: Blob | undefined;
  /** Of the file on the disk, as far as it is known. */
  readonly version: string;
  stream(): ReadableStream<Uint8Array>;
  /** Throws `FILE_CHANGED` if the file on the disk has another version. */
  assertUnchanged(): void;
}

async function knownBytes(source: UploadSource, { size, signal }: UploadOptions): Promise<SizedBytes> {
  const version = versionOf(source);
  const assertUnchanged = () => {
    if (versionOf(source) !== version) throw fileChanged();
  };
  const opened = await openSource(source);
  if (opened instanceof ReadableStream && size !== undefined && !hasXhr())
    return { size, type: '', blob: undefined, version, stream: () => opened, assertUnchanged };
  const blob = opened instanceof Blob ? opened : await readIntoBlob(opened, signal);
  return { size: blob.size, type: blob.type, blob, version, stream: () => blob.stream(), assertUnchanged };
}

type Described = Omit<FileMetadata, 'salt'>;

function describe(source: UploadSource, bytes: SizedBytes, options: UploadOptions): Described {
  const { name = nameOf(source), folder } = options;
  if (!name) throw missingName();
  const type = options.type || bytes.type || typeByName(name);
  return { name: name.toWellFormed(), type, ...(folder && { folder }), size: bytes.size };
}

const edgeBytes = 64 * 1024;

/** Differs if an upload must not continue as that of this file. Undefined if it cannot be continued. */
async function fingerprintOf(
  { name, type, folder, size }: Described,
  { blob, version }: SizedBytes,
  { once = false, uploadId, onUploadId }: UploadOptions,
): Promise<string | undefined> {
  if (!blob || (!uploadId && !onUploadId)) return undefined;
  // Without a time of modification, only the bytes show a change.
  const edges = version ? [blob.slice(0, edgeBytes), blob.slice(Math.max(0, size - edgeBytes), size)] : [blob];
  const description = JSON.stringify([name, type, folder, size, version, once]);
  const streams = edges.map((part) => part.stream());
  return hashFile(description, streams).catch(failToRead);
}

/** The upload that a program has kept, if it is of the same file. */
function openEarlier(room: EncryptedRoom, kept: string | undefined, fingerprint: string | undefined) {
  const [, uploadId, envelope] = /^([0-9a-f]{32})\.(.+)$/s.exec(kept ?? '') ?? [];
  if (!uploadId || !envelope || !fingerprint) return undefined;
  try {
    const earlier = openUpload(room, uploadId, envelope);
    return earlier.fingerprint === fingerprint ? { uploadId, salt: earlier.salt } : undefined;
  } catch {
    return undefined;
  }
}

/** Of unfinished uploads of this process, by their salt: a fingerprint does not notice every change of a file. */
const sealedTags = new Map<string, SealedTags>();
const maxUnfinished = 200;

function tagsOf(salt: Uint8Array): SealedTags {
  const key = encodeBase64url(salt);
  const tags = sealedTags.get(key) ?? createSealedTags();
  // The newest ones are last.
  sealedTags.delete(key);
  sealedTags.set(key, tags);
  const [oldest] = sealedTags.keys();
  if (sealedTags.size > maxUnfinished && oldest) sealedTags.delete(oldest);
  return tags;
}

function sealedBytes(cipher: FileCipher, { blob, stream, assertUnchanged }: SizedBytes) {
  const size = cipher.ciphertextSize;
  const parts = blob && {
    size,
    async slice(from: number, to: number): Promise<Blob> {
      const plaintext = cipher.plaintextFor({ from, to });
      const part = blob.slice(plaintext.from, plaintext.to).stream().pipeThrough(cipher.encrypt({ from, to }));
      assertUnchanged();
      const sealed = await collect(part).catch(failToRead);
      // Nothing of it was sent yet.
      assertUnchanged();
      return sealed;
    },
  };
  const checkAtEnd = () => new TransformStream<Uint8Array, Uint8Array>({ flush: assertUnchanged });
  const whole = () => {
    // Browsers cannot send a stream.
    if (parts && hasXhr()) return parts.slice(0, size);
    return stream().pipeThrough(checkAtEnd()).pipeThrough(cipher.encrypt());
  };
  return { size, parts, whole };
}

/** Unlike that of a Response in Chrome, the error is the one of the stream. */
async function collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
  return new Blob(chunks);
}

/** Chrome and Node refuse to read a file that has changed on the disk, in Chrome with a TypeError. */
function failToRead(error: unknown): never {
  const isUnreadable = error instanceof DOMException || (error instanceof TypeError && hasXhr());
  throw isUnreadable ? fileChanged() : error;
}

/** Programs know the size of their file, not that of its encrypted form. */
function plainProgress({ size }: Described, onProgress: OnProgress | undefined): ((sent: number) => void) | undefined {
  const { ciphertextSize } = fileLayout(size);
  return onProgress && ((sent) => onProgress(Math.floor((sent / ciphertextSize) * size), size));
}
