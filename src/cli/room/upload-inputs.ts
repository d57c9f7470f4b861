/** Finds and opens all files to upload, before the first one is sent. */
import { constants, createReadStream, type Stats } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Input } from '../command.ts';
import { FileError, withFileErrors } from '../file-error.ts';
import { printable } from '../printable.ts';
import { UsageError } from '../usage-error.ts';
import { listFolder } from './folder-files.ts';
import { type FileVersion, LocalFile } from './local-file.ts';
import { spool } from './spool.ts';

export interface UploadInput {
  /** `-` is standard input. */
  path: string;
  /** The name in the room. */
  fileName: string;
  /** The path of its folder in the room. */
  folder: string | undefined;
  /** Undefined if it cannot be derived from the name. */
  type: string | undefined;
  /** Whether it becomes a one-time file. */
  once: boolean;
  /** Undefined for standard input and pipes, which have no size. */
  version: FileVersion | undefined;
}

export async function findUploadInputs(input: Input, paths: readonly string[]): Promise<readonly UploadInput[]> {
  const [name, type] = [input.value('name'), readType(input.value('type'))];
  if (paths.length === 0) throw new UsageError('Which files? Give their paths, or - for standard input.');
  if (name !== undefined && paths.length > 1) throw new UsageError('--name needs exactly one file.');
  if (paths.includes('-') && !name) throw new UsageError('Standard input needs a file name; add --name NAME.');
  if (name === '') throw new UsageError('--name must not be empty.');
  const found: FoundFile[] = [];
  for (const path of paths) found.push(...(await find(path, input)));
  if (found.length === 0) throw new FileError(`There are no files in ${paths.join(', ')}.`);
  const { lookup } = await import('mrmime');
  return found.map(({ path, folder, version }) => {
    const fileName = name ?? basename(path);
    return { path, folder, version, fileName, type: type ?? lookup(fileName), once: input.isSet('once') };
  });
}

/** Reads standard input and pipes to their end. `check` is called with the bytes that they have so far. */
export async function openInput(
  { path, version }: UploadInput,
  options: { signal: AbortSignal; check(bytes: number): void },
): Promise<LocalFile> {
  if (version) return new LocalFile(path, version);
  if (path === '-') return spool(process.stdin, options);
  return withFileErrors(path, () => spool(createReadStream(path), options));
}

type FoundFile = Pick<UploadInput, 'path' | 'folder' | 'version'>;

async function find(path: string, input: Input): Promise<FoundFile[]> {
  if (path === '-') return [{ path, folder: undefined, version: undefined }];
  const stats = await withFileErrors(path, () => stat(path));
  if (!stats.isDirectory()) return [await findFile(path, undefined, stats)];
  if (!input.isSet('recursive')) throw new UsageError(`${path} is a folder; add -r to send the files in it.`);
  if (input.value('name') !== undefined) throw new UsageError('--name cannot be used with a folder.');
  const files = await listFolder(path);
  return Promise.all(
    files.map(async ({ path, folder }) => findFile(path, folder, await withFileErrors(path, () => stat(path)))),
  );
}

/** A pipe, such as that of `<(…)`, has no size. */
async function findFile(path: string, folder: string | undefined, stats: Stats): Promise<FoundFile> {
  await withFileErrors(path, () => access(path, constants.R_OK));
  const { size, mtimeMs, ctimeMs } = stats;
  return { path, folder, version: stats.isFile() ? { size, mtimeMs, ctimeMs } : undefined };
}

/** The type becomes a header. The server would parse a multipart type as a form. */
function readType(text: string | undefined): string | undefined {
  if (text === undefined || /^(?!multipart\/)[\w.+-]+\/[\w.+-]+(;[ -~]*)?$/i.test(text)) return text;
  throw new UsageError(`"${printable(text)}" is not a valid media type for a file; example: text/csv`);
}
