/** Repeated kills under load: everything acknowledged is present, and nothing else remains. */
import assert from 'node:assert/strict';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openDiskBlobs } from '../../src/blobs/disk.ts';
import { createLocalBus } from '../../src/bus/local.ts';
import { guardRules } from '../../src/core/limits.ts';
import { removeOrphanBlobs, sweepRooms } from '../../src/core/sweep.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { isLongRun } from '../hostile/long-run.ts';
import { storedBlobs, unfinishedBlobs } from '../support/data-folder.ts';
import { defaultLimits, noQuota } from '../support/no-quota.ts';
import { dataFolder, run, type ServerProcess, startProcess } from '../support/process.ts';
import { type Random, seededRandom } from '../support/seeded-random.ts';
import { assertIntact } from './database-integrity.ts';
import { createWriters, type Writers } from './writers.ts';

const [fewRounds, manyRounds] = [3, isLongRun ? 300 : 20];
const env = { POPROOM_FREE_LIMIT: '0', POPROOM_PRO_LIMIT: '0', POPROOM_MISS_LIMIT: '0' };

describe('a server that is killed', () => {
  it('[FAULT-1] [LIFE-4] [LIFE-6] [TEXT-6] [UP-7] loses nothing that it acknowledged', (t) =>
    killRepeatedly(t, fewRounds));

  it(
    '[slow] [FAULT-1] [LIFE-4] [LIFE-6] [TEXT-6] [UP-7] loses nothing that it acknowledged, in many rounds',
    {
      timeout: 3600_000,
    },
    (t) => killRepeatedly(t, manyRounds),
  );
});

async function killRepeatedly(t: TestContext, rounds: number): Promise<void> {
  const random = seededRandom(t);
  const folder = await dataFolder(t);
  const writers = createWriters(random);
  const keys: string[] = [];
  let server = await startProcess(t, folder, env);
  for (let round = 0; round < rounds; round++) {
    const key = round % 10 === 1 ? makeKey(folder, `round ${round}`) : undefined;
    await killUnderLoad(server, writers, random);
    if (key) keys.push(await key);
    server = await startProcess(t, folder, env);
    assertIntact(folder);
    await writers.assertAcknowledged(server.api);
  }
  for (const key of keys) await assertInForce(server, key);
  await server.end('SIGKILL');
  const { writes, deletions, removals } = writers.counts;
  t.diagnostic(`${rounds} kills, ${writes} answered writes: ${deletions} rooms deleted, ${removals} files removed`);
  await assertNothingElse(folder, writers.storedFileCount());
}

/** The server is killed at a random response. */
async function killUnderLoad(server: ServerProcess, writers: Writers, random: Random): Promise<void> {
  const { enough, gone } = writers.start(server.api, 10 + random.number(80));
  await enough;
  await server.end('SIGKILL');
  await gone;
}

/** Made by another process, which the kill does not touch: it may find the server there or gone. */
async function makeKey(folder: string, name: string): Promise<string> {
  const { code, stdout, stderr } = await run(['keys', 'create', name], { POPROOM_DATA_DIR: folder });
  assert.equal(code, 0, stderr);
  return stdout.trim();
}

async function assertInForce({ api }: ServerProcess, key: string): Promise<void> {
  assert.equal((await api.get('/api/health', { headers: { 'x-api-key': key } })).status, 200);
}

/** Two hours later, what the kills left in the folder is swept up, and all the rest is named by a room. */
async function assertNothingElse(folder: string, filesThere: number): Promise<void> {
  const clock = () => Date.now() + 2 * 3600_000;
  const store = openSqliteStore({ folder, rules: guardRules(0), now: clock() });
  try {
    const blobs = openDiskBlobs({ folder: join(folder, 'files'), minFree: 0 });
    const parts = {
      ...{ ...store, quota: noQuota, limits: defaultLimits, blobs },
      ...{ bus: createLocalBus(), clock, secret: '' },
    };
    await sweepRooms(parts);
    await removeOrphanBlobs(parts);
    assert.deepEqual(await unfinishedBlobs(folder), []);
    assert.deepEqual(await store.trash.listTrash(1), []);
    const left = (await storedBlobs(folder)).map((path) => basename(path));
    const known = await store.trash.knownBlobs(left);
    assert.deepEqual(
      left.filter((blob) => !known.has(blob)),
      [],
    );
    assert.equal(left.length, filesThere);
  } finally {
    await store.close();
  }
}
