/** The fingerprint of the secret on SQLite. */
import type { DatabaseSync } from 'node:sqlite';
import type { SecretRecord } from '../../core/ports.ts';
import type { Writer } from './writer.ts';

export function createSecretRecord(db: DatabaseSync, writer: Writer): SecretRecord {
  const stored = db.prepare('SELECT fingerprint FROM secret_record');
  return {
    async find() {
      return stored.get()?.fingerprint as string | undefined;
    },
    async keep(fingerprint) {
      await writer.run('keepSecretRecord', fingerprint);
      return stored.get()?.fingerprint as string;
    },
    replace: (fingerprint) => writer.run('replaceSecretRecord', fingerprint),
  };
}
