/** A file or folder of this machine that cannot be read or written; the sentence says which, and why. */
export class FileError extends Error {}

/** What the system says of a path, as a sentence. */
export async function onFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const why = sentences[(error as NodeJS.ErrnoException).code ?? ''];
    throw why ? new FileError(why(path)) : error;
  }
}

const noPermission = (path: string) => `There is no permission for ${path}.`;
const noSpace = (path: string) => `The disk is full; ${path} was not written.`;

const sentences: Readonly<Record<string, (path: string) => string>> = {
  EACCES: noPermission,
  EPERM: noPermission,
  EROFS: noPermission,
  ENOENT: (path) => `There is no ${path}.`,
  ENOTDIR: (path) => `${path} is no folder, or in none.`,
  EISDIR: (path) => `${path} is a folder.`,
  EEXIST: (path) => `${path} is there already; say --force to overwrite it.`,
  ENOSPC: noSpace,
  EDQUOT: noSpace,
  EFBIG: noSpace,
  EIO: (path) => `The disk does not work; it was about ${path}.`,
  ENAMETOOLONG: (path) => `The name ${path} is too long for this disk.`,
  ELOOP: (path) => `${path} leads in a circle.`,
  EMFILE: (path) => `Too many files are open to open ${path}.`,
};
