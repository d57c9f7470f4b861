/** The ids of unfinished uploads, so that a file continues where it was, also when it is picked again after a reload. */
import { isString, sessionStore } from '../device/storage.ts';

export interface UploadId {
  value: string | undefined;
}

/** The ids that uploads of this page use. The same file can be picked twice. */
const used = new Set<string>();

/**
 * Stored for this tab only: two tabs must not send parts of the same upload. Setting it to undefined removes it. `hide`
 * makes a name of a file unreadable in an encrypted room. If it cannot, the id is not stored.
 */
export function uploadIdFor(
  code: string,
  { file, folder = '', once }: { file: File; folder?: string | undefined; once: boolean },
  hide: (text: string) => string | undefined,
): UploadId {
  const { name, size, lastModified } = file;
  // An ordinary upload must not continue as that of a one-time file.
  const label = hide(`${once ? 'once/' : ''}${size}/${lastModified}/${folder}/${name}`);
  const key = label && `upload:${label}:${code}`;
  const stored = key && sessionStore.get(key, isString);
  let id = stored && used.has(stored) ? undefined : stored;
  if (id !== undefined) used.add(id);
  return {
    get value() {
      return id;
    },
    set value(next) {
      id = next;
      if (next !== undefined) used.add(next);
      if (key) sessionStore.set(key, next);
    },
  };
}
