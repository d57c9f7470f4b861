/** Uploads and downloads files of an encrypted room. */
import type { FileEntry, FileUploaded } from '../../protocol/types.ts';
import { damaged } from '../crypto/errors.ts';
import {
  type CreateChunkCipher,
  createFileCipher,
  createFileSalt,
  type EncryptedRoom,
  type FileCipher,
  type FileMetadata,
  fileLayout,
  openFileMetadata,
  sealFileMetadata,
} from '../crypto/index.ts';
import { PoproomError } from '../error.ts';
import type { ReceiveOptions } from '../receive.ts';
import type { DownloadOptions, ReceivableFile, RoomBase } from '../room-base.ts';
import { typeByName } from '../type-by-name.ts';
import { hasXhr, missingName, type OnProgress, transfer, type UploadOptions, type UploadTarget } from '../upload.ts';
import { nameOf, openSource, readIntoBlob, type UploadSource } from '../upload-source.ts';
import { countBytes } from '../watched-body.ts';
import { metadataOf } from './opened.ts';

/** The requests of the same room without encryption. */
type PlainFiles = Pick<RoomBase, 'download' | 'receive' | 'files'>;

export function createSealedFiles(
  room: EncryptedRoom,
  plain: PlainFiles,
  target: () => Promise<UploadTarget>,
  createCipher?: CreateChunkCipher,
) {
  const cipherOf = (metadata: FileMetadata) => createFileCipher(room.keys, metadata, createCipher);

  /** A caller may have only the URL of a file. */
  async function entryOf(file: Pick<FileEntry, 'fileUrl' | 'meta'>): Promise<Pick<FileEntry, 'meta'>> {
    if (file.meta !== undefined) return file;
    const found = (await plain.files()).find(({ fileUrl }) => fileUrl === file.fileUrl);
    if (!found) throw new PoproomError('FILE_NOT_FOUND', 'There is no such file in this room.');
    return found;
  }

  return {
    async upload(source: UploadSource, options: UploadOptions = {}): Promise<FileUploaded> {
      const to = await target();
      const bytes = await knownBytes(source, options);
      const described = describe(source, bytes, options);
      const earlier = await findEarlier(room, to, described, options);
      const metadata = { ...described, salt: earlier?.salt ?? createFileSalt() };
      const uploadId = earlier && options.uploadId;
      const uploaded = await transfer(to, sealedFile(cipherOf(metadata), bytes, sealFileMetadata(room, metadata)), {
        ...options,
        uploadId,
        onProgress: plainProgress(metadata, options.onProgress),
      });
      return { ...uploaded, fileName: metadata.name, fileSize: metadata.size };
    },

    async download(file: Pick<FileEntry, 'fileUrl' | 'meta'>, options: DownloadOptions = {}): Promise<Response> {
      const metadata = metadataOf(room, await entryOf(file));
      const cipher = cipherOf(metadata);
      const { range, signal, timeoutSeconds, onProgress } = options;
      if (range && range.from === range.to) return plainResponse(new Blob([]).stream(), metadata, 0);
      const sealedRange = range && cipher.ciphertextFor(range);
      const response = await plain.download(file, { signal, timeoutSeconds, range: sealedRange });
      const length = range ? range.to - range.from : metadata.size;
      const opened = bodyOf(response).pipeThrough(cipher.decrypt(range));
      return plainResponse(withProgress(opened, length, onProgress), metadata, length);
    },

    /** Confirms the receipt only if every byte was verified. */
    async receive<T = Blob>(file: ReceivableFile, options: ReceiveOptions<T> = {}): Promise<T> {
      const metadata = metadataOf(room, await entryOf(file));
      const cipher = cipherOf(metadata);
      const { save = readBlob as (response: Response) => Promise<T>, onProgress, ...others } = options;
      return plain.receive<T>(
        { ...file, fileSize: cipher.ciphertextSize },
        {
          ...others,
          async save(response) {
            const opened = noteEnd(bodyOf(response).pipeThrough(cipher.decrypt()));
            const stream = withProgress(opened.stream, metadata.size, onProgress);
            const saved = await save(plainResponse(stream, metadata, metadata.size));
            if (opened.hasFailed()) throw damaged('The file');
            return saved;
          },
        },
      );
    },
  };
}

const withProgress = (stream: ReadableStream<Uint8Array>, total: number, onProgress: OnProgress | undefined) =>
  onProgress ? stream.pipeThrough(countBytes(total, onProgress)) : stream;

const readBlob = (response: Response): Promise<Blob> => response.blob();

type Described = Omit<FileMetadata, 'salt'>;

function describe(source: UploadSource, bytes: SizedBytes, options: UploadOptions): Described {
  const { name = nameOf(source), folder } = options;
  if (!name) throw missingName();
  const type = options.type || bytes.type || typeByName(name);
  return { name: name.toWellFormed(), type, ...(folder && { folder }), size: bytes.size };
}

/** Bytes whose size is known, which the metadata needs before the upload. */
interface SizedBytes {
  readonly size: number;
  readonly type: string;
  /** Undefined for a stream, which cannot be read twice. */
  readonly blob: Blob | undefined;
  stream(): ReadableStream<Uint8Array>;
}

async function knownBytes(source: UploadSource, { size, signal }: UploadOptions): Promise<SizedBytes> {
  const opened = await openSource(source);
  if (opened instanceof ReadableStream && size !== undefined && !hasXhr())
    return { size, type: '', blob: undefined, stream: () => opened };
  const blob = opened instanceof Blob ? opened : await readIntoBlob(opened, signal);
  return { size: blob.size, type: blob.type, blob, stream: () => blob.stream() };
}

function sealedFile(cipher: FileCipher, bytes: SizedBytes, meta: string) {
  const { blob } = bytes;
  const sealPart = async (part: Blob, from: number, to: number): Promise<Blob> =>
    new Response(part.stream().pipeThrough(cipher.encrypt({ from, to }))).blob();
  const parts = blob && {
    size: cipher.ciphertextSize,
    slice(from: number, to: number) {
      const plaintext = cipher.plaintextFor({ from, to });
      return sealPart(blob.slice(plaintext.from, plaintext.to), from, to);
    },
  };
  const whole = () => {
    // Browsers cannot send a stream.
    if (parts && hasXhr()) return parts.slice(0, parts.size);
    return bytes.stream().pipeThrough(cipher.encrypt());
  };
  return { parts, whole, size: cipher.ciphertextSize, labels: { meta } };
}

/** Programs know the size of their file, not that of its encrypted form. */
function plainProgress(
  { size }: FileMetadata,
  onProgress: OnProgress | undefined,
): ((sent: number) => void) | undefined {
  const { ciphertextSize } = fileLayout(size);
  return onProgress && ((sent) => onProgress(Math.floor((sent / ciphertextSize) * size), size));
}

/**
 * The metadata of an upload that was interrupted, if it is of this file. Its salt comes from there: with another one, the
 * parts would not fit together.
 */
async function findEarlier(
  room: EncryptedRoom,
  { transport, path, ...target }: UploadTarget,
  { name, folder, size }: Described,
  { uploadId, signal, timeoutSeconds }: UploadOptions,
): Promise<FileMetadata | undefined> {
  if (uploadId === undefined) return undefined;
  const headers = { ...target.headers, 'Tus-Resumable': '1.0.0' };
  const url = `${path}/uploads/${encodeURIComponent(uploadId)}`;
  const call = { method: 'HEAD', headers, signal, timeoutSeconds };
  const response = await transport.send(url, call).catch((error: unknown) => {
    if (error instanceof PoproomError && error.details.status === 404) return undefined;
    throw error;
  });
  const [, meta = ''] = /(?:^|,)\s*meta ([A-Za-z0-9+/=]+)/.exec(response?.headers.get('Upload-Metadata') ?? '') ?? [];
  if (!meta) return undefined;
  const earlier = openFileMetadata(room, atob(meta));
  const isSame = earlier.name === name && earlier.folder === folder && earlier.size === size;
  return isSame ? earlier : undefined;
}

/** Names and types are from other people, and a type must be a valid header. */
function plainResponse(stream: ReadableStream<Uint8Array>, { type }: FileMetadata, length: number): Response {
  const isType = /^[\w.+-]+\/[\w.+-]+(?:;[\x20-\x7e]*)?$/.test(type);
  const headers = {
    'Content-Type': isType ? type : 'application/octet-stream',
    'Content-Length': String(length),
  };
  return new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>, { headers });
}

const bodyOf = (response: Response): ReadableStream<Uint8Array<ArrayBuffer>> => response.body ?? new Blob([]).stream();

/** Notes whether a stream was read to its end, which verifies the whole file. */
function noteEnd(source: ReadableStream<Uint8Array>) {
  let isVerified = false;
  const end = new TransformStream<Uint8Array, Uint8Array>({
    flush() {
      isVerified = true;
    },
  });
  return { stream: source.pipeThrough(end), hasFailed: () => !isVerified };
}
