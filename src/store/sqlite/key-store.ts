/** API keys on SQLite. Each request reads them again, so changes by other processes take effect immediately. */
import type { DatabaseSync } from 'node:sqlite';
import type { KeyStore } from '../../core/ports.ts';
import { keyOf } from './rows.ts';
import { prepareOnce } from './statements.ts';
import type { Writer } from './writer.ts';

export function createKeyStore(db: DatabaseSync, writer: Writer): KeyStore {
  const sql = prepareOnce(db);
  return {
    create: (key, now) => writer.run('createKey', key, now),
    async find(hash) {
      const row = sql('SELECT * FROM api_keys WHERE hash = ? AND revoked_at IS NULL').get(hash);
      return row && keyOf(row);
    },
    async list() {
      return sql('SELECT * FROM api_keys ORDER BY created_at, id').all().map(keyOf);
    },
    revoke: (idOrName, now) => writer.run('revokeKey', idOrName, now),
  };
}
