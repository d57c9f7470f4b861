/** Resumable uploads by tus 1.0 (https://tus.io/protocols/resumable-upload). */
import type { IncomingMessage } from 'node:http';
import { PoproomError } from '../../core/errors.ts';
import { type NewUpload, tooManyBytes, type UploadPart, type UploadStatus } from '../../core/files/uploads.ts';
import type { FileAddresses } from '../../core/live-gateway.ts';
import type { Checksum } from '../../core/ports.ts';
import { parseRoomCode } from '../../protocol/room-code.ts';
import { abortSignalOf } from '../request/aborted.ts';
import { parseOnce } from '../request/once.ts';
import {
  announcedLength,
  bodyOf,
  callerOf,
  hasBody,
  header,
  type Request,
  refuseCompressed,
} from '../request/request.ts';
import { fileAddresses, ownBase } from '../response/links.ts';
import type { Reply } from '../response/reply.ts';
import { checksumAlgorithms, tusVersion } from '../response/tus-headers.ts';
import type { Handler, Service } from './handler.ts';

export const createUpload =
  ({ uploads, links }: Service): Handler =>
  async (request) => {
    const { raw } = request;
    // Everything is checked before the upload is stored.
    const { linkTo } = fileAddresses(request, links);
    checkVersion(raw);
    refuseCompressed(raw);
    const upload = newUploadOf(raw);
    const first = hasBody(raw) ? firstPartOf(request, upload.size) : undefined;
    const caller = callerOf(request);
    let status: UploadStatus = await uploads.create(caller, upload);
    const room = parseRoomCode(caller.roomId);
    const location = `${ownBase(request, links)}/api/rooms/${room}/uploads/${status.id}`;
    if (first) status = await uploads.append(caller, status.id, first());
    const metadata = { 'Upload-Metadata': metadataOf(status) };
    return reply(201, { Location: location, ...offsetHeaders(status, linkTo), ...metadata });
  };

export const getUpload =
  ({ uploads, links }: Service): Handler =>
  async (request) => {
    checkVersion(request.raw);
    const status = await uploads.status(callerOf(request), request.params.fileId ?? '');
    return reply(200, {
      ...offsetHeaders(status, fileAddresses(request, links).linkTo),
      'Upload-Length': String(status.size),
      'Upload-Metadata': metadataOf(status),
    });
  };

export const continueUpload =
  ({ uploads, links }: Service): Handler =>
  async (request) => {
    const { raw } = request;
    const { linkTo } = fileAddresses(request, links);
    checkVersion(raw);
    refuseCompressed(raw);
    checkContentType(raw);
    const part = partOf(request, wholeNumber(raw, 'upload-offset'));
    const status = await uploads.append(callerOf(request), request.params.fileId ?? '', part());
    return reply(204, offsetHeaders(status, linkTo));
  };

export const cancelUpload =
  ({ uploads }: Service): Handler =>
  async (request) => {
    checkVersion(request.raw);
    await uploads.cancel(callerOf(request), request.params.fileId ?? '');
    return reply(204, {});
  };

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

function checkContentType(raw: IncomingMessage): void {
  if (header(raw, 'content-type')?.toLowerCase() === 'application/offset+octet-stream') return;
  throw new PoproomError('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type must be application/offset+octet-stream.');
}

/** Checks the headers. The returned function starts to receive the body. */
function partOf(request: Request, offset: number): () => UploadPart {
  const { raw } = request;
  const [checksum, length] = [checksumIn(raw), announcedLength(raw)];
  return () => {
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
  if (header(raw, 'upload-defer-length') !== undefined) {
    throw invalid('Upload-Defer-Length', 'An upload without a known size is not supported. Send Upload-Length.');
  }
  const size = wholeNumber(raw, 'upload-length');
  const metadata = parseMetadata(header(raw, 'upload-metadata') ?? '');
  const path = metadata.get('relativePath') ?? '';
  return {
    size,
    name: metadata.get('filename') ?? metadata.get('name') ?? '',
    type: metadata.get('filetype') ?? metadata.get('type') ?? '',
    folder: metadata.get('folder') ?? path.slice(0, Math.max(0, path.lastIndexOf('/'))),
    once: parseOnce(metadata.get('once')),
  };
}

const headerNames = { 'upload-length': 'Upload-Length', 'upload-offset': 'Upload-Offset' } as const;

function wholeNumber(raw: IncomingMessage, name: keyof typeof headerNames): number {
  const text = header(raw, name) ?? '';
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalid(headerNames[name], `${headerNames[name]} must be a whole number of bytes.`);
}

/** A key may have no value. */
function parseMetadata(text: string): Map<string, string> {
  const pairs = text.split(',').map((pair) => pair.trim().split(' '));
  const isValid = pairs.every(([key = '', value = '', ...rest]) => {
    return /^[\x21-\x2b\x2d-\x7e]*$/.test(key) && /^[A-Za-z0-9+/]*={0,2}$/.test(value) && rest.length === 0;
  });
  if (!isValid) throw invalid('Upload-Metadata', 'Upload-Metadata must be pairs of a key and a base64 value.');
  return new Map(pairs.map(([key = '', value = '']) => [key, Buffer.from(value, 'base64').toString()]));
}

function metadataOf({ name, type, folder, once }: UploadStatus): string {
  const pairs = { filename: name, filetype: type, ...(folder !== '' && { folder }), ...(once && { once: 'true' }) };
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
  if (length === undefined || digest.length !== length || rest.length > 0) {
    const known = Object.keys(checksumAlgorithms).join(', ');
    throw invalid('Upload-Checksum', `Upload-Checksum must be one of ${known} and a base64 checksum of its length.`);
  }
  return { algorithm, digest };
}

function invalid(field: string, message: string): PoproomError {
  return new PoproomError('VALIDATION_FAILED', message, { details: { field } });
}
