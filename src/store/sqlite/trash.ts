/** Blobs that no file references any more, and known blobs. */
import { blobOf, type TrashStore } from '../../core/ports.ts';
import type { Sql } from './statements.ts';
import type { Writer } from './writer.ts';

export function createTrashStore(sql: Sql, writer: Writer): TrashStore {
  return {
    async listTrash(limit) {
      return sql('SELECT blob FROM trash LIMIT ?')
        .all(limit)
        .map(({ blob }) => String(blob));
    },

    clearTrash: (blobs) => writer.run('clearTrash', blobs),

    async knownBlobs(names) {
      const known = sql(`
        SELECT 1 FROM files WHERE blob = ?2 AND (?1 = ?2 OR received IS NOT NULL)
        UNION ALL SELECT 1 FROM trash WHERE blob = ?1
      `);
      return new Set(names.filter((name) => known.get(name, blobOf(name))));
    },
  };
}
