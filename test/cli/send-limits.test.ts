/** `poproom send` and the limits of the server: what does not fit is not sent. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Cli, createCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer, type TestServer } from '../support/server.ts';

const MiB = 1024 * 1024;

async function setUp(t: TestContext, limits: Record<string, string>) {
  const server = await sharedServer(t, limits);
  const cli = await createCli(t, { POPROOM_URL: server.url });
  return { server, cli, code: await server.api.room() };
}

const put = (cli: Cli, name: string, bytes: string | Buffer) => writeFile(join(cli.home, name), bytes);

async function namesIn({ api }: TestServer, code: string): Promise<string[]> {
  const { json } = await api.get(`/api/rooms/${code}/files`);
  return json.files.map(({ fileName }: { fileName: string }) => fileName);
}

describe('poproom send and the limits of the server', () => {
  it('[slow] [CLI-10] sends a file that a server with a larger limit accepts', async (t) => {
    const { server, cli, code } = await setUp(t, { POPROOM_FILE_MAX: '30MiB' });
    const bytes = randomBytes(20 * MiB);
    await put(cli, 'video', bytes);
    const { code: exit, stderr } = await cli.run(['send', code, 'video']);
    assert.deepEqual([exit, stderr], [0, '']);
    const fetched = await cli.run(['fetch', code, '-o', 'copy']);
    assert.deepEqual([fetched.code, fetched.stderr], [0, '']);
    assert.deepEqual(await namesIn(server, code), ['video']);
  });

  it('[CLI-10] names the limit, and sends nothing, if a file or all files together do not fit', async (t) => {
    const { server, cli, code } = await setUp(t, {
      POPROOM_FILE_MAX: '6MiB',
      POPROOM_ROOM_MAX_BYTES: '9MiB',
      POPROOM_ROOM_MAX_FILES: '3',
    });
    await server.api.upload(code, 'present', Buffer.alloc(1.5 * MiB));
    await put(cli, 'big.iso', Buffer.alloc(6 * MiB + 1));
    await put(cli, 'six', Buffer.alloc(6 * MiB));
    await put(cli, 'two', Buffer.alloc(2 * MiB));
    await put(cli, 'x', 'x');
    const refused: [args: string[], says: string][] = [
      [['big.iso'], 'big.iso is too large: this server accepts files of up to 6 MiB.'],
      [['x', 'big.iso'], 'big.iso is too large: this server accepts files of up to 6 MiB.'],
      [['six', 'two'], 'The room has 7.5 MiB left, but you are sending 8 MiB.'],
      [['x', 'x', 'x'], 'The room has space for 2 more files, but you are sending 3.'],
    ];
    for (const [args, says] of refused)
      assert.deepEqual(await cli.run(['send', code, ...args]), { code: 6, stdout: '', stderr: `poproom: ${says}\n` });
    assert.deepEqual(await namesIn(server, code), ['present']);
  });

  it('[CLI-10] shows the error of the server for a small file, which is not checked first', async (t) => {
    const { cli, code } = await setUp(t, { POPROOM_FILE_MAX: '1KiB' });
    await put(cli, 'small', Buffer.alloc(1025));
    const { code: exit, stdout, stderr } = await cli.run(['send', code, 'small']);
    assert.deepEqual([exit, stdout], [6, '']);
    assert.match(stderr, /^poproom: The file exceeds the limit of 1 KiB[^\n]*\n$/);
  });

  it('[slow] [CLI-10] counts the space of a removed file as free', async (t) => {
    const { server, cli, code } = await setUp(t, { POPROOM_FILE_MAX: '6MiB', POPROOM_ROOM_MAX_BYTES: '6MiB' });
    await put(cli, 'six', Buffer.alloc(6 * MiB));
    assert.equal((await cli.run(['send', code, 'six'])).code, 0);
    assert.match((await cli.run(['send', code, 'six'])).stderr, /The room has 0 bytes left/);
    assert.equal((await cli.run(['rm', code, 'six'])).code, 0);
    assert.equal((await cli.run(['send', code, 'six', '--name', 'other'])).code, 0);
    assert.deepEqual(await namesIn(server, code), ['other']);
  });

  it('[slow] [CLI-10] stops reading standard input or a pipe at the limit', async (t) => {
    const { server, cli, code } = await setUp(t, { POPROOM_FILE_MAX: '2MiB' });
    const endless = [`yes | poproom send ${code} - --name n`, `bash -c 'poproom send ${code} <(yes) --name n'`];
    for (const line of endless) {
      const { code: exit, stderr } = await cli.shell(line).result;
      const says = 'poproom: n is too large: this server accepts files of up to 2 MiB.\n';
      assert.deepEqual([exit, stderr], [6, says]);
    }
    assert.deepEqual(await namesIn(server, code), []);
  });
});

describe('the temporary file for standard input', () => {
  it('[slow] [CLI-10] is private, and is removed after success, an error and Ctrl-C', async (t) => {
    const { server, cli, code } = await setUp(t, { POPROOM_FILE_MAX: '20MiB' });
    const folder = join(cli.home, 'tmp');
    await mkdir(folder);
    const env = { TMPDIR: folder };
    const args = ['send', code, '-', '--name', 'n'];
    assert.equal((await cli.run(args, { env, stdin: Buffer.alloc(12 * MiB) })).code, 0);
    assert.deepEqual(await namesIn(server, code), ['n']);
    assert.equal((await cli.run(args, { env, stdin: Buffer.alloc(21 * MiB) })).code, 6);
    assert.deepEqual(await readdir(folder), []);

    const sending = cli.start(args, { env, stdin: 'open' });
    sending.type('private');
    const written = async () => {
      const [name] = await readdir(folder);
      const path = name && join(folder, name, 'input');
      return path && (await stat(path).catch(() => undefined))?.size === 7 && path;
    };
    const path = await eventually('the input is stored', written);
    const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
    assert.deepEqual([await modeOf(path), await modeOf(join(path, '..'))], [0o600, 0o700]);
    sending.signal('SIGINT');
    assert.equal((await sending.result).code, 130);
    assert.deepEqual(await readdir(folder), []);
  });
});
