/** Files of a room: upload, list, remove, and receive one-time files. */
import type { Caller } from '../../core/admission.ts';
import { invalidField, PoproomError } from '../../core/errors.ts';
import { fileEntryOf, type Upload, type UploadedFile } from '../../core/files/files.ts';
import type { KeyedRun } from '../../core/idempotency.ts';
import type { StoredFile } from '../../core/ports/files.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import type { FileClaimed, FileList, FileUploaded } from '../../protocol/types.ts';
import { abortSignalOf } from '../request/body.ts';
import { formOverhead, receiveForm } from '../request/form.ts';
import { readCaller } from '../request/parse-body.ts';
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
import { confirmation, isNamedExactly, json, type Reply } from '../response/reply.ts';
import { holdFile } from '../response/send.ts';
import { fileAddresses } from '../urls.ts';
import { tagOf } from './download-handlers.ts';
import { confirmed, type HandlerDeps, type Handlers } from './handler.ts';
import { digestOf, fingerprintOf, hashing, keyedRun, replayHeaders } from './idempotent.ts';

export const fileHandlers = (deps: HandlerDeps) => {
  const { files, claims, links } = deps;
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
  } satisfies Partial<Handlers>;
};

/** A file that is about to arrive. */
interface ArrivingFile extends Omit<Upload, 'deviceId' | 'run'> {
  caller: Caller;
  /** The announced length, or an upper bound if it is in a form. */
  size?: number | undefined;
  mostBytes?: number | undefined;
}

/** Returns the response. */
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
