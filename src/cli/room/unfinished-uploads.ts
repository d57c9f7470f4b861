/** Remembers the uploads of commands that were interrupted, so that the same command continues them. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../environment.ts';

/** Servers keep an unfinished upload for as long. */
const maxAgeMs = 24 * 60 * 60 * 1000;
const maxEntries = 100;

export interface UnfinishedUploads {
  /** Returns the id of the upload. That of an encrypted room contains the salt of the file, in sealed form. */
  find(key: string): string | undefined;
  remember(key: string, uploadId: string): void;
  forget(keys: readonly string[]): void;
}

/** The key of an upload: equal values have the same key. It does not reveal them if one of them is secret. */
export const uploadKey = (values: readonly (string | number | undefined)[]): string =>
  createHash('sha256').update(JSON.stringify(values)).digest('hex');

interface Entry {
  uploadId: string;
  /** Milliseconds since 1970. */
  at: number;
}

export function openUnfinishedUploads({ stateFolder }: Environment): UnfinishedUploads {
  const path = join(stateFolder, 'uploads.json');

  /** Reads the file each time, because other commands may change it. */
  function change(edit: (entries: Map<string, Entry>) => void): void {
    const entries = readEntries(path);
    edit(entries);
    write([...entries].slice(-maxEntries));
  }

  /** Failures are ignored: without the file, an upload starts again. */
  function write(entries: readonly (readonly [string, Entry])[]): void {
    const temporary = `${path}.${randomUUID()}`;
    try {
      mkdirSync(stateFolder, { recursive: true });
      writeFileSync(temporary, `${JSON.stringify(Object.fromEntries(entries))}\n`, { mode: 0o600 });
      renameSync(temporary, path);
    } catch {
      rmSync(temporary, { force: true });
    }
  }

  return {
    find: (key) => readEntries(path).get(key)?.uploadId,
    remember(key, uploadId) {
      change((entries) => {
        // Removed first, because the newest entries are last.
        entries.delete(key);
        entries.set(key, { uploadId, at: Date.now() });
      });
    },
    forget(keys) {
      const known = readEntries(path);
      if (!keys.some((key) => known.has(key))) return;
      change((entries) => {
        for (const key of keys) entries.delete(key);
      });
    },
  };
}

/** Without old and malformed entries. */
function readEntries(path: string): Map<string, Entry> {
  try {
    const entries = Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, Entry>);
    return new Map(entries.filter(([, entry]) => isCurrent(entry)));
  } catch {
    return new Map();
  }
}

function isCurrent({ uploadId, at }: Entry): boolean {
  const age = Date.now() - at;
  return /^[0-9a-f]{32}(\.[\w.-]{1,4096})?$/.test(uploadId) && age >= 0 && age < maxAgeMs;
}
