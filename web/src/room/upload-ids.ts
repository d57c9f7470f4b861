/** The ids of unfinished uploads, so that a file continues where it was, also when it is picked again after a reload. */
import { isString, sessionStore } from '../device/storage.ts';

export interface UploadId {
  value: string | undefined;
}

/** The ids that uploads of this page use. The same file can be picked twice. */
const used = new Set<string>();

/** Stored for this tab only: two tabs must not send parts of the same upload. Setting it to undefined removes it. */
export function uploadIdFor(code: string, file: File, folder = '', once = false): UploadId {
  const { name, size, lastModified } = file;
  // An ordinary upload must not continue as that of a one-time file.
  const key = `upload:${once ? 'once/' : ''}${size}/${lastModified}/${folder}/${name}:${code}`;
  const stored = sessionStore.get(key, isString);
  let id = stored !== undefined && used.has(stored) ? undefined : stored;
  if (id !== undefined) used.add(id);
  return {
    get value() {
      return id;
    },
    set value(next) {
      id = next;
      if (next !== undefined) used.add(next);
      sessionStore.set(key, next);
    },
  };
}
