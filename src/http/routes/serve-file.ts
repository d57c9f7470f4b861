/** Serves files with headers that keep them from running scripts on the origin of the service. */
import { byteCount, PoproomError } from '../../core/errors.ts';
import type { ByteRange, StoredFile } from '../../core/ports.ts';
import { overloaded } from '../request/body.ts';
import { header, type Request } from '../request/request.ts';
import { isNamedBy } from '../request/versions.ts';
import { errorBody } from '../response/error-reply.ts';
import { json, type Reply } from '../response/reply.ts';
import { bytesPerStream, holdFile, holdUntilSent } from '../response/unsent.ts';
import type { Handler, Service } from './handler.ts';

export const serveFile =
  ({ files, claims }: Service): Handler =>
  async (request) => {
    const file = await files.find(request.params.fileId ?? '');
    await claims.checkReadable(file, request.query.get('claim') ?? undefined);
    const headers = await fileHeaders(file, request.query.has('download'));
    if (isFresh(request, file)) return { status: 304, headers };
    const range = wantedRange(request, file);
    if (range === 'outside') return outside(file, request.id);
    const body = request.raw.method === 'HEAD' ? {} : { body: await open(files, request, file, range) };
    if (!range) return { status: 200, headers: { ...headers, 'Content-Length': String(file.size) }, ...body };
    const { start, end } = range;
    headers['Content-Range'] = `bytes ${start}-${end}/${file.size}`;
    return { status: 206, headers: { ...headers, 'Content-Length': String(end - start + 1) }, ...body };
  };

async function open(files: Service['files'], request: Request, file: StoredFile, range: ByteRange | undefined) {
  if (!holdUntilSent(request, request.budgets.downloads, bytesPerStream)) throw overloaded();
  holdFile(request);
  return files.read(file, range);
}

/** A tag is more exact than a time, so a time counts only without one. */
function isFresh({ raw }: Request, file: StoredFile): boolean {
  const tags = header(raw, 'if-none-match');
  if (tags !== undefined) return isNamedBy(tags, tagOf(file));
  return Date.parse(header(raw, 'if-modified-since') ?? '') >= Math.floor(file.uploadedAt / 1000) * 1000;
}

/** Types that browsers display without scripts. SVG and HTML are excluded. */
const inlineTypes =
  /^(image\/(a?png|jpeg|gif|webp|avif|bmp|tiff|hei[cf]|jxl|x-icon|vnd\.microsoft\.icon)|audio\/[^/]+|video\/[^/]+|application\/pdf|text\/plain)$/;

async function fileHeaders(file: StoredFile, toSave: boolean): Promise<Record<string, string>> {
  return {
    ...(await browserHeaders(file, toSave || file.once === true)),
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'Cross-Origin-Resource-Policy': 'cross-origin',
    // No copy of a one-time file may remain in a cache.
    'Cache-Control': file.once ? 'private, no-store' : 'private, no-cache',
    'Accept-Ranges': 'bytes',
    ETag: tagOf(file),
    'Last-Modified': new Date(file.uploadedAt).toUTCString(),
  };
}

/** The headers by which a browser shows a file, or saves it. */
export async function browserHeaders(
  { name, type }: Pick<StoredFile, 'name' | 'type'>,
  toSave: boolean,
): Promise<Record<string, string>> {
  const { create: contentDisposition } = await import('content-disposition');
  const inline = inlineTypes.test(type);
  const shown = inline ? type : 'application/octet-stream';
  return {
    'Content-Type': shown === 'text/plain' ? 'text/plain; charset=utf-8' : shown,
    'Content-Disposition': contentDisposition(name, {
      type: inline && !toSave ? 'inline' : 'attachment',
      fallback: asciiName(name),
    }),
  };
}

/** For programs that do not know `filename*`: without characters that a file system or a program interprets. */
function asciiName(name: string): string {
  const letters = name.normalize('NFD').replace(/\p{M}/gu, '');
  return letters.replace(/[^\x20-\x7e]|["%*/:<>?\\|]/gu, '_') || '_';
}

/** Files never change, so their unique blob name serves as the version. */
export const tagOf = ({ blob }: StoredFile) => `"${blob.slice(0, 32)}"`;

/** Multiple ranges, other units and malformed ranges return the whole file, as HTTP allows. */
function wantedRange({ raw }: Request, file: StoredFile): ByteRange | 'outside' | undefined {
  const asked = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(raw.headers.range ?? '');
  const condition = header(raw, 'if-range');
  if (!asked || file.size === 0 || (condition && condition !== tagOf(file))) return undefined;
  const [, first = '', last = ''] = asked;
  if (first === '') return last === '' ? undefined : lastBytes(Number(last), file.size);
  const [start, end] = [Number(first), last === '' ? Number.POSITIVE_INFINITY : Number(last)];
  if (end < start) return undefined;
  return start < file.size ? { start, end: Math.min(end, file.size - 1) } : 'outside';
}

/** If the file is shorter than `count`, the range covers all of it. */
function lastBytes(count: number, size: number): ByteRange | 'outside' {
  return count === 0 ? 'outside' : { start: Math.max(0, size - count), end: size - 1 };
}

function outside(file: StoredFile, requestId: string): Reply {
  const error = new PoproomError(
    'VALIDATION_FAILED',
    `The requested range is outside the file, which has ${byteCount(file.size)}.`,
    {
      details: { field: 'Range' },
    },
  );
  return json(416, errorBody(error, requestId), { 'Content-Range': `bytes */${file.size}` });
}
