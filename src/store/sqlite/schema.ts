/** The schema as a list of migration steps. */
import type { DatabaseSync } from 'node:sqlite';
import { PoproomError } from '../../core/errors.ts';

/** Never edit a released step; append another one. */
export const steps: readonly string[] = [
  `
  CREATE TABLE rooms (
    id         INTEGER PRIMARY KEY, -- what the code spells
    code       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    pin_mac    BLOB,
    seq        INTEGER NOT NULL DEFAULT 0,
    file_count INTEGER NOT NULL DEFAULT 0,
    file_bytes INTEGER NOT NULL DEFAULT 0,
    pin_attempts INTEGER NOT NULL DEFAULT 0,
    version    INTEGER NOT NULL DEFAULT 0,
    written_at INTEGER NOT NULL,
    content    TEXT NOT NULL DEFAULT ''
  ) STRICT;
  CREATE INDEX rooms_by_expiry ON rooms (expires_at);

  -- Counting rows would make every creation as slow as there are rooms.
  CREATE TABLE room_count (total INTEGER NOT NULL) STRICT;
  INSERT INTO room_count VALUES (0);
  CREATE TRIGGER room_made AFTER INSERT ON rooms BEGIN UPDATE room_count SET total = total + 1; END;
  CREATE TRIGGER room_ended AFTER DELETE ON rooms BEGIN UPDATE room_count SET total = total - 1; END;

  CREATE TABLE expired_rooms (id INTEGER PRIMARY KEY, expired_at INTEGER NOT NULL) STRICT;
  CREATE INDEX expired_rooms_by_time ON expired_rooms (expired_at);

  CREATE TABLE files (
    id          TEXT PRIMARY KEY,
    room        INTEGER NOT NULL REFERENCES rooms (id) ON DELETE CASCADE,
    blob        TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    type        TEXT NOT NULL,
    size        INTEGER NOT NULL,
    uploaded_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX files_by_room ON files (room);

  -- Whatever way a file's row goes, its bytes are marked for removal in the same transaction.
  CREATE TABLE trash (blob TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TRIGGER file_dropped AFTER DELETE ON files BEGIN INSERT OR IGNORE INTO trash VALUES (OLD.blob); END;

  CREATE TABLE api_keys (
    id         TEXT PRIMARY KEY,
    hash       TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    tier       TEXT NOT NULL CHECK (tier IN ('free', 'pro')),
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX api_keys_in_force_by_name ON api_keys (name) WHERE revoked_at IS NULL;

  CREATE TABLE counters (
    kind       TEXT NOT NULL,
    key        TEXT NOT NULL,
    state      TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX counters_by_expiry ON counters (expires_at);
  `,
  `
  -- The full text of some version. A room without one has the empty text of version 0 and the log of all edits.
  CREATE TABLE texts (
    room    INTEGER PRIMARY KEY REFERENCES rooms (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    content TEXT NOT NULL
  ) STRICT;
  INSERT INTO texts SELECT id, version, content FROM rooms WHERE version > 0;
  -- Rows of rooms stay small, so that an edit writes two pages: that of its room and its own.
  ALTER TABLE rooms DROP COLUMN content;
  ALTER TABLE rooms ADD COLUMN keeps_history INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE rooms ADD COLUMN revision INTEGER NOT NULL DEFAULT 0; -- which text the version is
  UPDATE rooms SET revision = version;

  -- The log: it has no gaps, and ends with the version of the room.
  CREATE TABLE edits (
    room       INTEGER NOT NULL REFERENCES rooms (id) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    written_at INTEGER NOT NULL,
    device     TEXT,
    ref        TEXT,
    edits      TEXT NOT NULL, -- JSON
    PRIMARY KEY (room, version)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE history (
    room       INTEGER NOT NULL REFERENCES rooms (id) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    written_at INTEGER NOT NULL,
    device     TEXT,
    size       INTEGER NOT NULL,
    content    TEXT NOT NULL,
    PRIMARY KEY (room, version)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE compressed_history (
    room       INTEGER NOT NULL REFERENCES rooms (id) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    written_at INTEGER NOT NULL,
    device     TEXT,
    size       INTEGER NOT NULL,
    content    ANY NOT NULL, -- Zstandard; a string where it was written before this step
    PRIMARY KEY (room, version)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO compressed_history SELECT * FROM history;
  DROP TABLE history;
  ALTER TABLE compressed_history RENAME TO history;
  `,
  `
  -- Who made a room or uploaded a file: keyed hashes of the client and of its network. Unknown before this step.
  ALTER TABLE rooms ADD COLUMN client TEXT;
  ALTER TABLE rooms ADD COLUMN network TEXT;
  ALTER TABLE rooms ADD COLUMN text_charge INTEGER; -- bytes that the text counts for its client; NULL if it does not count
  ALTER TABLE files ADD COLUMN client TEXT;
  ALTER TABLE files ADD COLUMN network TEXT;
  CREATE INDEX files_by_client ON files (client) WHERE client IS NOT NULL;
  CREATE INDEX files_by_network ON files (network) WHERE network IS NOT NULL;

  -- Bytes of files and long texts by client and by network; the account '' has those of all files.
  CREATE TABLE usage (account TEXT PRIMARY KEY, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO usage SELECT '', coalesce(sum(size), 0) FROM files;
  CREATE TRIGGER file_charged AFTER INSERT ON files BEGIN
    INSERT OR IGNORE INTO usage SELECT account, 0 FROM (SELECT NEW.client AS account UNION SELECT NEW.network)
      WHERE account IS NOT NULL;
    UPDATE usage SET bytes = bytes + NEW.size WHERE account IN ('', NEW.client, NEW.network);
  END;
  CREATE TRIGGER file_discharged AFTER DELETE ON files BEGIN
    UPDATE usage SET bytes = bytes - OLD.size WHERE account IN ('', OLD.client, OLD.network);
    DELETE FROM usage WHERE account IN (OLD.client, OLD.network) AND bytes <= 0;
  END;

  CREATE TRIGGER text_charged AFTER UPDATE OF text_charge ON rooms BEGIN
    INSERT OR IGNORE INTO usage SELECT account, 0 FROM (SELECT NEW.client AS account UNION SELECT NEW.network)
      WHERE account IS NOT NULL;
    UPDATE usage SET bytes = bytes + coalesce(NEW.text_charge, 0) - coalesce(OLD.text_charge, 0)
      WHERE account IN (NEW.client, NEW.network);
    DELETE FROM usage WHERE account IN (NEW.client, NEW.network) AND bytes <= 0;
  END;
  CREATE TRIGGER text_discharged AFTER DELETE ON rooms WHEN OLD.text_charge > 0 BEGIN
    UPDATE usage SET bytes = bytes - OLD.text_charge WHERE account IN (OLD.client, OLD.network);
    DELETE FROM usage WHERE account IN (OLD.client, OLD.network) AND bytes <= 0;
  END;

  -- What the command line asks of the server that owns this database, and its answers; both JSON.
  CREATE TABLE operator_requests (
    id       INTEGER PRIMARY KEY,
    asked_at INTEGER NOT NULL,
    request  TEXT NOT NULL,
    answer   TEXT
  ) STRICT;
  `,
  `
  ALTER TABLE files ADD COLUMN folder TEXT NOT NULL DEFAULT '';
  ALTER TABLE files ADD COLUMN device TEXT;
  ALTER TABLE files ADD COLUMN removed_at INTEGER; -- NULL if it was not removed
  -- An unfinished file has these, and a finished one does not. The state can be long. It is the last column, so that
  -- a query of the others does not read it.
  ALTER TABLE files ADD COLUMN received INTEGER;
  ALTER TABLE files ADD COLUMN ends_at INTEGER;
  ALTER TABLE files ADD COLUMN blob_state TEXT;
  CREATE INDEX files_by_removal ON files (removed_at) WHERE removed_at IS NOT NULL;
  CREATE INDEX files_by_end ON files (ends_at) WHERE ends_at IS NOT NULL;

  DROP TRIGGER file_dropped;
  CREATE TRIGGER file_dropped AFTER DELETE ON files BEGIN
    INSERT OR IGNORE INTO trash VALUES (OLD.blob || iif(OLD.received IS NULL, '', '.part'));
  END;
  `,
  `
  ALTER TABLE files ADD COLUMN once INTEGER NOT NULL DEFAULT 0; -- 1 for a one-time file
  -- The last claim of a one-time file: the hash of its token, and when it expires.
  ALTER TABLE files ADD COLUMN claim TEXT;
  ALTER TABLE files ADD COLUMN claim_ends_at INTEGER;
  `,
  `
  ALTER TABLE rooms ADD COLUMN name TEXT; -- NULL if it has none
  `,
  `
  ALTER TABLE rooms ADD COLUMN salt TEXT; -- of an encrypted room, whose pin_mac is its verifier; NULL for others
  ALTER TABLE edits ADD COLUMN sealed TEXT; -- in an encrypted room; NULL if the entry replaced the whole text
  ALTER TABLE files ADD COLUMN meta TEXT; -- sealed metadata, in an encrypted room
  `,
  `
  -- Requests with an idempotency key that succeeded. Key and client are hashes, and the result is sealed.
  CREATE TABLE idempotent_requests (
    key TEXT PRIMARY KEY, client TEXT NOT NULL, fingerprint TEXT NOT NULL, result TEXT NOT NULL, expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX idempotent_requests_by_client ON idempotent_requests (client, expires_at);
  CREATE INDEX idempotent_requests_by_expiry ON idempotent_requests (expires_at);
  `,
  `
  -- At most one row: the fingerprint of the secret under which PINs are hashed.
  CREATE TABLE secret_record (id INTEGER PRIMARY KEY CHECK (id = 1), fingerprint TEXT NOT NULL) STRICT;
  `,
  `
  CREATE TABLE address_blocks (
    id TEXT PRIMARY KEY, range TEXT NOT NULL UNIQUE, reason TEXT NOT NULL, created_at INTEGER NOT NULL, ends_at INTEGER
  ) STRICT;

  -- For the admin interface: the numbers of each interval, the clients of each hour, and the use of API keys.
  CREATE TABLE activity (
    at            INTEGER PRIMARY KEY,
    requests      INTEGER NOT NULL,
    refused       INTEGER NOT NULL,
    received      INTEGER NOT NULL,
    sent          INTEGER NOT NULL,
    failed        INTEGER NOT NULL,
    rooms_created INTEGER NOT NULL,
    rooms         INTEGER NOT NULL DEFAULT 0,
    channels      INTEGER NOT NULL DEFAULT 0,
    stored_bytes  INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE activity_nodes (node TEXT PRIMARY KEY, seen_at INTEGER NOT NULL, channels INTEGER NOT NULL) STRICT;
  CREATE TABLE client_activity (
    hour     INTEGER NOT NULL,
    client   TEXT NOT NULL,
    requests INTEGER NOT NULL,
    refused  INTEGER NOT NULL,
    received INTEGER NOT NULL,
    sent     INTEGER NOT NULL,
    PRIMARY KEY (hour, client)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE key_use (
    key          TEXT PRIMARY KEY,
    requests     INTEGER NOT NULL,
    refused      INTEGER NOT NULL,
    received     INTEGER NOT NULL,
    sent         INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE rooms ADD COLUMN log_bytes INTEGER NOT NULL DEFAULT 0; -- the size of its entries in edits
  UPDATE rooms SET log_bytes = (
    SELECT ifnull(sum(64 + octet_length(edits) + ifnull(octet_length(sealed), 0)), 0) FROM edits WHERE room = rooms.id
  );
  -- JSON: the last edit of each writer up to the full text, by which a client knows whether an edit was stored.
  ALTER TABLE texts ADD COLUMN last_refs TEXT;
  `,
  `
  -- In the order of writing, a checkpoint of 1 KB changes half as many pages. The index alone says what is kept.
  CREATE TABLE checkpoints (
    room       INTEGER NOT NULL REFERENCES rooms (id) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    written_at INTEGER NOT NULL,
    device     TEXT,
    size       INTEGER NOT NULL,
    content    ANY NOT NULL -- a long text is compressed with Zstandard
  ) STRICT;
  INSERT INTO checkpoints SELECT * FROM history;
  DROP TABLE history;
  ALTER TABLE checkpoints RENAME TO history;
  CREATE INDEX history_by_room ON history (room, version, size);
  `,
  `
  -- How many results of requests with idempotency keys there are of each client and in total, to find one to drop fast.
  CREATE TABLE idempotent_clients (client TEXT PRIMARY KEY, results INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotent_clients_by_results ON idempotent_clients (results);
  INSERT INTO idempotent_clients SELECT client, count(*) FROM idempotent_requests GROUP BY client;
  CREATE TABLE idempotent_count (total INTEGER NOT NULL) STRICT;
  INSERT INTO idempotent_count SELECT count(*) FROM idempotent_requests;
  CREATE TRIGGER request_kept AFTER INSERT ON idempotent_requests BEGIN
    UPDATE idempotent_count SET total = total + 1;
    INSERT INTO idempotent_clients VALUES (NEW.client, 1) ON CONFLICT (client) DO UPDATE SET results = results + 1;
  END;
  CREATE TRIGGER request_dropped AFTER DELETE ON idempotent_requests BEGIN
    UPDATE idempotent_count SET total = total - 1;
    UPDATE idempotent_clients SET results = results - 1 WHERE client = OLD.client;
    DELETE FROM idempotent_clients WHERE client = OLD.client AND results = 0;
  END;
  `,
  `
  ALTER TABLE rooms ADD COLUMN created_by TEXT; -- user:NAME or key:NAME
  `,
  `
  -- The webhooks of a room in one sealed document. A row outlives its room until the end of the room is reported.
  CREATE TABLE webhooks (
    room            INTEGER PRIMARY KEY,
    code            TEXT NOT NULL,
    room_created_at INTEGER NOT NULL,
    revision        INTEGER NOT NULL,
    seq             INTEGER NOT NULL, -- of the room, up to which the document has its changes
    due_at          INTEGER NOT NULL,
    document        TEXT NOT NULL
  ) STRICT;
  `,
  `
  -- Other ids for rooms, with fewer rights than their codes.
  CREATE TABLE links (
    id         TEXT PRIMARY KEY,
    room       INTEGER NOT NULL REFERENCES rooms (id) ON DELETE CASCADE,
    role       TEXT NOT NULL, -- read or drop
    name       TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER, -- NULL if it ends with its room
    last_used  INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX links_by_room ON links (room, created_at);
  ALTER TABLE files ADD COLUMN link TEXT; -- the drop link that it was uploaded with
  `,
  `
  ALTER TABLE rooms ADD COLUMN extend_ms INTEGER; -- each write moves the expiry to this long after it; NULL if not
  `,
  `
  -- What people have reported about rooms. Reports outlive their rooms, whose codes may be used again.
  CREATE TABLE reports (
    id              TEXT PRIMARY KEY,
    code            TEXT NOT NULL,
    room_created_at INTEGER NOT NULL,
    reason          TEXT NOT NULL,
    comment         TEXT,
    client          TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    UNIQUE (code, room_created_at, client)
  ) STRICT;
  CREATE INDEX reports_by_time ON reports (created_at);
  `,
];

declare global {
  interface ImportMeta {
    /** The schema after all steps as one script, which the build adds: a new database takes 2 instead of 11 ms. */
    readonly wholeSchema?: string;
  }
}

/** Version numbers used before the first release. */
const drafts = 1;
const newest = drafts + steps.length;

/**
 * The `application_id` of a database that contains no deleted data. Versions that did not overwrite it, and steps that
 * rewrite rows, leave some; `compact` removes it.
 */
const compacted = 0x506f7072;

/** Returns whether the database was empty. */
export function migrate(db: DatabaseSync): boolean {
  const at = versionOf(db);
  if (at === newest) return false;
  if (at > newest) throw otherVersion('a newer version of Poproom. Upgrade the server.');
  if (at > 0 && at <= drafts) throw otherVersion('a version of Poproom before its first release. Use a new folder.');
  db.exec('BEGIN IMMEDIATE');
  // Another process may have done it since.
  const done = Math.max(0, versionOf(db) - drafts);
  for (const step of done === 0 && import.meta.wholeSchema ? [import.meta.wholeSchema] : steps.slice(done))
    db.exec(step);
  db.exec(`PRAGMA application_id = ${at === 0 ? compacted : 0}; PRAGMA user_version = ${newest}; COMMIT`);
  return at === 0;
}

/** Rewrites the whole database once. The WAL contains a copy of it afterwards. Temporary files go into `folder`. */
export function compact(db: DatabaseSync, folder: string): void {
  if (isCompacted(db)) return;
  db.exec(`PRAGMA temp_store = FILE; PRAGMA temp_store_directory = '${folder.replaceAll("'", "''")}'`);
  try {
    db.exec('VACUUM');
  } finally {
    db.exec("PRAGMA temp_store_directory = ''; PRAGMA temp_store = MEMORY");
  }
  db.exec(`PRAGMA application_id = ${compacted}`);
}

export const isCompacted = (db: DatabaseSync): boolean =>
  db.prepare('PRAGMA application_id').get()?.application_id === compacted;

const versionOf = (db: DatabaseSync) => Number(db.prepare('PRAGMA user_version').get()?.user_version);

/** Whether a database has the schema of this version. */
export function schemaStateOf(db: DatabaseSync): 'older' | 'current' | 'newer' {
  const at = versionOf(db);
  if (at === newest) return 'current';
  return at < newest ? 'older' : 'newer';
}

const otherVersion = (origin: string) => new PoproomError('UNAVAILABLE', `The database was created by ${origin}`);
