/**
 * `npm run test:stores`: runs the contract suites against the S3 servers and Redis servers on the PATH, and prints a
 * table of the results. Not part of `npm test`, which uses an S3 server from npm and Debian's Redis.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { freePort } from '../test/support/listen.ts';

const credentials = { AWS_ACCESS_KEY_ID: 'poproom-test', AWS_SECRET_ACCESS_KEY: 'poproom-test-secret' };
const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = credentials;
const bucket = 'poproom-test';

interface S3Server {
  program: string;
  version: string[];
  /** With its data in this folder. */
  start(folder: string, port: number): { args: string[]; env?: Record<string, string> };
}

const s3Servers: S3Server[] = [
  {
    program: 'versitygw',
    version: ['--version'],
    start: (folder, port) => ({
      args: ['--access', id, '--secret', secret, '--port', `127.0.0.1:${port}`, 'posix', folder],
    }),
  },
  {
    program: 'rclone',
    version: ['--version'],
    start: (folder, port) => ({
      args: ['serve', 's3', folder, '--addr', `127.0.0.1:${port}`, '--auth-key', `${id},${secret}`],
    }),
  },
  {
    program: 'minio',
    version: ['--version'],
    start: (folder, port) => ({
      args: ['server', folder, '--address', `127.0.0.1:${port}`],
      env: { MINIO_ROOT_USER: id, MINIO_ROOT_PASSWORD: secret },
    }),
  },
  {
    program: 'weed',
    version: ['version'],
    start: (folder, port) => ({
      args: ['server', '-s3', `-s3.port=${port}`, `-dir=${folder}`, '-ip=127.0.0.1'],
      env: credentials,
    }),
  },
];

const rows = [['store', 'version', 'result']];
for (const server of s3Servers.filter(({ program }) => isInstalled(program))) rows.push(await testS3(server));
for (const program of ['redis-server', 'valkey-server'].filter(isInstalled)) rows.push(testRedis(program));
const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
const [head = [], ...body] = rows;
console.log([line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n'));

function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
}

async function testS3({ program, version, start }: S3Server): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), `poproom-${program}-`));
  mkdirSync(join(folder, 'data'));
  const port = await freePort();
  const { args, env = {} } = start(join(folder, 'data'), port);
  const child = spawn(program, args, { stdio: 'ignore', cwd: folder, env: { ...process.env, ...env } });
  const endpoint = `http://127.0.0.1:${port}`;
  try {
    await createBucket(child, endpoint);
    const stores = { POPROOM_TEST_S3: endpoint, POPROOM_TEST_BUCKET: bucket, POPROOM_TEST_STORE: program };
    return [program, versionOf(program, version), runTests(['test/other-stores/s3.ts'], stores)];
  } catch (error) {
    return [program, versionOf(program, version), `does not start: ${(error as Error).message}`];
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

async function createBucket(child: ChildProcess, endpoint: string): Promise<void> {
  const login = { accessKeyId: id, secretAccessKey: secret };
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials: login });
  for (let tries = 1; ; tries++) {
    try {
      await client.send(new CreateBucketCommand({ Bucket: bucket }));
      return;
    } catch (error) {
      if (tries === 60 || child.exitCode !== null) throw error;
      await pause(500);
    }
  }
}

function testRedis(program: string): string[] {
  const files = [
    'test/store/redis.test.ts',
    'test/store/redis-cluster.slow.test.ts',
    'test/store/redis-files.slow.test.ts',
    'test/store/redis-format.test.ts',
  ];
  return [program, versionOf(program, ['--version']), runTests(files, { POPROOM_TEST_REDIS_SERVER: program })];
}

/** Prints the names of failed tests, and returns how many passed. */
function runTests(files: string[], env: Record<string, string>): string {
  const args = ['--test', '--test-reporter=tap', '--test-timeout=120000', ...files];
  const { stdout } = spawnSync(process.execPath, args, {
    env: { ...process.env, ...credentials, AWS_REGION: 'us-east-1', ...env },
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  for (const [, name] of stdout.matchAll(/^\s*not ok \d+ - (.*)$/gm)) console.error(`failed: ${name}`);
  const count = (what: string) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(stdout)?.[1] ?? 0);
  return count('fail') === 0 ? `all ${count('pass')} tests pass` : `${count('fail')} of ${count('tests')} tests fail`;
}

function versionOf(program: string, args: string[]): string {
  return /\d+\.\d+(\.\d+)?/.exec(execFileSync(program, args, { encoding: 'utf8' }))?.[0] ?? 'unknown';
}
