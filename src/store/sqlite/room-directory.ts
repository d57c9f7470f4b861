/**
 * The rooms of a database for the command line. A running server caches rooms, so only it may remove them: the command
 * line writes a request into the database, and the server responds there.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { MissingReason, OperatorRequest, RoomDirectory } from '../../core/ports.ts';
import type { RoomCode } from '../../core/room-code.ts';
import { connect } from './connection.ts';
import { FolderInUse, lockFolder } from './folder-lock.ts';
import { createRoomSummaries } from './room-summaries.ts';
import { migrate } from './schema.ts';

export interface SqliteDirectoryOptions {
  folder: string;
  /** Removes rooms while no server runs. Returns the reason for each missing room. */
  removeAlone: (codes: readonly RoomCode[]) => Promise<(MissingReason | undefined)[]>;
}

/** Much longer than a running server needs to respond. */
const timeoutMs = 10_000;
const pollMs = 50;
/** Age at which requests of a killed command are removed. */
const abandonedMs = 3600_000;

export function openSqliteDirectory({ folder, removeAlone }: SqliteDirectoryOptions): RoomDirectory {
  const db = connect(join(folder, 'poproom.db'));
  try {
    migrate(db);
  } catch (error) {
    db.close();
    throw error;
  }

  /** The answer is undefined if the server does not respond in time. The request stays until it does. */
  async function ask(request: OperatorRequest, now: number): Promise<{ id: number; answer: unknown }> {
    db.prepare('DELETE FROM operator_requests WHERE answer IS NOT NULL AND asked_at < ?').get(now - abandonedMs);
    const asked = db.prepare('INSERT INTO operator_requests (asked_at, request) VALUES (?, ?) RETURNING id');
    const id = Number(asked.get(now, JSON.stringify(request))?.id);
    const answered = db.prepare('SELECT answer FROM operator_requests WHERE id = ? AND answer IS NOT NULL');
    for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += pollMs) {
      const row = answered.get(id);
      if (row) return { id, answer: JSON.parse(String(row.answer)) };
      await pause(pollMs);
    }
    return { id, answer: undefined };
  }

  const withdraw = (id: number) => db.prepare('DELETE FROM operator_requests WHERE id = ?').get(id);

  return {
    ...createRoomSummaries(db),

    async countDevices(codes, now) {
      if (!isServed(folder)) return codes.map(() => 0);
      const { id, answer } = await ask({ countDevices: codes }, now);
      withdraw(id);
      return answer as number[] | undefined;
    },

    async remove(codes, now) {
      if (!isServed(folder)) return (await removeAlone(codes)).map((reason) => reason ?? 'removed');
      const { id, answer } = await ask({ remove: codes }, now);
      if (answer === undefined) return codes.map(() => 'requested');
      withdraw(id);
      return answer as ('removed' | MissingReason)[];
    },

    async close() {
      db.close();
    },
  };
}

/** Whether a server runs on the folder. */
function isServed(folder: string): boolean {
  if (!existsSync(join(folder, 'server.lock'))) return false;
  try {
    lockFolder(folder)();
    return false;
  } catch (error) {
    if (error instanceof FolderInUse) return true;
    throw error;
  }
}
