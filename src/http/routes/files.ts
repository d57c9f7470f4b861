/** Files of a room: upload, list, remove. */
import type { Caller } from '../../core/admission.ts';
import { PoproomError } from '../../core/errors.ts';
import { fileEntryOf } from '../../core/files/files.ts';
import type { StoredFile } from '../../core/ports.ts';
import { pinOnlyRequest } from '../../protocol/schemas.ts';
import type { Confirmation, FileList, FileUploaded } from '../../protocol/types.ts';
import { abortSignalOf } from '../request/aborted.ts';
import { formOverhead, receiveForm } from '../request/form.ts';
import { readJson, smallBody } from '../request/json-body.ts';
import { parseOnce } from '../request/once.ts';
import {
  announcedLength,
  bodyOf,
  callerOf,
  header,
  limitIn,
  type Request,
  refuseCompressed,
} from '../request/request.ts';
import { isNamedExactly } from '../request/versions.ts';
import { fileAddresses } from '../response/links.ts';
import { json } from '../response/reply.ts';
import type { Handler, Service } from './handler.ts';
import { tagOf } from './serve-file.ts';

export const uploadFile = (service: Service): Handler =>
  receiveFile(service, (request) => {
    const type = header(request.raw, 'content-type');
    if (!type) throw new PoproomError('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type header is missing.');
    const isForm = /^multipart\/form-data\s*(;|$)/i.test(type);
    return isForm ? uploadForm(service, request) : uploadRaw(service, request, { type, name: rawName(request) });
  });

/** `curl -T` sends no content type. */
export const putFile = (service: Service): Handler =>
  receiveFile(service, (request) => {
    const { name = '' } = request.params;
    return uploadRaw(service, request, { type: header(request.raw, 'content-type') ?? '', name });
  });

function receiveFile({ links }: Service, receive: (request: Request) => Promise<StoredFile>): Handler {
  return async (request) => {
    const { linkTo } = fileAddresses(request, links);
    refuseCompressed(request.raw);
    const file = await receive(request);
    const { id: fileId, name: fileName, size: fileSize, once } = file;
    const fileUrl = linkTo(file);
    const body = { success: true, fileId, fileUrl, fileName, fileSize, ...(once && { once }) } as const;
    return json(201, body satisfies FileUploaded, { Location: fileUrl });
  };
}

async function uploadForm({ files, space }: Service, request: Request): Promise<StoredFile> {
  const announced = announcedLength(request.raw);
  if (space.isTooLarge((announced ?? 0) - formOverhead)) throw space.tooLarge();
  request.sendContinue();
  const signal = abortSignalOf(request.raw);
  return receiveForm(request.raw, { signal, space }, async ({ pin, folder = '', once, ...file }) => {
    const caller = callerOf(request, pin);
    const isOnce = parseOnce(request.query.get('once') ?? once);
    const prepared = await files.prepareUpload(caller, undefined, announced);
    return files.upload(prepared, {
      ...file,
      folder: request.query.get('folder') ?? folder,
      once: isOnce,
      deviceId: caller.deviceId,
      signal,
    });
  });
}

async function uploadRaw(
  { files }: Service,
  request: Request,
  { name, type }: { name: string; type: string },
): Promise<StoredFile> {
  const once = parseOnce(request.query.get('once'));
  const meta = header(request.raw, 'x-file-meta');
  const size = announcedLength(request.raw);
  const caller = callerOf(request);
  const prepared = await files.prepareUpload(caller, size);
  request.sendContinue();
  return files.upload(prepared, {
    ...{ name, type, folder: request.query.get('folder') ?? '', once, deviceId: caller.deviceId },
    ...(meta !== undefined && { meta }),
    ...{ bytes: bodyOf(request.raw), whole: Promise.resolve(), signal: abortSignalOf(request.raw) },
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

export const listFiles =
  ({ files, links }: Service): Handler =>
  async (request) => {
    const { linkTo } = fileAddresses(request, links);
    const limit = limitIn(request);
    const found = (await files.list(callerOf(request))).slice(0, limit);
    return json(200, { files: found.map((file) => fileEntryOf(file, linkTo)) } satisfies FileList);
  };

export const removeFile = ({ files }: Service): Handler =>
  changeFile((caller, fileId, { raw }) => {
    const expected = header(raw, 'if-match');
    const isExpected = (file: StoredFile) => expected === undefined || isNamedExactly(expected, tagOf(file));
    return files.remove(caller, fileId, isExpected);
  }, 'The file was removed.');
export const restoreFile = ({ files }: Service): Handler => changeFile(files.restore, 'The file was restored.');

type FileChange = (caller: Caller, fileId: string, request: Request) => Promise<void>;

function changeFile(change: FileChange, message: string): Handler {
  return async (request) => {
    const { pin } = await readJson<{ pin?: string }>(request, pinOnlyRequest, smallBody);
    await change(callerOf(request, pin), request.params.fileId ?? '', request);
    return json(200, { success: true, message } satisfies Confirmation);
  };
}
