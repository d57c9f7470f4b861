/** Resumable uploads by tus 1.0 (https://tus.io/protocols/resumable-upload). */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../core/admission.ts';
import { invalidField, PoproomError } from '../../core/errors.ts';
import { type NewUpload, tooManyBytes, type UploadPart, type UploadStatus } from '../../core/files/uploads.ts';
import type { FileAddresses } from '../../core/live-gateway.ts';
import type { Checksum } from '../../core/ports/files.ts';
import { parseRoomId } from '../../protocol/room-code.ts';
import { abortSignalOf } from '../request/body.ts';
import {
  announcedLength,
  bodyOf,
  callerOf,
  hasBody,
  header,
  mediaTypeOf,
  parseOnce,
  type Request,
  refuseCompressed,
} from '../request/request.ts';
import { checksumAlgorithms, type Reply, tusVersion } from '../response/reply.ts';
import { holdFile } from '../response/send.ts';
import { fileAddresses, ownBase } from '../urls.ts';
import type { HandlerDeps, Handlers } from './handler.ts';

export const uploadHandlers = ({ uploads, links }: HandlerDeps) =>
  ({
    async createUpload(request) {
      const { raw } = request;
      // Everything is checked before the upload is stored.
      const { linkTo } = fileAddresses(request, links);
      checkVersion(raw);
      refuseCompressed(raw);
      const upload = newUploadOf(raw);
      const first = hasBody(raw) ? firstPartOf(request, upload.size) : undefined;
      const caller = callerOf(request);
      const created = await uploads.create(caller, upload);
      const room = parseRoomId(caller.roomId);
      const location = `${ownBase(request, links)}/api/rooms/${room}/uploads/${created.id}`;
      const status = first ? await appendFirst(uploads, caller, created.id, first()) : created;
      const metadata = { 'Upload-Metadata': metadataOf(status) };
      return reply(201, { Location: location, ...offsetHeaders(status, linkTo), ...metadata });
    },

    async getUpload(request) {
      checkVersion(request.raw);
      const status = await uploads.status(callerOf(request), request.params.fileId ?? '');
      return reply(200, {
        ...offsetHeaders(status, fileAddresses(request, links).linkTo),
        'Upload-Length': String(status.size),
        'Upload-Metadata': metadataOf(status),
      });
    },

    async continueUpload(request) {
      const { raw } = request;
      const { linkTo } = fileAddresses(request, links);
      checkVersion(raw);
      refuseCompressed(raw);
      checkContentType(raw);
      const part = partOf(request, wholeNumber(raw, 'Upload-Offset'));
      const status = await uploads.append(callerOf(request), request.params.fileId ?? '', part());
      return reply(204, offsetHeaders(status, linkTo));
    },

    async cancelUpload(request) {
      checkVersion(request.raw);
      await uploads.cancel(callerOf(request), request.params.fileId ?? '');
      return reply(204, {});
    },
  }) satisfies Partial<Handlers>;

/** If this fails, nobody learns the URL of the upload, so it is cancelled. */
async function appendFirst(uploads: HandlerDeps['uploads'], caller: Caller, id: string, part: UploadPart) {
  try {
    return await uploads.append(caller, id, part);
  } catch (error) {
    await uploads.cancel(caller, id).catch(() => undefined);
    throw error;
  }
}

const reply = (status: number, headers: Record<string, string>): Reply => ({
  status,
  headers: { 'Cache-Control': 'no-store', ...headers },
});

/** The URL of a complete file saves the client a request. */
const offsetHeaders = (status: UploadStatus, linkTo: FileAddresses['linkTo']) => ({
  'Upload-Offset': String(status.received),
  'Upload-Expires': new Date(status.expiresAt).toUTCString(),
  ...(status.received === status.size && { 'X-File-Url': linkTo(status) }),
});

function checkVersion(raw: IncomingMessage): void {
  if (header(raw, 'tus-resumable') === tusVersion) return;
  throw new PoproomError('UNSUPPORTED_VERSION', `Send Tus-Resumable: ${tusVersion}, the only version supported here.`);
}

/** Generated clients, such as those of openapi-generator for Rust, send bytes without a type. */
function checkContentType(raw: IncomingMessage): void {
  if (raw.headers['content-type'] === undefined) return;
  if (mediaTypeOf(raw).type === 'application/offset+octet-stream') return;
  throw new PoproomError('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type must be application/offset+octet-stream.');
}

/** Checks the headers. The returned function starts to receive the body. */
function partOf(request: Request, offset: number): () => UploadPart {
  const { raw } = request;
  const [checksum, length] = [checksumIn(raw), announcedLength(raw)];
  return () => {
    holdFile(request);
    request.sendContinue();
    return { offset, bytes: bodyOf(raw), length, checksum, signal: abortSignalOf(raw) };
  };
}

function firstPartOf(request: Request, size: number): () => UploadPart {
  checkContentType(request.raw);
  if ((announcedLength(request.raw) ?? 0) > size) throw tooManyBytes(size);
  return partOf(request, 0);
}

function newUploadOf(raw: IncomingMessage): NewUpload {
  if (header(raw, 'upload-concat') !== undefined) {
    throw invalidField('Upload-Concat', 'Uploads cannot be concatenated. Send the file in one upload.');
  }
  if (header(raw, 'upload-defer-length') !== undefined) {
    throw invalidField('Upload-Defer-Length', 'An upload without a known size is not supported. Send Upload-Length.');
  }
  const size = wholeNumber(raw, 'Upload-Length');
  const metadata = parseMetadata(header(raw, 'upload-metadata') ?? '');
  const path = metadata.get('relativePath') ?? '';
  const meta = metadata.get('meta');
  return {
    size,
    name: metadata.get('filename') ?? metadata.get('name') ?? '',
    type: metadata.get('filetype') ?? metadata.get('type') ?? '',
    folder: metadata.get('folder') ?? path.slice(0, Math.max(0, path.lastIndexOf('/'))),
    once: parseOnce(metadata.get('once')),
    ...(meta !== undefined && { meta }),
  };
}

function wholeNumber(raw: IncomingMessage, name: 'Upload-Length' | 'Upload-Offset'): number {
  const text = header(raw, name.toLowerCase()) ?? '';
  // A larger number is well-formed, too. It exceeds every limit.
  if (/^\d+$/.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  throw invalidField(name, `${name} must be a whole number of bytes.`);
}

const isBase64 = (text: string) => /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.replace(/=+$/, '').length % 4 !== 1;

/** A key may have no value. */
function parseMetadata(text: string): Map<string, string> {
  const pairs = text.split(',').map((pair) => pair.trim().split(' '));
  const isValid = pairs.every(([key = '', value = '', ...rest]) => {
    return /^[\x21-\x2b\x2d-\x7e]*$/.test(key) && isBase64(value) && rest.length === 0;
  });
  const areUnique = new Set(pairs.map(([key]) => key)).size === pairs.length;
  if (!isValid || !areUnique)
    throw invalidField('Upload-Metadata', 'Upload-Metadata must be pairs of a unique key and a base64 value.');
  return new Map(pairs.map(([key = '', value = '']) => [key, Buffer.from(value, 'base64').toString()]));
}

function metadataOf({ name, type, folder, once, meta }: UploadStatus): string {
  const optional = { ...(folder !== '' && { folder }), ...(once && { once: 'true' }), ...(meta && { meta }) };
  const pairs = { filename: name, filetype: type, ...optional };
  return Object.entries(pairs)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',');
}

function checksumIn(raw: IncomingMessage): Checksum | undefined {
  const text = header(raw, 'upload-checksum');
  if (text === undefined) return undefined;
  const [algorithm = '', value = '', ...rest] = text.split(' ');
  const length = checksumAlgorithms[algorithm];
  const digest = Buffer.from(value, 'base64');
  if (length === undefined || digest.length !== length || !isBase64(value) || rest.length > 0) {
    const known = Object.keys(checksumAlgorithms).join(', ');
    throw invalidField(
      'Upload-Checksum',
      `Upload-Checksum must be one of ${known} and a base64 checksum of its length.`,
    );
  }
  return { algorithm, digest };
}
