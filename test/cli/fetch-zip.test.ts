/** `poproom fetch --zip`: one archive with all files, complete or not at all. */
import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { createCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { sharedServer } from '../support/server.ts';
import { startUnfinishedResponse } from '../support/unfinished-response.ts';
import { namesInZip, textInZip } from '../support/unzip.ts';

async function setUp(t: TestContext, names: readonly string[] = ['a.txt', 'größe.txt']) {
  const server = await sharedServer(t);
  const cli = await createCli(t, { POPROOM_URL: server.url, POPROOM_PIN: '0427' });
  const code = await server.api.room({ pin: '0427' });
  for (const name of names) await server.api.upload(code, name, `This is ${name}`, { pin: '0427' });
  await mkdir(join(cli.home, 'folder'));
  return { cli, code, inHome: (path: string) => join(cli.home, path) };
}

/** A server whose archives have these headers, and no end if they do not announce their size. */
async function startEndlessServer(t: TestContext, headers: Record<string, string>): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, headers);
    pipeline(Readable.from(endless()), response, () => undefined);
  });
  return listenOnFreePort(t, server);
}

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(64 * 1024);
}

describe('poproom fetch --zip', () => {
  it('[ZIP-10] writes the archive to its name, a folder, a path or standard output', async (t) => {
    const { cli, code, inHome } = await setUp(t);
    for (const [args, path] of [
      [[], `poproom-${code}.zip`],
      [['-o', 'folder'], `folder/poproom-${code}.zip`],
      [['-o', 'all.zip'], 'all.zip'],
    ] as const) {
      const { code: exit, stdout, stderr } = await cli.run(['fetch', code, '--zip', ...args]);
      assert.deepEqual([exit, stdout, stderr], [0, `${path}\n`, '']);
      assert.deepEqual(await namesInZip(inHome(path)), ['a.txt', 'größe.txt']);
    }
    const { code: exit } = await cli.shell(`poproom fetch ${code} --zip -o - > piped.zip`).result;
    assert.equal(exit, 0);
    assert.equal(await textInZip(inHome('piped.zip'), 'größe.txt'), 'This is größe.txt');
    const { stdout } = await cli.run(['fetch', code, '-z', '-o', 'all.zip', '--force', '--json']);
    assert.deepEqual(Object.keys(JSON.parse(stdout)), ['path', 'fileSize']);
  });

  it('[ZIP-10] overwrites nothing without --force, and reports what it cannot do', async (t) => {
    const { cli, code, inHome } = await setUp(t, []);
    await writeFile(inHome('mine.zip'), 'mine');
    const refused = async (...args: string[]) => {
      const { code: exit, stdout, stderr } = await cli.run(['fetch', code, '--zip', ...args]);
      assert.equal(stdout, '');
      return [exit, stderr];
    };
    assert.deepEqual(await refused('-o', 'mine.zip'), [
      9,
      'poproom: mine.zip already exists; use --force to overwrite it, or --existing skip or rename.\n',
    ]);
    assert.deepEqual(await refused(), [3, 'poproom: There are no files in this room.\n']);
    assert.equal((await refused('a.txt'))[0], 2);
    assert.equal((await refused('--list'))[0], 2);
    assert.equal((await refused('-o', '-', '--json'))[0], 2);
    assert.deepEqual(
      (await readdir(cli.home)).filter((name) => name.endsWith('.zip')),
      ['mine.zip'],
    );
  });

  it('[ZIP-10] writes no archive whose size the server does not announce', async (t) => {
    const { cli, code, inHome } = await setUp(t, []);
    const url = await startEndlessServer(t, { 'Content-Type': 'application/zip' });
    const { code: exit, stderr } = await cli.run(['fetch', code, '--zip', '-o', 'folder', '--url', url]);
    assert.deepEqual([exit, await readdir(inHome('folder'))], [1, []]);
    assert.match(stderr, /did not announce the size/);
  });

  it('[slow] [ZIP-10] leaves no part of an archive that is incomplete', async (t) => {
    const { cli, code, inHome } = await setUp(t, []);
    const server = await startUnfinishedResponse(t);
    const running = cli.start(['fetch', code, '--zip', '-o', 'folder', '--url', server.url]);
    await eventually('the download has started', async () => (await readdir(inHome('folder'))).length === 1);
    server.disconnect();
    const { code: exit, stderr } = await running.result;
    assert.equal(exit, 8);
    assert.match(stderr, /^poproom: The connection was lost before "poproom-\w+\.zip" was complete; try again\.\n$/);
    assert.deepEqual(await readdir(inHome('folder')), []);
  });
});
