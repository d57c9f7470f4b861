/** Copies the database of a running or stopped server, and checks a copy. */
import { DatabaseSync } from 'node:sqlite';
import { busyTimeoutMs } from './connection.ts';
import { dropFiles } from './file-operations.ts';
import { createPrivateFile } from './private-file.ts';
import { schemaStateOf } from './schema.ts';
import { prepareOnce } from './statements.ts';

export interface CopiedFile {
  blob: string;
  size: number;
}

export interface DatabaseCopy {
  /** The state of its schema, compared with that of this version. */
  schema: ReturnType<typeof schemaStateOf>;
  rooms: number;
  keys: number;
  /** Complete files, one after the other, so that their number does not matter. */
  files(): Iterable<CopiedFile>;
  /** Sum of the sizes of these files. */
  fileBytes(): number;
  /** Whether SQLite finds no damage. */
  isIntact(): boolean;
  /** Removes a file whose bytes are gone. */
  drop(blob: string): void;
  close(): void;
}

/** One transaction reads everything, and does not block the writes of a server. Deleted data is not copied. */
export function copyDatabase(from: string, to: string): void {
  createPrivateFile(to);
  const db = new DatabaseSync(from, { timeout: busyTimeoutMs });
  try {
    db.prepare('VACUUM INTO ?').get(to);
  } finally {
    db.close();
  }
}

export function openCopy(path: string): DatabaseCopy {
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: true });
  const sql = prepareOnce(db);
  const count = (what: string) => Number(sql(`SELECT count(*) AS n FROM ${what}`).get()?.n);
  const complete = 'FROM files WHERE received IS NULL';
  return {
    schema: schemaStateOf(db),
    rooms: count('rooms'),
    keys: count('api_keys WHERE revoked_at IS NULL'),
    files: () => db.prepare(`SELECT blob, size ${complete}`).iterate() as unknown as Iterable<CopiedFile>,
    fileBytes: () => Number(sql(`SELECT coalesce(sum(size), 0) AS bytes ${complete}`).get()?.bytes),
    isIntact: () => sql('PRAGMA quick_check(1)').get()?.quick_check === 'ok',
    drop: (blob) => void dropFiles(sql, 'blob = ?', blob),
    close: () => db.close(),
  };
}

/** The bytes of unfinished uploads are not part of a copy. */
export function dropUnfinished(path: string): void {
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: true });
  try {
    dropFiles(prepareOnce(db), 'received IS NOT NULL');
  } finally {
    db.close();
  }
}
