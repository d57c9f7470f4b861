/** An embedded engine for one test, in a temporary folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { guardRules } from '../../src/core/limits.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { openSqliteStore, type SqliteOptions } from '../../src/store/sqlite/open.ts';
import { operations } from '../../src/store/sqlite/operations.ts';
import type { WriterOptions } from '../../src/store/sqlite/writer.ts';
import { start } from '../contract/store-under-test.ts';

export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-sqlite-'));
  // Hooks run in the order of registration, so stores are closed after this one.
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

export async function openStore(
  t: TestContext,
  folder: string,
  options: Pick<SqliteOptions, 'eraseEveryMs'> = {},
): Promise<Store> {
  const store = openSqliteStore({ folder, rules: guardRules(20), now: start, ...options });
  t.after(() => store.close());
  return store;
}

/** For a writer without the rest of an engine, which erases nothing. */
export function writerOptions(folder: string): WriterOptions {
  const file = { path: join(folder, 'poproom.db'), descriptor: -1 };
  return { file, operations, isLogTrusted: true, snapshot: { suspend() {}, resume() {} }, eraseEveryMs: 1_000_000 };
}
