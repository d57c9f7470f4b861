/** Uploads and downloads files of an encrypted room. */
import type { FileEntry, FileUploaded } from '../../protocol/types.ts';
import { damaged } from '../crypto/errors.ts';
import { type CreateChunkCipher, createFileCipher, type EncryptedRoom, type FileMetadata } from '../crypto/index.ts';
import { PoproomError } from '../error.ts';
import type { ReceiveOptions } from '../receive.ts';
import type { DownloadOptions, ReceivableFile, RoomBase } from '../room-base.ts';
import type { CallOptions } from '../transport.ts';
import type { OnProgress, UploadOptions, UploadTarget } from '../upload.ts';
import type { UploadSource } from '../upload-source.ts';
import { countBytes } from '../watched-body.ts';
import { metadataOf } from './opened.ts';
import { serverIdOf, uploadSealed } from './uploads.ts';

/** The requests of the same room without encryption. */
type PlainFiles = Pick<RoomBase, 'download' | 'receive' | 'files' | 'cancelUpload'>;

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
    upload: async (source: UploadSource, options: UploadOptions = {}): Promise<FileUploaded> =>
      uploadSealed(room, await target(), source, options, createCipher),

    cancelUpload: (uploadId: string, options?: CallOptions): Promise<void> =>
      plain.cancelUpload(serverIdOf(uploadId), options),

    async download(file: Pick<FileEntry, 'fileUrl' | 'meta'>, options: DownloadOptions = {}): Promise<Response> {
      const metadata = metadataOf(room, await entryOf(file));
      const cipher = cipherOf(metadata);
      const { range, signal, timeoutSeconds, onProgress } = options;
      const reload = damagedUrls.delete(file.fileUrl) || options.reload;
      if (range && range.from === range.to) return plainResponse(new Blob([]).stream(), metadata, 0);
      const sealedRange = range && cipher.ciphertextFor(range);
      const response = await plain.download(file, { signal, timeoutSeconds, reload, range: sealedRange });
      const length = range ? range.to - range.from : metadata.size;
      const opened = onFailure(bodyOf(response).pipeThrough(cipher.decrypt(range)), () => noteDamage(file.fileUrl));
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

/** Browsers have cached their bytes, and would use them again. */
const damagedUrls = new Set<string>();
const maxDamaged = 100;

function noteDamage(fileUrl: string): void {
  damagedUrls.add(fileUrl);
  const [oldest] = damagedUrls;
  if (damagedUrls.size > maxDamaged && oldest) damagedUrls.delete(oldest);
}

function onFailure(source: ReadableStream<Uint8Array>, note: () => void): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error) => {
        note();
        throw error;
      });
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

const withProgress = (stream: ReadableStream<Uint8Array>, total: number, onProgress: OnProgress | undefined) =>
  onProgress ? stream.pipeThrough(countBytes(total, onProgress)) : stream;

const readBlob = (response: Response): Promise<Blob> => response.blob();

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
