/** Files of a room: upload, list, remove, and receive one-time files. */
import type { Caller } from '../../core/admission.ts';
import { PoproomError } from '../../core/errors.ts';
import { fileEntryOf, type Upload, type UploadedFile } from '../../core/files/files.ts';
import type { KeyedRun } from '../../core/idempotency.ts';
import type { StoredFile } from '../../core/ports/files.ts';
import { toTimestamp } from '../../core/timestamp.ts';
import type { Confirmation, FileClaimed, FileList, FileUploaded } from '../../protocol/types.ts';
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
import { isNamedExactly, json } from '../response/reply.ts';
import { holdFile } from '../response/send.ts';
import { fileAddresses } from '../urls.ts';
import { tagOf } from './download-handlers.ts';
import type { Handler, HandlerDeps } from './handler.ts';
import { digestOf, fingerprintOf, hashing, keyedRun, replayHeaders } from './idempotent.ts';

export const fileHandlers = (deps: HandlerDeps) => ({
  uploadFile: uploadFile(deps),
  putFile: putFile(deps),
  listFiles: listFiles(deps),
  removeFile: removeFile(deps),
  restoreFile: restoreFile(deps),
  claimFile: claimFile(deps),
  confirmClaim: confirmClaim(deps),
  releaseClaim: releaseClaim(deps),
});

const uploadFile = (deps: HandlerDeps): Handler =>
  receiveFile(deps, 'uploadFile', (request, store) => {
    const type = header(request.raw, 'content-type');
    if (!type) throw new PoproomError('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type header is missing.');
    const isForm = /^multipart\/form-data\s*(;|$)/i.test(type);
    return isForm ? uploadForm(deps, request, store) : uploadRaw(request, { type, name: rawName(request) }, store);
  });

/** `curl -T` sends no content type. */
const putFile = (deps: HandlerDeps): Handler =>
  receiveFile(deps, 'putFile', (request, store) => {
    const { name = '' } = request.params;
    return uploadRaw(request, { type: header(request.raw, 'content-type') ?? '', name }, store);
  });

/** A file that is about to arrive. */
interface ArrivingFile extends Omit<Upload, 'deviceId' | 'run'> {
  caller: Caller;
  /** The announced length, or an upper bound if it is in a form. */
  size?: number | undefined;
  mostBytes?: number | undefined;
}

interface Outcome {
  file: UploadedFile;
  headers: Record<string, string>;
}

type StoreFile = (file: ArrivingFile) => Promise<Outcome>;

function receiveFile(
  deps: HandlerDeps,
  endpoint: 'uploadFile' | 'putFile',
  receive: (request: Request, store: StoreFile) => Promise<Outcome>,
): Handler {
  return async (request) => {
    const { linkTo } = fileAddresses(request, deps.links);
    refuseCompressed(request.raw);
    const { file, headers } = await receive(request, storeOnce(deps, request, endpoint));
    const { id: fileId, name: fileName, size: fileSize, once } = file;
    const fileUrl = linkTo(file);
    const body = { success: true, fileId, fileUrl, fileName, fileSize, ...(once && { once }) } as const;
    return json(201, body satisfies FileUploaded, { Location: fileUrl, ...headers });
  };
}

/** Stores a file. With an Idempotency-Key, its bytes are hashed while they arrive, also those of a repetition. */
function storeOnce(deps: HandlerDeps, request: Request, endpoint: 'uploadFile' | 'putFile'): StoreFile {
  const { files, rooms, space } = deps;

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

  return async (file) => {
    let digest = () => '';
    const fingerprint = () => fingerprintOf(file.name, file.type, file.folder, String(file.once), digest());
    const run = keyedRun<UploadedFile>(deps, request, endpoint, fingerprint);
    if (!run) return { file: await store(file), headers: {} };
    const earlier = await run.begin();
    if (earlier) {
      const hash = await hashOnly(file);
      digest = () => hash;
      return { file: run.replay(earlier), headers: replayHeaders(run) };
    }
    const hashed = hashing(file.bytes);
    digest = hashed.digest;
    try {
      return { file: await store({ ...file, bytes: hashed.bytes }, run), headers: replayHeaders(run) };
    } finally {
      hashed.stop();
      await run.end();
    }
  };
}

async function uploadForm({ space }: HandlerDeps, request: Request, store: StoreFile): Promise<Outcome> {
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

async function uploadRaw(
  request: Request,
  { name, type }: { name: string; type: string },
  store: StoreFile,
): Promise<Outcome> {
  const once = parseOnce(request.query.get('once'));
  const meta = header(request.raw, 'x-file-meta');
  return store({
    ...{ name, type, folder: request.query.get('folder') ?? '', once, caller: callerOf(request) },
    ...(meta !== undefined && { meta }),
    ...{ bytes: bodyOf(request.raw), whole: Promise.resolve(), signal: abortSignalOf(request.raw) },
    size: announcedLength(request.raw),
  });
}

function rawName({ raw, query }: Request): string {
  const name = decodeHeader(header(raw, 'x-file-name')) ?? query.get('fileName');
  // The sealed metadata contains the name.
  if (name || header(raw, 'x-file-meta') !== undefined) return name ?? '';
  throw badName('The file name is missing. Send it percent-encoded in X-File-Name, as ?fileName=, or in a form.');
}

function decodeHeader(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    if (/^[\x20-\x7e]*$/.test(text)) return decodeURIComponent(text);
  } catch {}
  throw badName('X-File-Name must be percent-encoded UTF-8.');
}

function badName(message: string): PoproomError {
  return new PoproomError('VALIDATION_FAILED', message, { details: { field: 'X-File-Name' } });
}

const listFiles =
  ({ files, links }: HandlerDeps): Handler =>
  async (request) => {
    const { linkTo } = fileAddresses(request, links);
    const limit = limitIn(request);
    const found = (await files.list(callerOf(request))).slice(0, limit);
    return json(200, { files: found.map((file) => fileEntryOf(file, linkTo)) } satisfies FileList);
  };

const removeFile = ({ files }: HandlerDeps): Handler =>
  changeFile((caller, fileId, { raw }) => {
    const expected = header(raw, 'if-match');
    const isExpected = (file: StoredFile) => expected === undefined || isNamedExactly(expected, tagOf(file));
    return files.remove(caller, fileId, isExpected);
  }, 'The file was removed.');
const restoreFile = ({ files }: HandlerDeps): Handler => changeFile(files.restore, 'The file was restored.');

type FileChange = (caller: Caller, fileId: string, request: Request) => Promise<void>;

function changeFile(change: FileChange, message: string): Handler {
  return async (request) => {
    const caller = await readCaller(request);
    await change(caller, request.params.fileId ?? '', request);
    return json(200, { success: true, message } satisfies Confirmation);
  };
}

const claimFile =
  ({ claims, links }: HandlerDeps): Handler =>
  async (request) => {
    const { linkTo } = fileAddresses(request, links);
    const caller = await readCaller(request);
    const { file, claim, expiresAt } = await claims.claim(caller, request.params.fileId ?? '');
    const url = `${linkTo(file)}?claim=${claim}`;
    return json(200, { claim, url, expiresAt: toTimestamp(expiresAt) } satisfies FileClaimed);
  };

const confirmClaim = ({ claims }: HandlerDeps): Handler =>
  endClaim(claims.confirm, 'The file was received and erased.');
const releaseClaim = ({ claims }: HandlerDeps): Handler => endClaim(claims.release, 'The file is available again.');

function endClaim(end: HandlerDeps['claims']['confirm'], message: string): Handler {
  return async (request) => {
    const caller = await readCaller(request);
    await end(caller, request.params.claim ?? '');
    return json(200, { success: true, message } satisfies Confirmation);
  };
}
