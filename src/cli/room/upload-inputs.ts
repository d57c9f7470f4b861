/** What is to be sent: every file is looked at before the first goes out. */
import { constants, createReadStream, openAsBlob, type Stats } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { PoproomError } from '../../client/index.ts';
import { largestFile } from '../../protocol/largest-file.ts';
import type { Input } from '../command.ts';
import { onFile } from '../file-error.ts';
import { printable } from '../printable.ts';
import { UsageError } from '../usage-error.ts';

export interface UploadInput {
  name: string;
  /** Undefined where the name tells nothing. */
  type: string | undefined;
  bytes: Blob;
}

export async function readUploadInputs(input: Input): Promise<readonly UploadInput[]> {
  const [, ...paths] = input.args;
  const [name, type] = [input.value('name'), readType(input.value('type'))];
  if (paths.length === 0) throw new UsageError('Which files? Say their paths, or - for standard input.');
  if (name !== undefined && paths.length > 1) throw new UsageError('One --name cannot be that of several files.');
  if (paths.includes('-') && !name)
    throw new UsageError('What comes on standard input needs a name: say it by --name.');
  if (name === '') throw new UsageError('A name cannot be empty.');
  const opened = [];
  for (const path of paths) opened.push({ name: name ?? basename(path), bytes: await open(path, name) });
  const { lookup } = await import('mrmime');
  return opened.map(({ name, bytes }) => ({ name, bytes, type: type ?? lookup(name) }));
}

/** A header is made of it; as a form, the file would be taken apart. */
function readType(text: string | undefined): string | undefined {
  if (text === undefined || /^(?!multipart\/)[\w.+-]+\/[\w.+-]+(;[ -~]*)?$/i.test(text)) return text;
  throw new UsageError(`"${printable(text)}" is no media type of a file; one looks like text/csv.`);
}

async function open(path: string, name: string | undefined): Promise<Blob> {
  if (path === '-') return readWhole(name ?? path, process.stdin);
  const about = await onFile(path, () => stat(path));
  if (about.isDirectory()) throw new UsageError(aboutFolder(path));
  await onFile(path, () => access(path, constants.R_OK));
  // What another program writes, as of `<(…)`, has no size.
  if (!about.isFile()) return onFile(path, () => readWhole(path, createReadStream(path)));
  return openFile(path, about);
}

async function openFile(path: string, { size }: Stats): Promise<Blob> {
  if (size > largestFile) throw tooLarge(path);
  return onFile(path, () => openAsBlob(path));
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
    `A file may have at most 10 MB (${largestFile} bytes), and ${printable(name)} has more.`,
  );

const aboutFolder = (path: string) =>
  `${path} is a folder; send it as one file: tar c ${path} | poproom send CODE - --name ${basename(path)}.tar`;
