/** Uploads and downloads files of an encrypted room. */
import type { FileEntry, FileUploaded } from '../../protocol/types.ts';
import { encodeBase64url } from '../crypto/base64url.ts';
import type { CreateChunkCipher } from '../crypto/chunk-cipher.ts';
import { damaged } from '../crypto/envelope.ts';
import type { FileCipher, SealedTags } from '../crypto/file-cipher.ts';
import { createFileCipher, createSealedTags, fileChanged, fileLayout } from '../crypto/file-cipher.ts';
import type { EncryptedRoom } from '../crypto/keys.ts';
import {
  createFileSalt,
  type FileMetadata,
  hashFile,
  openUpload,
  sealDroppedMetadata,
  sealFileMetadata,
  sealUpload,
} from '../crypto/metadata.ts';
import type { DownloadOptions, ReceiveOptions } from '../download.ts';
import { PoproomError } from '../error.ts';
import { countBytes, measure } from '../measured-stream.ts';
import { hasXhr, type UploadTarget } from '../resumable-upload.ts';
import type { ReceivableFile, RoomBase } from '../room.ts';
import { attempt } from '../shapes.ts';
import type { CallOptions } from '../transport.ts';
import {
  missingName,
  nameOf,
  type OnProgress,
  openSource,
  readIntoBlob,
  transfer,
  typeByName,
  type UploadOptions,
  type UploadSource,
  versionOf,
} from '../upload.ts';
import { metadataOf } from './opened.ts';

export function createSealedFiles(
  room: EncryptedRoom,
  /** Sends the requests of the same room without encryption. */
  plain: RoomBase,
  target: () => Promise<UploadTarget>,
  createCipher?: CreateChunkCipher,
  /** The public key of a drop link. Its holder can seal files, and open nothing. */
  dropKey?: Uint8Array,
) {
  const cipherOf = (metadata: FileMetadata, tags?: SealedTags) =>
    createFileCipher(room.keys, metadata, createCipher, tags);

  /** Nothing that the server says decides the key or a nonce of a file. */
  async function upload(source: UploadSource, options: UploadOptions = {}): Promise<FileUploaded> {
    const bytes = await knownBytes(source, options);
    const file = describe(source, bytes, options);
    // A dropper has no secret by which it could keep the key of an upload.
    const fingerprint = dropKey ? undefined : await fingerprintOf(file, bytes, options);
    const earlier = openEarlier(room, options.uploadId, fingerprint);
    const used: Uint8Array[] = [];

    /** Every new upload needs another salt. */
    function sealWith(salt: Uint8Array) {
      used.push(salt);
      const metadata = dropKey ? { ...file, salt, key: createFileSalt() } : { ...file, salt };
      const labels = { meta: dropKey ? sealDroppedMetadata(dropKey, metadata) : sealFileMetadata(room, metadata) };
      const idToKeep = (id: string) => (fingerprint ? `${id}.${sealUpload(room, id, { salt, fingerprint })}` : id);
      return { ...sealedBytes(cipherOf(metadata, tagsOf(salt)), bytes, idToKeep), labels, idToKeep };
    }

    const { parts, labels } = sealWith(createFileSalt());
    let inOneRequest: ReturnType<typeof sealWith> | undefined;
    async function whole() {
      inOneRequest = sealWith(createFileSalt());
      return { ...inOneRequest, bytes: await inOneRequest.whole() };
    }
    const outgoing = { parts, continued: earlier && sealWith(earlier.salt).parts, labels, whole };
    const onProgress = plainProgress(file, options.onProgress);
    const uploaded = await transfer(await target(), outgoing, { ...options, uploadId: earlier?.uploadId, onProgress });
    if (inOneRequest && fingerprint) options.onUploadId?.(inOneRequest.idToKeep(uploaded.fileId));
    for (const salt of used) sealedTags.delete(encodeBase64url(salt));
    return { ...uploaded, fileName: file.name, fileSize: file.size };
  }

  /** A caller may have only the URL of a file. */
  async function entryOf(file: Pick<FileEntry, 'fileUrl' | 'meta'>): Promise<Pick<FileEntry, 'meta'>> {
    if (file.meta !== undefined) return file;
    const found = (await plain.files()).find(({ fileUrl }) => fileUrl === file.fileUrl);
    if (!found) throw new PoproomError('FILE_NOT_FOUND', 'There is no such file in this room.');
    return found;
  }

  return {
    upload,

    /** The server knows only the first part of the id. */
    cancelUpload: (uploadId: string, options?: CallOptions): Promise<void> =>
      plain.cancelUpload(uploadId.split('.', 1)[0] as string, options),

    async download(file: Pick<FileEntry, 'fileUrl' | 'meta'>, options: DownloadOptions = {}): Promise<Response> {
      const metadata = metadataOf(room, await entryOf(file));
      const cipher = cipherOf(metadata);
      const { range, signal, timeoutSeconds, onProgress } = options;
      const reload = damagedUrls.delete(file.fileUrl) || options.reload;
      if (range && range.from === range.to) return plainResponse(new Blob([]).stream(), metadata, 0);
      const sealedRange = range && cipher.ciphertextFor(range);
      const response = await plain.download(file, { signal, timeoutSeconds, reload, range: sealedRange });
      const length = range ? range.to - range.from : metadata.size;
      const onFailure = () => noteDamage(file.fileUrl);
      const { stream } = measure(bodyOf(response).pipeThrough(cipher.decrypt(range)), { onFailure });
      return plainResponse(stream, metadata, length, onProgress);
    },

    /** Confirms the receipt only if every byte was verified. */
    async receive<T = Blob>(file: ReceivableFile, options: ReceiveOptions<T> = {}): Promise<T> {
      const metadata = metadataOf(room, await entryOf(file));
      const cipher = cipherOf(metadata);
      const { save = readBlob as (response: Response) => Promise<T>, onProgress, ...others } = options;
      const open = async (response: Response): Promise<T> => {
        let isVerified = false;
        // The end of the stream verifies the whole file.
        const end = transformAtEnd(() => {
          isVerified = true;
        });
        const opened = bodyOf(response).pipeThrough(cipher.decrypt()).pipeThrough(end);
        const saved = await save(plainResponse(opened, metadata, metadata.size, onProgress));
        if (!isVerified) throw damaged('The file');
        return saved;
      };
      return plain.receive<T>({ ...file, fileSize: cipher.ciphertextSize }, { ...others, save: open });
    },
  };
}

/** Browsers have cached their bytes, and would use them again. */
const damagedUrls = new Set<string>();
const maxDamaged = 100;

function noteDamage(fileUrl: string): void {
  damagedUrls.add(fileUrl);
  const [oldest] = damagedUrls;
  if (damagedUrls.size > maxDamaged && oldest) damagedUrls.delete(oldest);
}

const readBlob = (response: Response): Promise<Blob> => response.blob();

/** Names and types are from other people, and a type must be a valid header. */
function plainResponse(
  stream: ReadableStream<Uint8Array>,
  { type }: FileMetadata,
  length: number,
  onProgress?: OnProgress,
): Response {
  const isType = /^[\w.+-]+\/[\w.+-]+(?:;[\x20-\x7e]*)?$/.test(type);
  const headers = { 'Content-Type': isType ? type : 'application/octet-stream', 'Content-Length': String(length) };
  const body = onProgress ? stream.pipeThrough(countBytes(length, onProgress)) : stream;
  return new Response(body as ReadableStream<Uint8Array<ArrayBuffer>>, { headers });
}

const bodyOf = (response: Response): ReadableStream<Uint8Array<ArrayBuffer>> => response.body ?? new Blob([]).stream();

const transformAtEnd = (flush: () => void) => new TransformStream<Uint8Array, Uint8Array>({ flush });

type SizedBytes = Awaited<ReturnType<typeof knownBytes>>;

/** Bytes whose size is known, which the metadata needs before the upload. */
async function knownBytes(source: UploadSource, { size, signal }: UploadOptions) {
  /** Of the file on the disk, as far as it is known. */
  const version = versionOf(source);
  const assertUnchanged = () => {
    if (versionOf(source) !== version) throw fileChanged();
  };
  const opened = await openSource(source);
  // Not as a Blob, because it cannot be read twice.
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
  return hashFile(
    description,
    edges.map((part) => part.stream()),
  ).catch(failToRead);
}

/** The upload that a program has kept, if it is of the same file. */
function openEarlier(room: EncryptedRoom, kept: string | undefined, fingerprint: string | undefined) {
  const [, uploadId, envelope] = /^([0-9a-f]{32})\.(.+)$/s.exec(kept ?? '') ?? [];
  if (!uploadId || !envelope || !fingerprint) return undefined;
  const earlier = attempt(() => openUpload(room, uploadId, envelope));
  return earlier?.fingerprint === fingerprint ? { uploadId, salt: earlier.salt } : undefined;
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

function sealedBytes(
  cipher: FileCipher,
  { blob, stream, assertUnchanged }: SizedBytes,
  idToKeep: (uploadId: string) => string,
) {
  const size = cipher.ciphertextSize;
  const parts = blob && {
    size,
    idToKeep,
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
  const whole = () => {
    // Browsers cannot send a stream.
    if (parts && hasXhr()) return parts.slice(0, size);
    return stream().pipeThrough(transformAtEnd(assertUnchanged)).pipeThrough(cipher.encrypt());
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
