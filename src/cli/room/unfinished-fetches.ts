/** Fetches of several files that were interrupted, so that the same command continues them for 24 hours. */
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Environment } from '../environment.ts';
import { readIfExists, writePrivateFile } from '../preferences.ts';

export interface UnfinishedFetches {
  /** The folders that an interrupted run has created. */
  readonly folders: readonly string[];
  isDone(path: string, fileId: string): boolean;
  start(folders: readonly string[]): void;
  done(path: string, fileId: string): void;
  /** All files are there. */
  end(): void;
}

interface Fetch {
  /** Milliseconds since 1970. */
  at: number;
  folders: string[];
  /** Hashes of file ids by path. An id opens the file, so it is not stored. */
  files: Record<string, string>;
}

const maxAgeMs = 24 * 60 * 60 * 1000;
const maxFetches = 20;

/** `command` is the same for the same command. Failures are ignored: without the file, a fetch starts again. */
export function openUnfinishedFetches({ stateFolder }: Environment, command: readonly string[]): UnfinishedFetches {
  const file = join(stateFolder, 'fetches.json');
  const key = hashOf(command);
  const earlier = readFetches(file)[key];
  const current: Fetch = { at: Date.now(), folders: earlier?.folders ?? [], files: { ...earlier?.files } };

  function change(edit: (fetches: Record<string, Fetch>) => void): void {
    const fetches = readFetches(file);
    edit(fetches);
    const newest = Object.entries(fetches).sort(([, a], [, b]) => b.at - a.at);
    try {
      writePrivateFile(file, `${JSON.stringify(Object.fromEntries(newest.slice(0, maxFetches)))}\n`);
    } catch {}
  }

  const save = () => change((fetches) => Object.assign(fetches, { [key]: current }));

  return {
    folders: current.folders,
    isDone: (path, fileId) => earlier?.files[resolve(path)] === hashOf([fileId]),
    start(folders) {
      const added = folders.map((folder) => resolve(folder)).filter((folder) => !current.folders.includes(folder));
      if (added.length === 0) return;
      current.folders.push(...new Set(added));
      save();
    },
    done(path, fileId) {
      current.files[resolve(path)] = hashOf([fileId]);
      save();
    },
    end() {
      if (key in readFetches(file)) change((fetches) => delete fetches[key]);
    },
  };
}

const hashOf = (values: readonly string[]) => createHash('sha256').update(JSON.stringify(values)).digest('hex');

/** Without old and malformed entries. */
function readFetches(path: string): Record<string, Fetch> {
  try {
    const fetches = Object.entries(JSON.parse(readIfExists(path) ?? '{}') as Record<string, Fetch>);
    return Object.fromEntries(fetches.filter(([, fetch]) => isCurrent(fetch)));
  } catch {
    return {};
  }
}

const isCurrent = ({ at, folders, files }: Fetch): boolean =>
  Math.abs(Date.now() - at) < maxAgeMs && Array.isArray(folders) && typeof files === 'object' && files !== null;
