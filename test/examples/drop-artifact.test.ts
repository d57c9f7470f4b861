/** examples/drop-artifact.sh, with the real command and a real server. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createCli } from '../support/cli.ts';
import { startTestServer } from '../support/server.ts';

const script = fileURLToPath(new URL('../../examples/drop-artifact.sh', import.meta.url));

describe('the script that drops a file', () => {
  it('[DOCS-5] creates a room for it and prints the link, whatever is on standard input', async (t) => {
    const { api, url, drop } = await setUp(t);
    const { code, stdout, stderr } = await drop('app.tgz', 'open').result;
    assert.deepEqual([code, stderr], [0, '']);
    const [, room] = new RegExp(`^${url}/r/(\\w+)\n$`).exec(stdout) ?? assert.fail(stdout);
    const [file] = (await api.get(`/api/rooms/${room}/files`)).json.files;
    assert.deepEqual([file.fileName, file.fileSize], ['app.tgz', 'the build'.length]);
    assert.equal((await api.get(`/api/rooms/${room}/content`)).json.content, '');
  });

  it('[slow] [DOCS-5] uploads it to the given room', async (t) => {
    const { api, url, drop } = await setUp(t);
    const room = await api.room();
    const { code, stdout } = await drop(`${room} app.tgz`).result;
    assert.deepEqual([code, stdout], [0, `${url}/r/${room}\n`]);
    assert.equal((await api.get(`/api/rooms/${room}/files`)).json.files.length, 1);
  });

  it('[slow] [DOCS-5] ends with the exit code of the failure, and prints no link', async (t) => {
    const { drop } = await setUp(t);
    const ended = await Promise.all(['', '000000 app.tgz', 'missing.tgz'].map((args) => drop(args).result));
    assert.deepEqual(
      ended.map(({ code, stdout }) => [code, stdout]),
      [
        [2, ''],
        [3, ''],
        [9, ''],
      ],
    );
  });
});

async function setUp(t: TestContext) {
  const { api, url } = await startTestServer(t);
  const cli = await createCli(t, { POPROOM_URL: url });
  await writeFile(join(cli.home, 'app.tgz'), 'the build');
  const drop = (args: string, stdin?: 'open') => cli.shell(`exec "${script}" ${args}`, stdin ? { stdin } : {});
  return { api, url, drop };
}
