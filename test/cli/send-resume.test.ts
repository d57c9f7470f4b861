/** `poproom send` after an interruption: the same command continues. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Cli, createCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { startKeystreamAttack } from '../support/keystream-attack.ts';
import { startMaliciousServer } from '../support/malicious-server.ts';
import { sharedServer, type TestServer } from '../support/server.ts';
import { type LimitedProxy, startLimitedProxy } from './limited-proxy.ts';

const MiB = 1024 * 1024;
/** Files from 5 MiB are sent resumably. */
const fileBytes = 8 * MiB;

interface Setup {
  server: TestServer;
  cli: Cli;
  line: LimitedProxy;
  code: string;
  bytes: Buffer;
}

/** The line stops in the middle of the file `video`. */
async function setUp(t: TestContext, pin?: string): Promise<Setup> {
  const server = await sharedServer(t, { POPROOM_FILE_MAX: '50MiB', POPROOM_FREE_LIMIT: '0' });
  const line = await startLimitedProxy(t, server.port, { up: 4 * MiB });
  const cli = await createCli(t, { POPROOM_URL: line.url, ...(pin && { POPROOM_PIN: pin }) });
  const bytes = randomBytes(fileBytes);
  await writeFile(join(cli.home, 'video'), bytes);
  return { server, cli, line, code: await server.api.room(pin ? { pin } : {}), bytes };
}

async function interrupt({ cli, line }: Setup, args: string[], signal: NodeJS.Signals) {
  const sending = cli.start(['send', ...args]);
  await line.paused;
  sending.signal(signal);
  const result = await sending.result;
  line.resume();
  await eventually('the server has everything that was sent', () => line.isClosed);
  return result;
}

/** Runs a command, and returns how many bytes it sent. */
async function bytesSentBy({ cli, line }: Setup, args: string[]): Promise<number> {
  const before = line.sent;
  const { code, stderr } = await cli.run(['send', ...args]);
  assert.deepEqual([code, stderr], [0, '']);
  return line.sent - before;
}

async function hashes({ server, code }: Setup, pin?: string): Promise<[name: string, hash: string][]> {
  const { json } = await server.api.get(`/api/rooms/${code}/files`, pin === undefined ? {} : { pin });
  return Promise.all(
    json.files.map(async ({ fileName, fileUrl }: { fileName: string; fileUrl: string }) => {
      return [fileName, sha256(Buffer.from(await (await fetch(fileUrl)).arrayBuffer()))];
    }),
  );
}

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
const stateFile = ({ cli }: Setup) => join(cli.home, '.local/state/poproom/uploads.json');
const remembered = async (setup: Setup) => Object.values(JSON.parse(await readFile(stateFile(setup), 'utf8')));

describe('poproom send, run again', () => {
  it('[CLI-104] continues in the room that the command has created', async (t) => {
    const setup = await setUp(t);
    const { cli, server, line, bytes } = setup;
    const first = await interrupt(setup, ['video'], 'SIGINT');
    const code = first.stdout.trim();
    assert.deepEqual([first.code, first.stderr], [130, 'Run the same command again to continue.\n']);
    const before = line.sent;
    const again = await cli.run(['send', 'video']);
    assert.deepEqual([again.code, again.stdout.split('\n')[0]], [0, code]);
    assert.ok(line.sent - before < 6 * MiB, 'only the rest is sent');
    assert.deepEqual(await hashes({ ...setup, code }), [['video', sha256(bytes)]]);

    // A complete command, a changed file and a room that has ended lead to a new room.
    const other = (await cli.run(['send', 'video'])).stdout.split('\n')[0];
    assert.notEqual(other, code);
    const stopped = await startLimitedProxy(t, server.port, { up: 4 * MiB });
    const env = { POPROOM_URL: stopped.url };
    const sending = cli.start(['send', 'video'], { env });
    await stopped.paused;
    sending.signal('SIGINT');
    const ended = (await sending.result).stdout.trim();
    stopped.resume();
    await server.api.delete(`/api/rooms/${ended}`);
    const last = await cli.run(['send', 'video'], { env });
    assert.equal(last.code, 0);
    assert.ok(![ended, code, other].includes(last.stdout.split('\n')[0]));
  });

  it('[slow] [CLI-29] continues after Ctrl-C, and says so', async (t) => {
    const setup = await setUp(t);
    const { code: exit, stdout, stderr } = await interrupt(setup, [setup.code, 'video'], 'SIGINT');
    assert.deepEqual([exit, stdout, stderr], [130, '', 'Run the same command again to continue.\n']);
    assert.equal((await stat(stateFile(setup))).mode & 0o777, 0o600);
    assert.equal((await remembered(setup)).length, 1);
    const sent = await bytesSentBy(setup, [setup.code, 'video']);
    assert.ok(sent < fileBytes - 2 * MiB, `sent ${sent} bytes`);
    assert.deepEqual(await hashes(setup), [['video', sha256(setup.bytes)]]);
    assert.deepEqual(await remembered(setup), []);
  });

  it('[slow] [CLI-29] removes the progress bar on a terminal after Ctrl-C', async (t) => {
    const { cli, line, code } = await setUp(t);
    const sending = cli.terminal(`poproom send ${code} video`);
    await line.paused;
    await sending.waitForOutput(/video .*%/);
    sending.type('\x03');
    const { code: exit, stdout } = await sending.result;
    line.resume();
    assert.equal(exit, 130);
    assert.match(stdout, /\r {20,}\rRun the same command again to continue\.\r\n$/);
  });

  it('[CLI-29] continues after a crash, in a room with a PIN', async (t) => {
    const pin = '0427';
    const setup = await setUp(t, pin);
    await interrupt(setup, [setup.code, 'video'], 'SIGKILL');
    const sent = await bytesSentBy(setup, [setup.code, './video']);
    assert.ok(sent < fileBytes - 2 * MiB, `sent ${sent} bytes`);
    assert.deepEqual(await hashes(setup, pin), [['video', sha256(setup.bytes)]]);
  });

  it('[slow] [CLI-29] does not send the files again that were complete', async (t) => {
    const setup = await setUp(t);
    for (const name of ['a', 'b']) await writeFile(join(setup.cli.home, name), name);
    const args = [setup.code, 'a', 'video', 'b'];
    const { stderr } = await interrupt(setup, args, 'SIGINT');
    assert.equal(stderr, 'Sent: "a"; not sent: "video", "b".\nRun the same command again to continue.\n');
    await bytesSentBy(setup, args);
    const expected = [
      ['a', sha256('a')],
      ['video', sha256(setup.bytes)],
      ['b', sha256('b')],
    ];
    assert.deepEqual(await hashes(setup), expected);
    assert.deepEqual(await remembered(setup), []);
    await bytesSentBy(setup, [setup.code, 'video', 'video']);
    assert.equal((await hashes(setup)).length, 5, 'after success, the same file can be sent again');
  });

  it('[slow] [CLI-29] starts again if the file has changed, or the server has removed the upload', async (t) => {
    const setup = await setUp(t);
    const { server, cli, code } = setup;
    await interrupt(setup, [code, 'video'], 'SIGINT');
    const [{ uploadId }] = (await remembered(setup)) as [{ uploadId: string }];
    const headers = { 'Tus-Resumable': '1.0.0' };
    const upload = `${server.url}/api/rooms/${code}/uploads/${uploadId}`;
    assert.equal((await fetch(upload, { method: 'DELETE', headers })).status, 204);
    assert.ok((await bytesSentBy(setup, [code, 'video'])) >= fileBytes);
    assert.deepEqual(await hashes(setup), [['video', sha256(setup.bytes)]]);

    await utimes(join(cli.home, 'video'), 1, 1);
    assert.ok((await bytesSentBy(setup, [code, 'video'])) >= fileBytes);
  });

  it('[CLI-29] ignores old and malformed entries, and keeps at most 100', async (t) => {
    const setup = await setUp(t);
    const entry = { uploadId: '0'.repeat(32), at: Date.now() };
    const old = { ...entry, at: Date.now() - 25 * 60 * 60 * 1000 };
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`key-${i}`, entry]));
    await mkdir(join(setup.cli.home, '.local/state/poproom'), { recursive: true });
    await writeFile(stateFile(setup), JSON.stringify({ old, malformed: { uploadId: '../x', at: 1 }, ...many }));
    await interrupt(setup, [setup.code, 'video'], 'SIGINT');
    const kept = Object.keys(JSON.parse(await readFile(stateFile(setup), 'utf8')));
    assert.deepEqual([kept.length, kept[0], kept.includes('old')], [100, 'key-51', false]);
    await writeFile(stateFile(setup), 'not JSON');
    assert.ok((await bytesSentBy(setup, [setup.code, 'video'])) >= fileBytes);
  });
});

describe('poproom send, run again for an encrypted room', () => {
  async function setUpEncrypted(t: TestContext) {
    const server = await sharedServer(t, { POPROOM_FILE_MAX: '50MiB', POPROOM_FREE_LIMIT: '0' });
    const proxy = await startMaliciousServer(t, () => server.port);
    const cli = await createCli(t, { POPROOM_URL: proxy.url });
    const { stdout } = await cli.run(['new', '--encrypted', '--json']);
    const attack = startKeystreamAttack(proxy);
    const path = join(cli.home, 'report');
    const state = join(cli.home, '.local/state/poproom/uploads.json');

    async function interruptSending(files = ['report']): Promise<void> {
      attack.interrupt();
      const expected = attack.sent.length + files.length + 1;
      const sending = cli.start(['send', code, ...files]);
      await eventually('the connection is lost', () => attack.sent.length >= expected);
      sending.signal('SIGINT');
      assert.equal((await sending.result).code, 130);
      attack.end();
    }

    const { roomId: code } = JSON.parse(stdout) as { roomId: string };
    return { cli, code, attack, path, state, interruptSending };
  }

  it('[SEALED-90] [SEALED-93] continues with its own salt, which it keeps in sealed form', async (t) => {
    const { cli, code, attack, path, state, interruptSending } = await setUpEncrypted(t);
    const [known, secret] = [randomBytes(fileBytes), randomBytes(fileBytes)];
    await writeFile(path, known);
    assert.equal((await cli.run(['send', code, 'report'])).code, 0);
    await writeFile(path, secret);
    await interruptSending();
    const kept = await readFile(state, 'utf8');
    attack.pretend(attack.metas[0] ?? assert.fail());
    await cli.run(['send', code, 'report']);
    assert.equal(attack.reveals(known, secret), false);

    assert.match(kept, /^\{"[0-9a-f]{64}":\{"uploadId":"[0-9a-f]{32}\.pop1\.[\w-]+","at":\d+\}\}\n$/);
    await writeFile(state, kept);
    attack.end();
    const { code: exit, stderr } = await cli.run(['send', code, 'report']);
    assert.deepEqual([exit, stderr, attack.metas.length], [0, '', 2], 'it continued');
    await cli.run(['fetch', code, 'report', '-o', 'fetched']);
    assert.equal(sha256(await readFile(join(cli.home, 'fetched'))), sha256(secret));
    assert.equal(await readFile(state, 'utf8'), '{}\n');
  });

  it('[slow] [SEALED-90] starts again if the file has changed, even with the same size and time of modification', async (t) => {
    const { cli, code, attack, path, interruptSending } = await setUpEncrypted(t);
    const before = randomBytes(fileBytes);
    const after = Buffer.from(before).fill('changed', MiB / 2, 3 * MiB);
    await writeFile(path, before);
    await utimes(path, 1, 1);
    await interruptSending();
    await writeFile(path, after);
    await utimes(path, 1, 1);
    attack.pretend(attack.metas[0] ?? assert.fail());
    await cli.run(['send', code, 'report']);
    assert.deepEqual([attack.metas.length, attack.reveals(before, after)], [2, false]);
  });

  it('[slow] [SEALED-90] does not send the small files again that were complete', async (t) => {
    const { cli, code, attack, path, interruptSending } = await setUpEncrypted(t);
    await writeFile(path, randomBytes(fileBytes));
    await writeFile(join(cli.home, 'a'), 'a');
    await interruptSending(['a', 'report']);
    const { code: exit, stderr } = await cli.run(['send', code, 'a', 'report']);
    assert.deepEqual([exit, stderr, attack.metas.length], [0, '', 2]);
  });
});
