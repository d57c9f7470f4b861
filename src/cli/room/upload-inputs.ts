/** Opens and checks all files to upload, before the first one is sent. */
import { constants, createReadStream, openAsBlob, type Stats } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { PoproomError } from '../../client/index.ts';
import { largestFile } from '../../protocol/largest-file.ts';
import type { Input } from '../command.ts';
import { withFileErrors } from '../file-error.ts';
import { printable } from '../printable.ts';
import { UsageError } from '../usage-error.ts';

export interface UploadInput {
  name: string;
  /** Undefined if it cannot be derived from the name. */
  type: string | undefined;
  bytes: Blob;
}

export async function readUploadInputs(input: Input): Promise<readonly UploadInput[]> {
  const [, ...paths] = input.args;
  const [name, type] = [input.value('name'), readType(input.value('type'))];
  if (paths.length === 0) throw new UsageError('Which files? Give their paths, or - for standard input.');
  if (name !== undefined && paths.length > 1) throw new UsageError('--name needs exactly one file.');
  if (paths.includes('-') && !name) throw new UsageError('Standard input needs a file name; add --name NAME.');
  if (name === '') throw new UsageError('--name must not be empty.');
  const opened = [];
  for (const path of paths) opened.push({ name: name ?? basename(path), bytes: await open(path, name) });
  const { lookup } = await import('mrmime');
  return opened.map(({ name, bytes }) => ({ name, bytes, type: type ?? lookup(name) }));
}

/** The type becomes a header. The server would parse a multipart type as a form. */
function readType(text: string | undefined): string | undefined {
  if (text === undefined || /^(?!multipart\/)[\w.+-]+\/[\w.+-]+(;[ -~]*)?$/i.test(text)) return text;
  throw new UsageError(`"${printable(text)}" is not a valid media type for a file; example: text/csv`);
}

async function open(path: string, name: string | undefined): Promise<Blob> {
  if (path === '-') return readWhole(name ?? path, process.stdin);
  const stats = await withFileErrors(path, () => stat(path));
  if (stats.isDirectory()) throw new UsageError(folderHint(path));
  await withFileErrors(path, () => access(path, constants.R_OK));
  // A pipe, such as that of `<(…)`, has no size.
  if (!stats.isFile()) return withFileErrors(path, () => readWhole(path, createReadStream(path)));
  return openFile(path, stats);
}

async function openFile(path: string, { size }: Stats): Promise<Blob> {
  if (size > largestFile) throw tooLarge(path);
  return withFileErrors(path, () => openAsBlob(path));
}

async function readWhole(name: string, stream: AsyncIterable<Buffer>): Promise<Blob> {
  const chunks: Buffer<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > largestFile) throw tooLarge(name);
    chunks.push(chunk as Buffer<ArrayBuffer>);
  }
  return new Blob(chunks);
}

const tooLarge = (name: string) =>
  new PoproomError(
    'FILE_TOO_LARGE',
    `${printable(name)} is too large: a file may have at most 10 MiB (${largestFile} bytes).`,
  );

const folderHint = (path: string) =>
  `${path} is a folder; send it as an archive: tar c ${path} | poproom send CODE - --name ${basename(path)}.tar`;
