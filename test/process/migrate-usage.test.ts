/** The options of `poproom migrate`, its help and its messages for incorrect usage. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { dataFolder, run } from '../support/process.ts';

describe('poproom migrate', () => {
  it('[MOVE-5] shows examples with --help', async () => {
    const { code, stdout, stderr } = await run(['migrate', '--help']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /poproom migrate --from sqlite:\.\/data --to redis:\/\/localhost:6379 --to-files s3:/);
  });

  it('[MOVE-5] reports incorrect options in one sentence, without passwords', async (t) => {
    const { from, to } = await sourceAndTarget(t);
    const host = 'redis://user:pass-word@127.0.0.1:1';
    const invalid: [args: string[], message: RegExp][] = [
      [[], /--from and --to are required/],
      [from, /--from and --to are required/],
      [[...from, '--to'], /argument missing; see poproom migrate --help/],
      [[...from, '--into', host], /Unknown option '--into'/],
      [[...from, `--into=${host}`], /Unknown option '--into'/],
      [['sqlite:a', host], /takes only options/],
      [['--from', 'mysql://user:pass-word@host', ...to], /--from must be sqlite:FOLDER or a URL/],
      [['--from', 'sqlite:', ...to], /--from must be sqlite:FOLDER/],
      [[...from, '--to', 'sqlite://data'], /--to must be sqlite:FOLDER/],
      [[...from, '--to', 'redis://user:pass-word@', '--to-files', 's3://bucket'], /--to must look like redis:/],
      [[...from, '--to', `${host}?x=1`, '--to-files', 's3://bucket'], /--to has the unknown option "x"/],
      [[...from, '--to', host], /Redis does not store files; set --to-files/],
      [[...from, '--to', host, '--to-files', 'ftp://x'], /--to-files must be disk:FOLDER or a bucket/],
    ];
    for (const [args, message] of invalid) await assertFails(args, message, 2);
  });

  it('[MOVE-3] reports what was moved and compared as JSON', async (t) => {
    const { folder, from, to } = await sourceAndTarget(t);
    const { code, stdout, stderr } = await run(['migrate', ...from, ...to, '--json'], {
      POPROOM_SECRET: 'x'.repeat(32),
    });
    assert.deepEqual([code, stderr], [0, '']);
    const { pins, ...report } = JSON.parse(stdout);
    assert.deepEqual(report, {
      moved: { keys: 1, rooms: 0, files: 0, bytes: 0 },
      checked: { keys: 1, rooms: 0, files: 0 },
      differences: { count: 0, first: [] },
    });
    assert.match(pins, /^To keep PINs valid, set the current POPROOM_SECRET/);
    assert.ok(existsSync(join(folder, 'new', 'poproom.db')));
  });

  it('[slow] [MOVE-5] reports problems with its source and target', async (t) => {
    const { folder, from, to } = await sourceAndTarget(t);
    await writeFile(join(folder, 'file'), '');
    await symlink(join(folder, 'data'), join(folder, 'link'));
    const host = 'redis://user:pass-word@127.0.0.1:1';
    const invalid: [args: string[], message: RegExp][] = [
      [['--from', `sqlite:${folder}`, ...to], /There is no Poproom data in /],
      [[...from, '--from-files', 'disk:nowhere', ...to], /The folder .*nowhere does not exist; set --from-files/],
      [[...from, '--to', `sqlite:${folder}/file`], /file is not a folder\./],
      [[...from, '--to', `sqlite:${folder}/link`], /--from and --to are the same/],
      [sameRedis, /--from and --to are the same/],
    ];
    const unreachable: [args: string[], message: RegExp][] = [
      [[...from, '--to', host, '--to-files', `disk:${folder}`], /Redis at 127\.0\.0\.1:1 does not respond/],
      [[...from, ...to, '--to-files', 's3://bucket'], /The bucket bucket does not respond\. Check POPROOM_S3/],
    ];
    for (const [args, message] of invalid) await assertFails(args, message, 2);
    for (const [args, message] of unreachable) await assertFails(args, message, 1);
  });
});

const sameRedis = [
  ...['--from', 'redis://user:pass-word@host?prefix=a', '--from-files', 's3://bucket'],
  ...['--to', 'redis://host:6379/0?prefix=a', '--to-files', 's3://bucket'],
];

/** A folder with data, and options for its migration to another folder. */
async function sourceAndTarget(t: TestContext) {
  const folder = await dataFolder(t);
  await mkdir(join(folder, 'data', 'files'), { recursive: true });
  await run(['keys', 'create', 'laptop'], { POPROOM_DATA_DIR: join(folder, 'data') });
  return { folder, from: ['--from', `sqlite:${folder}/data`], to: ['--to', `sqlite:${folder}/new`] };
}

async function assertFails(args: string[], message: RegExp, exitCode: number): Promise<void> {
  const { code, stdout, stderr } = await run(['migrate', ...args], { POPROOM_S3_ENDPOINT: 'http://127.0.0.1:1' });
  assert.deepEqual([code, stdout], [exitCode, ''], args.join(' '));
  assert.match(stderr, message);
  assert.match(stderr, /^poproom: [^\n]*\n$/, 'the output is one line');
  assert.ok(!stderr.includes('pass-word'), stderr);
}
