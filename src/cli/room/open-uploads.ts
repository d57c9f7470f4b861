/** Checks the files to upload against the limits of the server, and opens them. */
import { resolve } from 'node:path';
import type { Room } from '../../client/index.ts';
import { pathInRoom } from './find-file.ts';
import type { LocalFile } from './local-file.ts';
import { readRoomSpace } from './room-space.ts';
import { type UnfinishedUploads, uploadKey } from './unfinished-uploads.ts';
import { openInput, type UploadInput } from './upload-inputs.ts';

export interface Upload extends UploadInput {
  /** Shown to the user. */
  name: string;
  /** Undefined for standard input and pipes, which cannot be read again. */
  key: string | undefined;
  /** The id of an earlier upload of the same file, if there is one. */
  uploadId: string | undefined;
  bytes: LocalFile;
}

type Candidate = Omit<Upload, 'bytes'>;

/** Larger files are checked first, because a rejection by the server would come late. */
const checkedFrom = 5 * 1024 * 1024;

export async function openUploads(
  room: Room,
  inputs: readonly UploadInput[],
  unfinished: UnfinishedUploads,
  signal: AbortSignal,
): Promise<readonly Upload[]> {
  const candidates = toCandidates(room, inputs, unfinished);
  const space = mustCheck(candidates) ? await readRoomSpace(room, signal) : undefined;
  for (const { name, version } of candidates) space?.checkFile(name, version?.size ?? 0);
  await space?.checkRoom(candidates.map(({ version }) => version?.size ?? 0));
  const opened: Upload[] = [];
  for (const each of candidates) {
    const check = (bytes: number) => space?.checkFile(each.name, bytes);
    opened.push({ ...each, bytes: await openInput(each, { signal, check }) });
  }
  if (candidates.some(hasUnknownSize)) await space?.checkRoom(opened.map(({ bytes }) => bytes.size));
  return opened;
}

function toCandidates(room: Room, inputs: readonly UploadInput[], unfinished: UnfinishedUploads): Candidate[] {
  const counts = new Map<string, number>();
  return inputs.map((input) => {
    // The same file may be given twice.
    const count = (counts.get(input.path) ?? 0) + 1;
    counts.set(input.path, count);
    const key = keyOf(room, input, count);
    return { ...input, name: pathInRoom(input), key, uploadId: key && unfinished.find(key) };
  });
}

/** Equal if the same command would upload the same file. The link of an encrypted room contains its key, which is secret. */
function keyOf(room: Room, input: UploadInput, count: number): string | undefined {
  const { path, fileName, folder, type, version, once } = input;
  if (!version) return undefined;
  const file = [resolve(path), version.size, version.mtimeMs, version.ctimeMs, fileName, folder, type];
  return uploadKey([room.link, ...file, count, ...(once ? ['once'] : [])]);
}

/** With an earlier upload, this also finds out whether the room requires a PIN: the SDK's first request cannot. */
const mustCheck = (candidates: readonly Candidate[]) =>
  candidates.length > 1 ||
  candidates.some((each) => hasUnknownSize(each) || (each.version?.size ?? 0) > checkedFrom || each.uploadId);

const hasUnknownSize = ({ version }: Candidate) => version === undefined;
