/**
 * `npm test`: installs what the tests need, builds, and runs the tests that a change must pass while it is made: those
 * that are not slow, on the embedded engine. `npm test -- [--distributed] NAME…` runs only the named folders or files.
 * `--tier all`, `rest` or `unit` chooses other tests, and `--shard 2/4` a part of them.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Job, runPool } from './test-pool.ts';
import { providePrograms } from './test-programs.ts';
import { jobsOfNames, jobsOfTier, shardOf, type Tier } from './test-selection.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    distributed: { type: 'boolean', default: false },
    tier: { type: 'string', default: 'fast' },
    shard: { type: 'string', default: '1/1' },
  },
});
const { jobs, missing } = orFail(() => providePrograms(shardOf(selectedJobs(), values.shard)));
if (missing !== '' && process.env.CI === 'true') fail(missing);
if (values.tier !== 'unit') run('scripts/build.ts');
if (names.length === 0) run('scripts/check-rules.ts');
const stores = jobs.some(({ engine }) => engine === 'distributed') ? await startStores() : undefined;
const outcome = await runPool(jobs, stores?.env ?? {}).finally(stores?.stop);
process.exitCode = { passed: 0, failed: 1, interrupted: 130 }[outcome];
process.stdout.write(missing);

function selectedJobs(): Job[] {
  if (names.length > 0) return jobsOfNames(names, values.distributed ? 'distributed' : 'embedded');
  return jobsOfTier(tierNamed(values.tier));
}

function tierNamed(name: string): Tier {
  const tiers = ['unit', 'fast', 'rest', 'all'] as const;
  return tiers.find((tier) => tier === name) ?? fail(`--tier is one of ${tiers.join(', ')}.`);
}

/** One Redis and one S3 server for all files on the distributed engine; see test/support/engine.ts. */
async function startStores(): Promise<{ env: Record<string, string>; stop: () => Promise<void> }> {
  const { startRedis } = await import('../test/support/redis.ts');
  const { startS3 } = await import('../test/support/s3.ts');
  const [redis, s3] = await Promise.all([startRedis(), startS3()]);
  const addresses = { POPROOM_TEST_REDIS: redis.url, POPROOM_TEST_S3: s3.endpoint, POPROOM_TEST_BUCKET: s3.bucket };
  return {
    env: { ...s3.env, ...addresses },
    stop: async () => {
      await Promise.all([redis.stop(), s3.stop()]);
    },
  };
}

function orFail<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    return fail((error as Error).message);
  }
}

function fail(message: string): never {
  console.error(message.trimEnd());
  process.exit(1);
}

function run(script: string): void {
  const { status } = spawnSync(process.execPath, [script], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
