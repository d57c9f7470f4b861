/**
 * Files of a room: upload, list, remove, receive one-time files, and download them, each with headers that keep it from
 * running scripts on the origin of the service, or all as a zip.
 */
import { addAbortSignal, Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { Caller } from '../../core/admission.ts';
import { byteCount, invalidField, PoproomError, unavailable } from '../../core/errors.ts';
import { fileEntryOf, isFileId, type Upload, type UploadedFile } from '../../core/files/files.ts';
import { invalidTicket, type RoomZip, type Selection } from '../../core/files/zips.ts';
import type { KeyedRun } from '../../core/idempotency.ts';
import type { ByteRange, StoredFile } from '../../core/ports/files.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import { issueTicketRequest } from '../../protocol/schemas.ts';
import type { FileClaimed, FileList, FileUploaded, IssueTicketRequest, TicketIssued } from '../../protocol/types.ts';
import { planZip, type ZipFile, type ZipPlan, zipChunks } from '../../zip/format.ts';
import { abortSignalOf, overloaded } from '../request/body.ts';
import { formOverhead, receiveForm } from '../request/form.ts';
import { readCaller, readJson } from '../request/parse-body.ts';
import {
  announcedLength,
  bodyOf,
  callerOf,
  header,
  limitIn,
  parseOnce,
  type Request,
  refuseCompressed,
} from '../request/request.ts';
import { confirmation, errorBody, isNamedBy, isNamedExactly, json, type Reply } from '../response/reply.ts';
import { bytesPerStream, holdFile, holdUntilSent } from '../response/send.ts';
import { fileAddresses, ownBase } from '../urls.ts';
import {
  confirmed,
  digestOf,
  fingerprintOf,
  type HandlerDeps,
  type Handlers,
  hashing,
  keyedRun,
  replayHeaders,
} from './handler.ts';

export const fileHandlers = (deps: HandlerDeps) => {
  const { files, claims, zips, uploads, links } = deps;
  return {
    async uploadFile(request) {
      const store = storeOnce(deps, request, 'uploadFile');
      const type = header(request.raw, 'content-type');
      if (!type) throw new PoproomError('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type header is missing.');
      const isForm = /^multipart\/form-data\s*(;|$)/i.test(type);
      return isForm ? uploadForm(deps, request, store) : uploadRaw(request, rawName(request), store);
    },

    putFile: async (request) => uploadRaw(request, request.params.name ?? '', storeOnce(deps, request, 'putFile')),

    async listFiles(request) {
      const { linkTo } = fileAddresses(request, links);
      const limit = limitIn(request);
      const found = (await files.list(callerOf(request))).slice(0, limit);
      return json(200, { files: found.map((file) => fileEntryOf(file, linkTo)) } satisfies FileList);
    },

    async removeFile(request) {
      const caller = await readCaller(request);
      const expected = header(request.raw, 'if-match');
      const isExpected = (file: StoredFile) => expected === undefined || isNamedExactly(expected, tagOf(file));
      await files.remove(caller, request.params.fileId ?? '', isExpected);
      return confirmation('The file was removed.');
    },

    restoreFile: confirmed('The file was restored.', (caller, { fileId = '' }) => files.restore(caller, fileId)),

    async claimFile(request) {
      const { linkTo } = fileAddresses(request, links);
      const caller = await readCaller(request);
      const { file, claim, expiresAt } = await claims.claim(caller, request.params.fileId ?? '');
      const url = `${linkTo(file)}?claim=${claim}`;
      return json(200, { claim, url, expiresAt: toTimestamp(expiresAt) } satisfies FileClaimed);
    },

    confirmClaim: confirmed('The file was received and erased.', (caller, { claim = '' }) =>
      claims.confirm(caller, claim),
    ),

    releaseClaim: confirmed('The file is available again.', (caller, { claim = '' }) => claims.release(caller, claim)),

    async serveFile(request) {
      const file = await files.find(request.params.fileId ?? '');
      await claims.checkReadable(file, request.query.get('claim') ?? undefined);
      const headers = await fileHeaders(file, request.query.has('download'));
      if (isFresh(request, file)) return { status: 304, headers };
      const range = wantedRange(request, file);
      if (range === 'outside') return outside(file, request.id);
      const { start, end } = range ?? { start: 0, end: file.size - 1 };
      headers['Content-Length'] = String(end - start + 1);
      if (range) headers['Content-Range'] = `bytes ${start}-${end}/${file.size}`;
      const body = request.raw.method === 'HEAD' ? {} : { body: await open(files, request, file, range) };
      return { status: range ? 206 : 200, headers, ...body };
    },

    /** A ticket to download the archive by a link, or for uploads that are announced together. */
    async issueTicket(request) {
      const base = ownBase(request, links);
      const { pin, uploads: requested } = await readJson<IssueTicketRequest>(request, issueTicketRequest);
      const caller = callerOf(request, pin);
      const isArchive = requested === undefined;
      const issued = isArchive ? await zips.issueTicket(caller) : await uploads.announce(caller, requested);
      const { roomId, ticket, expiresAt, ...granted } = issued;
      const url = `${base}/api/rooms/${roomId}/${isArchive ? `files.zip?ticket=${ticket}` : 'upload'}`;
      return json(201, { ticket, url, expiresAt: toTimestamp(expiresAt), ...granted } satisfies TicketIssued);
    },

    async downloadZip(request) {
      const { code, files } = await listZipped(deps, request);
      const plan = planZip(files);
      const headers = zipHeaders(code, plan.length);
      if (request.raw.method === 'HEAD') return { status: 200, headers };
      const bytes = bytesPerStream + bytesPerFile * files.length;
      if (!holdUntilSent(request, request.budgets.archives, bytes))
        throw unavailable('Too many archives are being downloaded.', 30);
      holdFile(request);
      return { status: 200, headers, body: zipStream(plan, zips.open) };
    },
  } satisfies Partial<Handlers>;
};

interface ArrivingFile extends Omit<Upload, 'deviceId' | 'run'> {
  caller: Caller;
  /** The announced length, or an upper bound if it is in a form. */
  size?: number | undefined;
  mostBytes?: number | undefined;
}

type StoreFile = (file: ArrivingFile) => Promise<Reply>;

/** Stores a file. With an Idempotency-Key, its bytes are hashed while they arrive, also those of a repetition. */
function storeOnce(deps: HandlerDeps, request: Request, endpoint: 'uploadFile' | 'putFile'): StoreFile {
  const { files, rooms, space } = deps;
  const { linkTo } = fileAddresses(request, deps.links);
  refuseCompressed(request.raw);

  async function store({ caller, size, mostBytes, ...file }: ArrivingFile, run?: KeyedRun<UploadedFile>) {
    const prepared = await files.prepareUpload(caller, size, mostBytes);
    holdFile(request);
    request.sendContinue();
    return files.upload(prepared, { ...file, deviceId: caller.deviceId, run });
  }

  /** A repetition needs the PIN too, even if it changes nothing. */
  async function hashOnly({ caller, bytes, signal, whole }: ArrivingFile): Promise<string> {
    await rooms.access(caller, 'addFile');
    request.sendContinue();
    const hash = await digestOf(bytes, space, signal);
    await whole;
    return hash;
  }

  function reply(file: UploadedFile, run?: KeyedRun<UploadedFile>): Reply {
    const { id: fileId, name: fileName, size: fileSize, once } = file;
    const fileUrl = linkTo(file);
    const body = { success: true, fileId, fileUrl, fileName, fileSize, ...(once && { once }) } as const;
    return json(201, body satisfies FileUploaded, { Location: fileUrl, ...replayHeaders(run) });
  }

  return async (file) => {
    let digest = () => '';
    const fingerprint = () => fingerprintOf(file.name, file.type, file.folder, String(file.once), digest());
    const run = keyedRun<UploadedFile>(deps, request, endpoint, fingerprint);
    if (!run) return reply(await store(file));
    const earlier = await run.begin();
    if (earlier) {
      const hash = await hashOnly(file);
      digest = () => hash;
      return reply(run.replay(earlier), run);
    }
    const hashed = hashing(file.bytes);
    digest = hashed.digest;
    try {
      return reply(await store({ ...file, bytes: hashed.bytes }, run), run);
    } finally {
      hashed.stop();
      await run.end();
    }
  };
}

async function uploadForm({ space }: HandlerDeps, request: Request, store: StoreFile): Promise<Reply> {
  const announced = announcedLength(request.raw);
  if (space.isTooLarge((announced ?? 0) - formOverhead)) throw space.tooLarge();
  request.sendContinue();
  const signal = abortSignalOf(request.raw);
  return receiveForm(request.raw, { signal, space }, async ({ pin, folder = '', once, ...file }) =>
    store({
      ...file,
      caller: callerOf(request, pin),
      mostBytes: announced,
      folder: request.query.get('folder') ?? folder,
      once: parseOnce(request.query.get('once') ?? once),
      signal,
    }),
  );
}

/** `curl -T` sends no content type. */
async function uploadRaw(request: Request, name: string, store: StoreFile): Promise<Reply> {
  const { raw, query } = request;
  const meta = header(raw, 'x-file-meta');
  return store({
    name,
    type: header(raw, 'content-type') ?? '',
    folder: query.get('folder') ?? '',
    once: parseOnce(query.get('once')),
    caller: callerOf(request),
    ...(meta !== undefined && { meta }),
    ...{ bytes: bodyOf(raw), size: announcedLength(raw), whole: Promise.resolve(), signal: abortSignalOf(raw) },
  });
}

function rawName({ raw, query }: Request): string {
  const name = decodeHeader(header(raw, 'x-file-name')) ?? query.get('fileName');
  // The sealed metadata contains the name.
  if (name || header(raw, 'x-file-meta') !== undefined) return name ?? '';
  throw invalidField(
    'X-File-Name',
    'The file name is missing. Send it percent-encoded in X-File-Name, as ?fileName=, or in a form.',
  );
}

function decodeHeader(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    if (/^[\x20-\x7e]*$/.test(text)) return decodeURIComponent(text);
  } catch {}
  throw invalidField('X-File-Name', 'X-File-Name must be percent-encoded UTF-8.');
}

async function open(files: HandlerDeps['files'], request: Request, file: StoredFile, range: ByteRange | undefined) {
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
const tagOf = ({ blob }: StoredFile) => `"${blob.slice(0, 32)}"`;

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
const lastBytes = (count: number, size: number): ByteRange | 'outside' =>
  count === 0 ? 'outside' : { start: Math.max(0, size - count), end: size - 1 };

function outside(file: StoredFile, requestId: string): Reply {
  const error = invalidField('Range', `The requested range is outside the file, which has ${byteCount(file.size)}.`);
  return json(416, errorBody(error, requestId), { 'Content-Range': `bytes */${file.size}` });
}

/** Proxies reject longer URLs. */
const maxSelected = 200;

/** The memory of an archive while it is sent, besides its stream: the list of its files. */
const bytesPerFile = 1024;

function listZipped({ zips }: HandlerDeps, request: Request): Promise<RoomZip> {
  const selection = selectionIn(request);
  if (!request.query.has('ticket')) return zips.list(callerOf(request), selection);
  if (request.ticket === undefined) throw invalidTicket();
  return zips.listByTicket(request.params.roomId ?? '', request.ticket, selection);
}

function selectionIn({ query }: Request): Selection {
  const ids = query.get('files')?.split(',');
  if (!ids) return undefined;
  if (ids.length <= maxSelected && ids.every(isFileId)) return new Set(ids);
  throw invalidField('files', `"files" must be 1 to ${maxSelected} ids of files, separated by commas.`);
}

const zipHeaders = (code: string | undefined, length: number): Record<string, string> => ({
  'Content-Type': 'application/zip',
  'Content-Length': String(length),
  'Content-Disposition': `attachment; filename="${code === undefined ? 'poproom' : `poproom-${code}`}.zip"`,
  'Content-Security-Policy': "sandbox; default-src 'none'",
  'Cache-Control': 'no-store',
  // The checksums are known only after all earlier bytes have been read.
  'Accept-Ranges': 'none',
});

/**
 * A zip archive as a stream, as fast as it is read: one open file and about two chunks at a time. Destroying the stream
 * closes the open file. If a file is not available, `open` rejects, which ends the archive with an error.
 */
export function zipStream<File extends ZipFile>(
  plan: ZipPlan<File>,
  open: (file: File) => Promise<Readable>,
): Readable {
  const stopped = new AbortController();
  const chunks = zipChunks(plan, async (file) => addAbortSignal(stopped.signal, await open(file)), crc32);
  return new Readable({
    read() {
      chunks.next().then(
        ({ done, value }) => this.push(done ? null : value),
        (error) => this.destroy(error),
      );
    },
    destroy(error, callback) {
      // A generator ends only between two chunks, and the store of a file may never send the next one.
      stopped.abort();
      const close = () => callback(error);
      chunks.return().then(close, close);
    },
  });
}
