/** API keys, and the fingerprint of the secret. */
import type { DatabaseSync } from 'node:sqlite';
import type { ApiKey, KeyStore, Tier } from '../../core/ports/clients.ts';
import type { SecretRecord } from '../../core/ports/store.ts';
import { prepareOnce, type ReadSnapshot, type Row, type Sql } from './database.ts';
import type { Writer } from './writer.ts';

/** Other processes create and revoke keys too, and that takes effect within a second (KEY-4). */
const knownForMs = 500;
const maxKnown = 1000;

export function createKeyStore(db: DatabaseSync, snapshot: ReadSnapshot, writer: Writer): KeyStore {
  const sql = prepareOnce(db);
  /** By hash. Only valid keys, so that wrong ones cannot fill it. */
  const known = new Map<string, { key: ApiKey; until: number }>();

  function read(hash: string, now: number): ApiKey | undefined {
    const rowOf = () => sql('SELECT * FROM api_keys WHERE hash = ? AND revoked_at IS NULL').get(hash);
    // A shared read may have started before another process created the key.
    const row = rowOf() ?? snapshot.within(rowOf);
    if (!row) return undefined;
    const key = keyOf(row);
    if (known.size >= maxKnown) known.clear();
    known.set(hash, { key, until: now + knownForMs });
    return key;
  }

  const changing = <T>(change: Promise<T>): Promise<T> => change.finally(() => known.clear());

  return {
    create: (key, now) => changing(writer.run(createKey, key, now)),
    find(hash) {
      const now = performance.now();
      const found = known.get(hash);
      return found && found.until > now ? found.key : read(hash, now);
    },
    async list() {
      return sql('SELECT * FROM api_keys ORDER BY created_at, id').all().map(keyOf);
    },
    revoke: (idOrName, now) => changing(writer.run(revokeKey, idOrName, now)),
  };
}

export function createKey(
  sql: Sql,
  key: { id: string; name: string; tier: Tier; hash: string },
  now: number,
): ApiKey | undefined {
  const taken = sql('SELECT 1 FROM api_keys WHERE name = ? AND revoked_at IS NULL').get(key.name);
  if (taken) return undefined;
  const made = sql('INSERT INTO api_keys (id, hash, name, tier, created_at) VALUES (?, ?, ?, ?, ?) RETURNING *').get(
    key.id,
    key.hash,
    key.name,
    key.tier,
    now,
  );
  return made && keyOf(made);
}

export function revokeKey(sql: Sql, idOrName: string, now: number): ApiKey | undefined {
  const revoked = sql(`
    UPDATE api_keys SET revoked_at = ?1 WHERE id = (
      SELECT id FROM api_keys WHERE (id = ?2 OR name = ?2) AND revoked_at IS NULL ORDER BY id = ?2 DESC LIMIT 1
    ) RETURNING *
  `).get(now, idOrName);
  return revoked && keyOf(revoked);
}

export function createSecretRecord(db: DatabaseSync, snapshot: ReadSnapshot, writer: Writer): SecretRecord {
  const stored = db.prepare('SELECT fingerprint FROM secret_record');

  function keep(fingerprint: string): void {
    db.exec('PRAGMA query_only = OFF');
    try {
      snapshot.within(() => db.prepare('INSERT OR IGNORE INTO secret_record VALUES (1, ?)').get(fingerprint));
    } finally {
      db.exec('PRAGMA query_only = ON');
    }
  }

  return {
    async find() {
      return stored.get()?.fingerprint as string | undefined;
    },
    /** On this thread: the first start does it before it serves requests, and starting the writer would take longer. */
    async keep(fingerprint) {
      keep(fingerprint);
      return stored.get()?.fingerprint as string;
    },
    replace: (fingerprint) => writer.run(replaceSecretRecord, fingerprint),
  };
}

export function replaceSecretRecord(sql: Sql, fingerprint: string): void {
  sql('INSERT OR REPLACE INTO secret_record VALUES (1, ?)').get(fingerprint);
}

export function keyOf(row: Row): ApiKey {
  return {
    id: row.id as string,
    name: row.name as string,
    tier: row.tier as ApiKey['tier'],
    createdAt: row.created_at as number,
    revokedAt: (row.revoked_at as number | null) ?? undefined,
  };
}
