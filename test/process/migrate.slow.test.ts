/** `poproom migrate`: from one engine to another and back, with interruptions and conflicts. */
import assert from 'node:assert/strict';
import { cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it, type TestContext } from 'node:test';
import { reportsEnv } from '../support/admin.ts';
import { storedBlobs } from '../support/data-folder.ts';
import { eventually } from '../support/eventually.ts';
import { dataFolder, launch, run, runHere, startProcess } from '../support/process.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startS3, type TestS3 } from '../support/s3.ts';
import { createSampleData, readSampleData, type SampleData, webhookUrl } from '../support/sample-data.ts';

const env = {
  ...{ POPROOM_FREE_LIMIT: '0', POPROOM_PRO_LIMIT: '0', POPROOM_MISS_LIMIT: '0' },
  ...reportsEnv,
  POPROOM_WEBHOOK_HOSTS: new URL(webhookUrl).host,
};
const roomCount = 43;
const fileCount = 14;

describe('poproom migrate', { timeout: 300_000 }, () => {
  let redis: RedisServer;
  let s3: TestS3;
  /** A data folder as a server left it; tests copy it, and none changes it. */
  let source: string;
  let sampleData: SampleData;
  let seen: unknown;
  let targets = 0;

  before(async () => {
    [redis, s3] = await Promise.all([startRedis(), startS3()]);
  });
  after(() => Promise.all([redis.stop(), s3.stop()]));

  let prepared: Promise<void> | undefined;
  after(() => source && rm(source, { recursive: true, force: true }));

  async function prepareSource(t: TestContext): Promise<void> {
    const folder = await dataFolder(t);
    const server = await startProcess(t, folder, env);
    sampleData = await createSampleData(server, folder);
    seen = await readSampleData(server, sampleData);
    await server.end('SIGTERM');
    source = `${folder}-kept`;
    await cp(folder, source, { recursive: true });
  }

  async function copyOfSource(t: TestContext): Promise<string> {
    prepared ??= prepareSource(t);
    await prepared;
    const folder = join(await dataFolder(t), 'data');
    await cp(source, folder, { recursive: true });
    return folder;
  }

  /** An unused prefix in Redis and in the bucket. */
  function freshCluster() {
    targets += 1;
    // Without a configured password, Redis accepts any.
    const store = `redis://default:hidden-word@127.0.0.1:${redis.port}?prefix=move-${targets}`;
    const files = `s3://${s3.bucket}/move-${targets}`;
    const s3Env = { ...s3.env, POPROOM_S3_ENDPOINT: s3.endpoint };
    return {
      from: ['--from', store, '--from-files', files],
      to: ['--to', store, '--to-files', files],
      s3Env,
      prefix: `move-${targets}/`,
      serverEnv: async (secretOf: string) => ({
        ...env,
        ...s3Env,
        POPROOM_STORE: store,
        POPROOM_FILES: files,
        POPROOM_SECRET: await readFile(join(secretOf, 'secret'), 'utf8'),
      }),
    };
  }

  const migrate = (args: string[], over: Record<string, string> = {}) => runHere(['migrate', ...args], over);

  it('[MOVE-1] [MOVE-3] [ROLE-12] [HOOK-10] [REPORT-3] moves everything to Redis and S3, and back to a new folder', async (t) => {
    const cluster = freshCluster();
    const folder = await copyOfSource(t);
    assert.match(JSON.stringify(seen), /"links":\[\{.*"role":"drop".*"webhooks":\[\{.*"host":"127\.0\.0\.1:9"/);
    assert.match(JSON.stringify(seen), /"reports":\{"total":2,/);
    const TMPDIR = await dataFolder(t);
    const there = await run(['migrate', '--from', `sqlite:${folder}`, ...cluster.to], { ...cluster.s3Env, TMPDIR });
    assert.deepEqual(await readdir(TMPDIR), []);
    assertClean(there);
    assert.match(
      there.stdout,
      new RegExp(`^Moved ${roomCount} rooms, ${fileCount} files \\(.* MiB\\) and 2 keys\\.$`, 'm'),
    );
    assert.match(there.stdout, /^Compared 43 rooms, 14 files and 2 keys: no differences\.$/m);
    assert.ok(there.stdout.includes(`to the content of ${folder}/secret`), 'the secret is named by its file');
    await showsNoSecret(there, folder);

    const settings = await cluster.serverEnv(folder);
    const server = await startProcess(t, await dataFolder(t), settings);
    assert.deepEqual(await readSampleData(server, sampleData), seen);
    await server.end('SIGTERM');

    const fresh = join(await dataFolder(t), 'not', 'yet');
    const { POPROOM_SECRET } = settings;
    const back = await migrate([...cluster.from, '--to', `sqlite:${fresh}`], { ...cluster.s3Env, POPROOM_SECRET });
    assertClean(back);
    assert.match(back.stdout, /^To keep PINs valid, set the current POPROOM_SECRET/m);
    await showsNoSecret(back, folder);
    const home = await startProcess(t, fresh, { ...env, POPROOM_SECRET });
    assert.deepEqual(await readSampleData(home, sampleData), seen);
  });

  it('[MOVE-1] moves everything to another folder, with the secret', async (t) => {
    const fresh = join(await dataFolder(t), 'fresh');
    const moved = await migrate(['--from', `sqlite:${await copyOfSource(t)}`, '--to', `sqlite:${fresh}`]);
    assertClean(moved);
    assert.match(moved.stdout, /^PINs stay valid: .*fresh\/secret has the same secret\.$/m);
    assert.equal((await stat(join(fresh, 'secret'))).mode & 0o777, 0o600);
    const server = await startProcess(t, fresh, env);
    assert.deepEqual(await readSampleData(server, sampleData), seen);
  });

  it('[MOVE-1] does not move the files when both sides use the same storage', async (t) => {
    const folder = await copyOfSource(t);
    const { to, s3Env } = freshCluster();
    const toSameFiles = [...to.slice(0, 2), '--to-files', `disk:${folder}/files`];
    const moved = await migrate(['--from', `sqlite:${folder}`, ...toSameFiles], s3Env);
    assertClean(moved);
    assert.match(moved.stdout, /^Moved 43 rooms, 0 files \(0 bytes\) and 2 keys\.$/m);
  });

  it('[MOVE-2] changes nothing when it is run again', async (t) => {
    const cluster = freshCluster();
    const args = ['--from', `sqlite:${await copyOfSource(t)}`, ...cluster.to];
    await migrate(args, cluster.s3Env);
    const again = await migrate(args, cluster.s3Env);
    assertClean(again);
    assert.match(again.stdout, /^Moved 0 rooms, 0 files \(0 bytes\) and 0 keys\.$/m);
    assert.match(again.stdout, /^Compared 43 rooms, 14 files and 2 keys: no differences\.$/m);
  });

  it('[MOVE-2] continues after it was killed, to Redis and S3', async (t) => {
    const from = ['--from', `sqlite:${await copyOfSource(t)}`];
    const { cluster, ended } = await interruptAfter(t, 2, from, 'SIGKILL');
    assert.equal(ended.signal, 'SIGKILL');
    const rest = await migrate([...from, ...cluster.to], cluster.s3Env);
    assertClean(rest);
    assert.ok(movedFiles(rest.stdout) < fileCount, 'what had arrived was not moved again');
    assert.equal((await arrived(cluster.prefix)).length, fileCount);
  });

  const arrived = async (prefix: string) => (await s3.keys()).filter((key) => key.startsWith(prefix));

  /** Signals a migration when more files than this have arrived. It may be done before, so this is repeated if needed. */
  async function interruptAfter(t: TestContext, files: number, from: readonly string[], signal: NodeJS.Signals) {
    for (;;) {
      const cluster = freshCluster();
      const env = { ...cluster.s3Env, TMPDIR: await dataFolder(t) };
      const { child, exit, output, errors } = launch(['migrate', ...from, ...cluster.to], env);
      await eventually('some files have arrived', async () => (await arrived(cluster.prefix)).length > files);
      child.kill(signal);
      const ended = await exit;
      if (ended.code !== 0) return { cluster, ended, output, errors };
    }
  }

  it('[MOVE-2] continues after it was killed, to another folder', async (t) => {
    const from = `sqlite:${await copyOfSource(t)}`;
    let fresh: string;
    let killed: Awaited<ReturnType<typeof launch>['exit']>;
    do {
      fresh = join(await dataFolder(t), 'fresh');
      const { child, exit } = launch(['migrate', '--from', from, '--to', `sqlite:${fresh}`], {});
      await Promise.race([exit, eventually('some files have arrived', async () => (await blobsIn(fresh)).length > 2)]);
      child.kill('SIGKILL');
      killed = await exit;
      // It may be done before we come to look.
    } while (killed.code === 0);
    assert.equal(killed.signal, 'SIGKILL');
    const args = ['--from', from, '--to', `sqlite:${fresh}`];
    // As if it had been in the midst of writing each of the files that are left.
    const names = (await storedBlobs(source)).map((path) => path.slice(-64));
    for (const name of names) await writeFile(join(fresh, 'files', 'unfinished', name), 'half');
    const rest = await migrate(args);
    assertClean(rest);
    assert.ok(movedFiles(rest.stdout) < fileCount, 'what had arrived was not moved again');
    assert.deepEqual(await readdir(join(fresh, 'files', 'unfinished')), []);
    const server = await startProcess(t, fresh, env);
    assert.deepEqual(await readSampleData(server, sampleData), seen);
  });

  it('[MOVE-2] stops on request, and continues when it is run again', async (t) => {
    const from = ['--from', `sqlite:${await copyOfSource(t)}`];
    const { cluster, ended, output, errors } = await interruptAfter(t, 0, from, 'SIGINT');
    assert.deepEqual(
      [ended.code, withoutProgress(errors()), output()],
      [130, 'Interrupted. Data that was moved is kept; run the same command again to continue.\n', ''],
    );
    assert.equal((await migrate([...from, ...cluster.to], cluster.s3Env)).code, 0);
  });

  it('[MOVE-2] [MOVE-3] reports existing rooms and keys that differ, and overwrites none', async (t) => {
    const fresh = join(await dataFolder(t), 'fresh');
    const args = ['--from', `sqlite:${await copyOfSource(t)}`, '--to', `sqlite:${fresh}`];
    await migrate(args);
    const [changed = '', namesake = '', deleted = ''] = sampleData.rooms.map(({ code }) => code);
    const server = await startProcess(t, fresh, env);
    await server.api.post(`/api/rooms/${changed}/content`, { json: { content: 'mine' } });
    await server.api.delete(`/api/rooms/${deleted}`);
    await runHere(['keys', 'revoke', 'laptop'], { POPROOM_DATA_DIR: fresh });
    await server.end('SIGTERM');
    makeAnother(fresh, namesake);

    const again = await migrate(args);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /^poproom: Source and target differ; existing data at the target was not changed:$/m);
    assert.match(again.stderr, new RegExp(`^ {2}room ${changed}: its text differs$`, 'm'));
    assert.match(again.stderr, new RegExp(`^ {2}room ${namesake}: another room has this code at the target$`, 'm'));
    assert.match(again.stderr, /^ {2}the key "laptop" \(.*\) differs at the target, or one of the two is revoked$/m);
    assert.match(again.stdout, /^Moved 1 room, .*$\n^Compared 43 rooms, .*: 3 differences\.$/m);
    const after = await startProcess(t, fresh, env);
    assert.equal((await after.api.get(`/api/rooms/${changed}/content`)).json.content, 'mine');
    assert.equal((await after.api.get(`/api/rooms/${namesake}/content`)).json.content, 'another');
    assert.equal((await after.api.get(`/api/rooms/${changed}`, bearer(sampleData.keys.valid))).status, 401);
  });

  it('[MOVE-3] reports bytes that are missing or different', async (t) => {
    const folder = await copyOfSource(t);
    const fresh = join(await dataFolder(t), 'fresh');
    const sizes = await Promise.all((await storedBlobs(folder)).map(async (path) => ({ path, ...(await stat(path)) })));
    const [missing = '', damaged = ''] = sizes.filter(({ size }) => size > 0).map(({ path }) => path);
    await rm(missing);
    const args = ['--from', `sqlite:${folder}`, '--to', `sqlite:${fresh}`];
    const first = await migrate(args);
    assert.equal(first.code, 1);
    assert.match(first.stderr, /^ {2}room \w+: the file ".*" is missing or damaged at the source$/m);

    await cp(missing.replace(folder, source), missing);
    await writeFile(damaged.replace(folder, fresh), Buffer.alloc((await stat(damaged)).size, '?'));
    const second = await migrate(args);
    assert.equal(second.code, 1);
    assert.match(second.stdout, /^Moved 0 rooms, 1 file /m);
    assert.match(second.stderr, /^ {2}room \w+: the file ".*" differs at the target$/m);
  });

  it('[MOVE-4] does not touch a folder that a running server uses', async (t) => {
    const folder = await copyOfSource(t);
    const fresh = join(await dataFolder(t), 'fresh');
    const server = await startProcess(t, folder, env);
    const asSource = await migrate(['--from', `sqlite:${folder}`, '--to', `sqlite:${fresh}`]);
    const asTarget = await migrate(['--from', `sqlite:${source}`, '--to', `sqlite:${folder}`]);
    const says = `poproom: Another Poproom server is using the folder ${folder}. Stop it first.\n`;
    assert.deepEqual([asSource.code, asSource.stdout, asSource.stderr], [1, '', says]);
    assert.deepEqual([asTarget.code, asTarget.stdout, asTarget.stderr], [1, '', says]);
    await assert.rejects(stat(fresh));
    await server.end('SIGTERM');
  });

  it('[MOVE-5] does not mix rooms with different secrets in one folder', async (t) => {
    const folder = await dataFolder(t);
    await writeFile(join(folder, 'secret'), 'f'.repeat(64));
    const { code, stdout, stderr } = await migrate([
      '--from',
      `sqlite:${await copyOfSource(t)}`,
      '--to',
      `sqlite:${folder}`,
    ]);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^poproom: .*secret differs from the secret of .*; choose an empty folder\.\n$/);
  });
});

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

/** As if the target had generated the same code for another room. */
function makeAnother(folder: string, code: string): void {
  const db = new DatabaseSync(join(folder, 'poproom.db'));
  db.prepare('UPDATE rooms SET created_at = created_at - 1 WHERE code = ?').run(code);
  db.prepare('DELETE FROM edits WHERE room = (SELECT id FROM rooms WHERE code = ?)').run(code);
  db.prepare("REPLACE INTO texts (room, version, content) SELECT id, version, 'another' FROM rooms WHERE code = ?").run(
    code,
  );
  db.close();
}

function assertClean({ code, stderr }: { code: number | null | undefined; stderr: string }): void {
  assert.deepEqual([code, withoutProgress(stderr)], [0, '']);
}

/** A line every five seconds, on a busy machine. */
const withoutProgress = (stderr: string) => stderr.replaceAll(/^(moving|checking): .*\n/gm, '');

const movedFiles = (stdout: string) => Number(/^Moved \d+ rooms?, (\d+) files?/m.exec(stdout)?.[1]);

async function showsNoSecret({ stdout, stderr }: { stdout: string; stderr: string }, folder: string): Promise<void> {
  const secret = await readFile(join(folder, 'secret'), 'utf8');
  for (const hidden of [secret, 'hidden-word']) assert.ok(!`${stdout}${stderr}`.includes(hidden));
}

/** The complete files. */
async function blobsIn(folder: string): Promise<string[]> {
  const paths = await storedBlobs(folder).catch(() => []);
  return paths.filter((path) => !path.includes('unfinished'));
}
