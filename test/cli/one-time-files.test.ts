/** One-time files on the command line: sent, left alone, received, given back. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { startLimitedProxy } from './limited-proxy.ts';

const MiB = 1024 * 1024;

async function setUp(t: TestContext, start = sharedServer) {
  const server = await start(t, { POPROOM_FREE_LIMIT: '0' });
  const cli = await createCli(t, { POPROOM_URL: server.url });
  const code = await server.api.room();
  await mkdir(join(cli.home, 'folder'));
  const sendOnce = async (name: string, bytes: string | Buffer) => {
    await writeFile(join(cli.home, name), bytes);
    const sent = await cli.run(['send', code, '--once', name, '--json']);
    assert.equal(sent.code, 0, sent.stderr);
    return JSON.parse(sent.stdout)[0] as { fileUrl: string; once: boolean };
  };
  const names = async (): Promise<string[]> => {
    const { files } = (await server.api.get(`/api/rooms/${code}/files`)).json;
    return files.map(({ fileName }: { fileName: string }) => fileName);
  };
  const received = () => readdir(join(cli.home, 'folder'));
  /** Whether someone else can claim the file now. */
  const isAvailable = async (): Promise<boolean> => {
    const [{ fileId }] = (await server.api.get(`/api/rooms/${code}/files`)).json.files;
    const claimed = await server.api.post(`/api/rooms/${code}/files/${fileId}/claim`);
    if (claimed.status === 200) await server.api.delete(`/api/rooms/${code}/claims/${claimed.json.claim}`);
    return claimed.status === 200;
  };
  return { server, cli, code, sendOnce, names, received, isAvailable };
}

describe('a one-time file on the command line', () => {
  it('[CLI-32] is sent, marked, left by "fetch", and received when it is named or with --once', async (t) => {
    const { server, cli, code, sendOnce, names, received } = await setUp(t);
    const large = randomBytes(2 * MiB);
    assert.equal((await sendOnce('key', 'secret')).once, true);
    assert.equal((await sendOnce('large', large)).once, true, 'in parts');
    await sendOnce('other', 'another secret');
    await server.api.upload(code, 'plain', 'text');

    assert.match((await cli.run(['info', code])).stdout, /^ +key +6 bytes, one-time\n.*\n.*\n +plain +4 bytes$/m);
    const listed = await cli.run(['fetch', code, '--list']);
    assert.match(listed.stdout, /^ +large +2(\.0)? MiB, one-time$/m);

    const all = await cli.run(['fetch', code, '-o', 'folder']);
    assert.deepEqual([all.code, all.stdout], [0, 'folder/plain\n']);
    assert.match(all.stderr, /^Not received, .*: "key", "large", "other"\. Name one, or add --once\.\n$/);
    assert.deepEqual(await names(), ['key', 'large', 'other', 'plain']);

    const named = await cli.run(['fetch', code, 'large', '-o', 'folder']);
    assert.deepEqual([named.code, named.stdout, named.stderr], [0, 'folder/large\n', '']);
    assert.deepEqual(await readFile(join(cli.home, 'folder/large')), large);
    const piped = await cli.run(['fetch', code, 'other', '-o', '-']);
    assert.deepEqual([piped.code, piped.stdout], [0, 'another secret']);
    assert.deepEqual(await names(), ['key', 'plain']);

    const rest = await cli.run(['fetch', code, '--once', '--force', '-o', 'folder']);
    assert.deepEqual([rest.code, rest.stdout, rest.stderr], [0, 'folder/key\nfolder/plain\n', '']);
    assert.deepEqual(await names(), ['plain']);
    assert.deepEqual((await received()).sort(), ['key', 'large', 'plain']);
  });

  it('[CLI-32] is synced to disk with its name before it is erased', async (t) => {
    const { cli, code, sendOnce } = await setUp(t);
    await sendOnce('key', 'secret');
    const traced = 'strace -f -qq -y -e trace=fsync,link,linkat -o trace';
    const { code: exit } = await cli.shell(`${traced} poproom fetch ${code} key -o folder`).result;
    assert.equal(exit, 0);
    const calls = String(await readFile(join(cli.home, 'trace'))).match(/(fsync|link(at)?)\(.*/g) ?? [];
    const [data = '', name = '', folder = ''] = calls.filter((call) => call.includes('folder'));
    assert.match(data, /^fsync\(.*\.part>/);
    assert.match(name, /^link.*folder\/key/);
    assert.match(folder, /^fsync\(.*folder>/);
  });

  it('[slow] [CLI-32] stays in the room if it cannot be written, or someone else is receiving it', async (t) => {
    const { server, cli, code, sendOnce, names, isAvailable } = await setUp(t);
    const { fileUrl } = await sendOnce('key', Buffer.alloc(MiB, 'x'));
    const full = await cli.run(['fetch', code, 'key', '-f', '-o', '/dev/full']);
    assert.equal(full.code, 9);
    assert.ok(await isAvailable());
    const unread = await cli.shell(`(poproom fetch ${code} key -o -; echo $? >&2) | head -c 3`).result;
    assert.deepEqual([unread.stdout.length, unread.stderr], [3, '0\n'], 'nobody has read the rest');
    assert.ok(await isAvailable());
    const unnamed = await cli.run(['fetch', code, '-o', '-']);
    assert.equal(unnamed.code, 2);
    assert.match(unnamed.stderr, /poproom: Name the one-time file/);

    await server.api.post(`/api/rooms/${code}/files/${fileUrl.split('/').at(-2)}/claim`);
    const late = await cli.run(['fetch', code, 'key', '-o', 'folder']);
    assert.equal(late.code, 5);
    assert.match(late.stderr, /^poproom: Someone else is receiving this file\..* within 30 minutes\.\n$/);
    assert.deepEqual(await names(), ['key']);
  });

  it('[slow] [CLI-32] is given back when the command is interrupted', async (t) => {
    const { server, cli, code, sendOnce, received, isAvailable } = await setUp(t);
    await sendOnce('key', randomBytes(8 * MiB));
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const line = await startLimitedProxy(t, server.port, { down: 2 * MiB });
      const fetching = cli.start(['fetch', code, 'key', '-o', 'folder', '--url', line.url]);
      await line.paused;
      await eventually('some of it is on the disk', async () => (await received()).length === 1);
      assert.equal(await isAvailable(), false);
      fetching.signal(signal);
      line.resume();
      assert.ok([130, 143].includes((await fetching.result).code ?? 0));
      assert.ok(await isAvailable());
      assert.deepEqual(await received(), []);
    }
  });

  it('[slow] [CLI-32] is available again 30 minutes after the command was killed', async (t) => {
    const { server, cli, code, sendOnce, isAvailable } = await setUp(t, startTestServer);
    await sendOnce('key', randomBytes(8 * MiB));
    const line = await startLimitedProxy(t, server.port, { down: 2 * MiB });
    const fetching = cli.start(['fetch', code, 'key', '-o', 'folder', '--url', line.url]);
    await line.paused;
    fetching.signal('SIGKILL');
    await fetching.result;
    assert.equal(await isAvailable(), false);
    server.clock.advance(30 * 60_000);
    assert.ok(await isAvailable());
    // The server waits for its connections when it stops.
    line.disconnect();
  });

  it('[slow] [CLI-32] is received completely over a connection that breaks', async (t) => {
    const { server, cli, code, sendOnce, names } = await setUp(t);
    const bytes = randomBytes(8 * MiB);
    await sendOnce('key', bytes);
    const line = await startLimitedProxy(t, server.port, { down: 2 * MiB });
    const fetching = cli.start(['fetch', code, 'key', '-o', 'folder', '--url', line.url]);
    await line.paused;
    line.resume();
    line.disconnect();
    const { code: exit, stderr } = await fetching.result;
    assert.deepEqual([exit, stderr], [0, '']);
    assert.deepEqual(await readFile(join(cli.home, 'folder/key')), bytes);
    assert.deepEqual(await names(), []);
  });
});
