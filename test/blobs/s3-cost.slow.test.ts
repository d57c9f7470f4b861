/** The cost of files in a bucket: constant memory, and nothing at all if files are stored on disk. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import type { S3Options } from '../../src/blobs/s3.ts';
import { startS3 } from '../support/s3.ts';
import type { UploadsReport } from '../support/s3-uploads.ts';

const MiB = 1024 * 1024;
const atOnce = 32;

describe('s3: memory', () => {
  it('[UP-7] stays flat while many files of the maximum size are sent concurrently', async (t) => {
    const s3 = await startS3();
    t.after(() => s3.stop());
    const spool = await temporaryFolder(t);
    const options: S3Options = {
      bucket: s3.bucket,
      prefix: '',
      endpoint: s3.endpoint,
      pathStyle: true,
      spool,
      minFree: 0,
    };
    const uploads = new URL('../support/s3-uploads.ts', import.meta.url).pathname;
    const report = await run([uploads, JSON.stringify(options), String(atOnce)], s3.env);
    const { before, after }: UploadsReport = JSON.parse(report);
    const growth = after - before;
    t.diagnostic(`the peak grew by ${growth.toFixed(1)} MiB from ${before.toFixed(1)} MiB`);
    assert.equal((await s3.keys()).length, atOnce + 2);
    assert.deepEqual(await readdir(spool), []);
    // Up to 64 MiB of spent buffers may wait for the collector before it hurries; the files would be far more.
    assert.ok(growth < (atOnce * 10) / 2, `holding the files would take ${atOnce * 10} MiB; it took ${growth} MiB`);
  });
});

describe('s3: its library', () => {
  it('is loaded when a bucket is opened, not when the server module is loaded', async (t) => {
    const options = { bucket: 'b', prefix: '', pathStyle: true, spool: await temporaryFolder(t), minFree: 0 };
    const output = await run(['--input-type=module', '--eval', countLoads(options)]);
    const { server, opened } = JSON.parse(output);
    assert.equal(server, 0);
    assert.ok(opened > 0, 'this test would not notice a load');
  });
});

/** How many modules of the library there are after the import of the server, and after a bucket was opened. */
function countLoads(options: object): string {
  const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url));
  return `
    import { registerHooks } from 'node:module';
    let loads = 0;
    registerHooks({
      load(url, context, next) {
        if (url.includes('/@aws-sdk/')) loads += 1;
        return next(url, context);
      },
    });
    await import(${source('server.ts')});
    const { openS3Blobs } = await import(${source('blobs/s3.ts')});
    const server = loads;
    await openS3Blobs(${JSON.stringify(options)});
    console.log(JSON.stringify({ server, opened: loads }));
  `;
}

async function run(args: string[], env: Record<string, string> = {}): Promise<string> {
  const { PATH = '' } = process.env;
  const options = { env: { PATH, ...env }, maxBuffer: MiB, timeout: 110_000 };
  return (await promisify(execFile)(process.execPath, args, options)).stdout;
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'poproom-spool-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}
