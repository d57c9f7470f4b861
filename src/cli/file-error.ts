/** A local file or folder that cannot be read or written. The message says which one, and why. */
export class FileError extends Error {}

/** Turns system errors about the path into a FileError. */
export async function withFileErrors<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = messages[(error as NodeJS.ErrnoException).code ?? ''];
    throw message ? new FileError(message(path)) : error;
  }
}

export function alreadyExists(path: string): string {
  return `${path} already exists; use --force to overwrite it, or --existing skip or rename.`;
}

const noPermission = (path: string) => `Permission denied: ${path}`;
const noSpace = (path: string) => `The disk is full; ${path} was not written.`;

const messages: Readonly<Record<string, (path: string) => string>> = {
  EACCES: noPermission,
  EPERM: noPermission,
  EROFS: noPermission,
  ENOENT: (path) => `${path} does not exist.`,
  ENOTDIR: (path) => `${path} is not a folder, or is not inside a folder.`,
  EISDIR: (path) => `${path} is a folder.`,
  EEXIST: alreadyExists,
  ENOSPC: noSpace,
  EDQUOT: noSpace,
  EFBIG: noSpace,
  EIO: (path) => `The disk reported an error for ${path}.`,
  ENAMETOOLONG: (path) => `The name ${path} is too long for this disk.`,
  ELOOP: (path) => `${path} is a symbolic link that leads to itself.`,
  EMFILE: (path) => `Cannot open ${path}: too many open files.`,
};
