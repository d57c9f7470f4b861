/** Encrypted rooms on the command line: where their keys come from, and the filters for curl. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readEnvironment } from '../../src/cli/environment.ts';
import { openEncryptedRooms } from '../../src/cli/known-rooms.ts';
import { createClient, type FileEntry } from '../../src/client/index.ts';
import { type Cli, createCli } from '../support/cli.ts';
import { copy, holds, installXclip } from '../support/clipboard.ts';
import {
  copyOf,
  jsonResponse,
  startMaliciousServer,
  tamperFileLists,
  tamperJson,
} from '../support/malicious-server.ts';
import { dataFolder } from '../support/process.ts';
import { sharedServer } from '../support/server.ts';
import { inspectStore } from '../support/store-inspector.ts';

const link = (url: string, code: string, key: string) => `${url}/r/${code}#${key.replaceAll('-', '')}`;

async function start(t: TestContext) {
  const server = await sharedServer(t, { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' });
  const env = { POPROOM_URL: server.url };
  const [maker, other] = [await createCli(t, env), await createCli(t, env)];
  const made = await maker.run(['new', '--encrypted', '--name', 'Plans', '--json'], { stdin: 'first text' });
  assert.equal(made.code, 0, made.stderr);
  const { roomId: code, key, link: shared } = JSON.parse(made.stdout);
  assert.equal(shared, link(server.url, code, key));
  return { server, maker, other, code: code as string, key: key as string };
}

/** Two computers on a malicious server. The room was created on the first one. */
async function startMalicious(t: TestContext) {
  const server = await sharedServer(t, { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' });
  const proxy = await startMaliciousServer(t, () => server.port);
  const env = { POPROOM_URL: proxy.url };
  const [maker, other] = [await createCli(t, env), await createCli(t, env)];
  const made = await maker.run(['new', '--encrypted', '--json'], { stdin: 'first text' });
  assert.equal(made.code, 0, made.stderr);
  const { roomId: code, key } = JSON.parse(made.stdout) as { roomId: string; key: string };
  const honest = { answer: proxy.answer, tamperResponse: proxy.tamperResponse };
  return { server, proxy, maker, other, code, key, beHonest: () => Object.assign(proxy, honest) };
}

const remembered = ({ home }: Cli) => readFile(join(home, '.local/state/poproom/encrypted-rooms.json'), 'utf8');

/** The responses of a server that has a plain room under this code. */
const plainRoom = (code: string) => {
  const time = '2999-01-01T00:00:00.000Z';
  const info = { roomId: code, expiresAt: time, hasPin: false, deviceCount: 0 };
  return jsonResponse(200, { ...info, success: true, content: '', version: 0, timestamp: time, files: [] });
};

describe('an encrypted room on the command line', () => {
  it('[SEALED-50] works by its code where it was created, with all room commands', async (t) => {
    const { maker, code, key, server } = await start(t);
    const run = async (...args: string[]) => {
      const { code: exit, stdout, stderr } = await maker.run(args);
      assert.equal(exit, 0, `${args}: ${stderr}`);
      return stdout;
    };
    assert.equal(await run('get', code), 'first text');
    await run('put', code, ' and more', '--append');
    assert.equal(await run('get', code), 'first text and more');
    await writeFile(join(maker.home, 'secret.txt'), 'the file');
    await run('send', code, 'secret.txt');
    assert.equal(await run('fetch', code, 'secret.txt', '-o', '-'), 'the file');
    assert.match(await run('info', code), /Plans[\s\S]*encrypted +yes[\s\S]*secret\.txt/);
    const { mode } = await stat(join(maker.home, '.local/state/poproom/encrypted-rooms.json'));
    assert.equal(mode & 0o777, 0o600);
    const room = createClient({ url: server.url }).room(code, { key });
    assert.equal((await room.read()).content, 'first text and more');
    const zipped = await maker.run(['fetch', code, '--zip']);
    assert.match(zipped.stderr, /cannot make a zip archive of encrypted files/);
    await run('rm', code, '--yes');
    const afterwards = await maker.run(['get', code], { env: { POPROOM_ROOM_KEY: key } });
    assert.equal(afterwards.code, 3, 'there is no such room');
    const withPin = await maker.run(['new', '--encrypted', '--pin'], { env: { POPROOM_PIN: '0427' } });
    assert.deepEqual([withPin.code, withPin.stderr], [2, 'poproom: An encrypted room has a key instead of a PIN.\n']);
  });

  it('[slow] [SEALED-50] is followed by watch and clip, which write edits of others and of the clipboard', async (t) => {
    const { maker, code, key, server } = await start(t);
    const room = createClient({ url: server.url }).room(code, { key });
    const watching = maker.start(['watch', code]);
    await watching.waitForOutput('first text\n');
    await room.append(', second');
    await watching.waitForOutput('first text, second\n');

    await installXclip(maker);
    const clipping = maker.start(['clip', code], { env: { DISPLAY: ':0' } });
    await holds(maker, 'first text, second');
    await copy(maker, 'copied');
    await watching.waitForOutput('copied\n');
    await room.write('from the room');
    await holds(maker, 'from the room');
    await room.delete();
    for (const process of [watching, clipping]) assert.equal((await process.result).code, 0, 'it ends with the room');
  });

  it('[slow] [SEALED-48] keeps a text that put replaces in the history', async (t) => {
    const { maker, code } = await start(t);
    const run = async (...args: string[]) => {
      const { code: exit, stdout, stderr } = await maker.run(args);
      assert.equal(exit, 0, `${args}: ${stderr}`);
      return stdout;
    };
    for (let n = 0; n < 6; n++) await run('put', code, `${n}`, '--append');
    await run('put', code, 'another');
    assert.equal(await run('history', code, '7'), 'first text012345');
    await run('restore', code, '7');
    assert.equal(await run('get', code), 'first text012345');
  });

  it('[SEALED-51] asks other computers for the key, or reads it from the environment or standard input', async (t) => {
    const { other, code, key, server } = await start(t);
    const asking = other.terminal(`poproom get ${code}`);
    const prompts = (n: number) => asking.waitForOutput(new RegExp(`(Key of room ${code}: [^]*){${n}}`));
    await prompts(1);
    asking.type('not a key\r');
    await prompts(2);
    asking.type('H4T9-WZ3B-NQ6Y-RC88\r');
    await prompts(3);
    asking.type(`${link(server.url, code, key)}\r`);
    const { stdout } = await asking.result;
    assert.match(stdout, /A room key has 16 letters[\s\S]*Wrong room key\. 4 tries left\.[\s\S]*first text/);
    assert.ok(!stdout.includes('not a key') && !stdout.includes(server.url), 'nothing typed is shown');
    const get = (env: Record<string, string>) => other.run(['get', code], { env });
    assert.equal((await get({ POPROOM_ROOM_KEY: key.toLowerCase() })).stdout, 'first text');
    assert.equal((await get({ POPROOM_ROOM_KEY: 'H4T9-WZ3B-NQ6Y-RC88' })).code, 4);
    const missing = await get({});
    assert.deepEqual(missing.code, 4);
    assert.match(missing.stderr, /This room is encrypted; set POPROOM_ROOM_KEY/);
    const piped = await other.run(['get', '-'], { stdin: `${link(server.url, code, key)}\n` });
    assert.equal(piped.stdout, 'first text', piped.stderr);
    const argument = await other.run(['get', link(server.url, code, key)]);
    assert.equal(argument.code, 2);
    assert.match(
      argument.stderr,
      /Do not pass a link with a room key as an argument: process lists and the shell history/,
    );
    assert.ok(!argument.stderr.includes(key.slice(0, 4)));
  });

  it('[SEALED-52] has filters with which curl reads and writes', async (t) => {
    const { maker, code, server } = await start(t);
    const filter = async (args: string[], stdin: string | Uint8Array = '') => {
      const { code: exit, stdout, stderr } = await maker.run(args, { stdin });
      assert.equal(exit, 0, `${args}: ${stderr}`);
      return stdout;
    };
    const [, auth = ''] = /^X-Room-Auth: (\S+)\n$/.exec(await filter(['seal', code, '--auth'])) ?? [];
    const access = { headers: { 'x-room-auth': auth } };
    const path = `/api/rooms/${code}`;
    const { json } = await server.api.get(`${path}/content`, access);
    assert.equal(await filter(['open', code], JSON.stringify(json)), 'first text');
    const base = join(maker.home, 'content.json');
    await writeFile(base, JSON.stringify(json));
    const content = (await filter(['seal', code, '--base', base], 'from curl')).trim();
    const headers = { ...access.headers, 'if-match': `"${json.version}"` };
    assert.equal((await server.api.post(`${path}/content`, { json: { content }, headers })).status, 200);
    assert.equal((await maker.run(['get', code])).stdout, 'from curl');

    const text = 'bytes of a file'.repeat(9000);
    const sealing = maker.start(['seal', code, '--name', 'a.bin', '--meta', join(maker.home, 'meta')], { stdin: text });
    assert.equal((await sealing.result).code, 0, sealing.stderr());
    const body = sealing.bytes();
    assert.equal(String(body.subarray(0, 8)), 'POPENC1\n');
    const shown = await readFile(join(maker.home, 'meta'), 'utf8');
    const [, meta = ''] = /^X-File-Meta: (\S+)\n$/.exec(shown) ?? [];
    assert.equal(await filter(['open', code, '--meta', meta], body), text);
    const damaged = Buffer.concat([body.subarray(0, -1), Buffer.of((body.at(-1) ?? 0) ^ 1)]);
    assert.notEqual((await maker.run(['open', code, '--meta', meta], { stdin: damaged })).code, 0);
    const missing = await maker.run(['open', '7KQ2MX']);
    assert.deepEqual([missing.code, missing.stderr], [3, `poproom: There is no room 7KQ2MX on ${server.url}.\n`]);
  });

  it('[slow] [SEALED-53] stays known when a server says that it has ended', async (t) => {
    const { proxy, maker, code, beHonest } = await startMalicious(t);
    for (const [status, error] of [
      [404, 'ROOM_NOT_FOUND'],
      [410, 'ROOM_EXPIRED'],
    ] as const) {
      proxy.answer = () => jsonResponse(status, { error: { code: error, message: 'Gone.' } });
      for (const args of [
        ['get', code],
        ['info', code],
        ['rm', code, '--yes'],
      ])
        assert.equal((await maker.run(args)).code, 3, String(args));
    }
    beHonest();
    assert.equal((await maker.run(['get', code])).stdout, 'first text');
    const listed = await maker.run(['recent', '--codes']);
    assert.equal(listed.stdout, `${code}\n`);
  });

  it('[slow] [SEALED-53] is forgotten when the user deletes it, or asks for that', async (t) => {
    const { maker, other, code, key } = await startMalicious(t);
    const withKey = { env: { POPROOM_ROOM_KEY: key } };
    assert.equal((await other.run(['get', code], withKey)).code, 0);
    assert.match(await remembered(other), new RegExp(code));
    assert.equal((await other.run(['recent', 'clear'])).code, 0);
    assert.match(await remembered(other), new RegExp(code), 'the list is not what it has seen');
    assert.equal((await other.run(['recent', 'forget', code])).code, 0);
    assert.equal(await remembered(other), '{}\n');
    assert.equal((await other.run(['recent', 'forget', code])).code, 3);
    assert.match(await remembered(maker), new RegExp(key));
    assert.equal((await maker.run(['rm', code, '--yes'])).code, 0);
    assert.equal(await remembered(maker), '{}\n');
  });

  it('[SEALED-54] is never used as a plain one if its code starts with E', async (t) => {
    const { proxy, other, code, key } = await startMalicious(t);
    proxy.answer = () => plainRoom(code);
    proxy.sent.length = 0;
    await writeFile(join(other.home, 'secret.txt'), 'secret text');
    const commands = [
      ['get', code],
      ['put', code, 'secret text'],
      ['send', code, 'secret.txt'],
      ['fetch', code],
      ['watch', code, '--once'],
      ['clip', code],
      ['info', code],
      ['rm', code, '--yes'],
      ['history', code],
      ['restore', code, '1'],
      ['set', code, '--name', 'secret text'],
      ['seal', code, '--auth'],
      ['open', code],
    ];
    await installXclip(other);
    const env = { DISPLAY: ':0', POPROOM_PIN: '0427' };
    for (const args of commands) {
      const { code: exit, stderr } = await other.run(args, { env });
      const refusal = 'poproom: This room is encrypted; set POPROOM_ROOM_KEY to its room key.\n';
      assert.deepEqual([exit, stderr], [4, refusal], String(args));
    }
    const asking = other.terminal(`poproom put ${code} "secret text"`);
    await asking.waitForOutput(`Key of room ${code}: `);
    assert.deepEqual(proxy.sent, [], 'no request was sent');
    asking.type(`${key}\r`);
    await asking.waitForOutput('Nothing was sent');
    assert.equal((await asking.result).code, 4);
    for (const args of commands.slice(0, 3)) {
      const { code: exit, stderr } = await other.run(args, { env: { POPROOM_ROOM_KEY: key } });
      assert.match(stderr, /the server says that this room is not encrypted\. Nothing was sent/);
      assert.equal(exit, 4);
    }
    assert.ok(!proxy.sent.join('\n').includes('secret'));
  });

  it('[slow] [SEALED-54] is never used as a plain one if this computer knows it as encrypted', async (t) => {
    const { server, proxy, other } = await startMalicious(t);
    const { code: made, key = '' } = await createClient({ url: server.url }).createRoom({ encrypted: true });
    // A room from before codes showed this.
    const code = `7${made.slice(1)}`;
    await (await inspectStore(server)).changeCode(made, code);
    const joined = await other.run(['get', code], { env: { POPROOM_ROOM_KEY: key } });
    assert.deepEqual([joined.code, joined.stdout], [0, ''], joined.stderr);
    proxy.answer = () => plainRoom(code);
    const put = await other.run(['put', code, 'secret text']);
    assert.deepEqual([put.code, put.stderr.includes('This room is encrypted')], [4, true], put.stderr);
    assert.ok(!proxy.sent.join('\n').includes('secret'));
    assert.equal((await other.run(['recent', 'forget', code])).code, 0);
    assert.equal((await other.run(['info', code])).code, 0, 'a plain room that nothing is known about');
  });

  it('[slow] [SEALED-55] is remembered without its key by other computers, which notice a rollback', async (t) => {
    const { proxy, maker, other, code, key, beHonest } = await startMalicious(t);
    let old: Buffer = Buffer.alloc(0);
    proxy.tamperResponse = (response, { path }) => {
      if (path.endsWith('/content') && response.status === 200) old = response.body;
      return response;
    };
    const withKey = { env: { POPROOM_ROOM_KEY: key } };
    assert.equal((await other.run(['get', code], withKey)).stdout, 'first text');
    beHonest();
    assert.equal((await maker.run(['put', code, 'second text'])).code, 0);
    assert.equal((await other.run(['get', code], withKey)).stdout, 'second text');
    const stored = await remembered(other);
    const [room] = Object.values(JSON.parse(stored) as Record<string, Record<string, unknown>>);
    const { seen, salt, expiresAt } = room ?? {};
    assert.deepEqual([(seen as { version: number }).version, typeof salt, typeof expiresAt], [2, 'string', 'string']);
    assert.ok(!stored.includes(key) && !stored.includes(key.replaceAll('-', '')));
    const { mode } = await stat(join(other.home, '.local/state/poproom/encrypted-rooms.json'));
    assert.equal(mode & 0o777, 0o600);
    proxy.tamperResponse = (response, { path }) => (path.endsWith('/content') ? { ...response, body: old } : response);
    const typed = other.terminal(`poproom get ${code}`);
    await typed.waitForOutput('Key of room');
    typed.type(`${key}\r`);
    for (const result of [await other.run(['get', code], withKey), await typed.result]) {
      assert.notEqual(result.code, 0);
      assert.ok(!(result.stdout + result.stderr).includes('first text'));
      assert.match(
        result.stdout + result.stderr,
        /The server sent version 1 of the text, but this device has seen version 2/,
      );
    }
    beHonest();
    assert.equal((await other.run(['get', code], withKey)).stdout, 'second text');
  });

  it('[slow] [SEALED-46] [SEALED-47] refuses another version than it asked for, an invented one, and a fork', async (t) => {
    const { server, proxy, maker, code, key } = await startMalicious(t);
    const fails = async (error: RegExp, ...args: string[]) => {
      const { code: exit, stdout, stderr } = await maker.run(args);
      assert.notEqual(exit, 0, args.join(' '));
      assert.equal(stdout, '');
      assert.match(stderr, error);
    };
    const textNow = async () => (await maker.run(['get', code])).stdout;
    await maker.run(['put', code, 'second text']);
    await maker.run(['put', code, ', continued', '--append']);
    await maker.run(['put', code, 'third text']);

    let first: Buffer | undefined;
    proxy.tamper = (path, body) => {
      if (path.endsWith('/history/1')) first = body;
      return path.endsWith('/history/3') ? (first ?? body) : body;
    };
    assert.equal((await maker.run(['history', code, '1'])).stdout, 'first text');
    await fails(/damaged|changed/, 'history', code, '3');
    await fails(/damaged|changed/, 'restore', code, '3');
    assert.equal(await textNow(), 'third text');

    proxy.tamper = tamperJson('/content', (json) => ({ ...json, version: Number.MAX_SAFE_INTEGER }));
    await fails(/./, 'get', code);
    proxy.tamper = (_path, body) => body;
    assert.equal(await textNow(), 'third text', 'the invented version is not remembered');

    const timestamp = '2999-01-01T00:00:00.000Z';
    proxy.answer = ({ method }) =>
      method === 'PATCH' ? jsonResponse(200, { success: true, version: 5, timestamp }) : undefined;
    assert.equal((await maker.run(['put', code, ' and mine', '--append'])).code, 0);
    proxy.answer = () => undefined;
    await createClient({ url: server.url }).room(code, { key }).append(' and theirs');
    await fails(/does not continue/, 'get', code);
  });

  it('[SEALED-55] is refused if the server sends another salt than before', async (t) => {
    const { proxy, maker, other, code, key } = await startMalicious(t);
    const withKey = { env: { POPROOM_ROOM_KEY: key } };
    assert.equal((await other.run(['get', code], withKey)).code, 0);
    proxy.tamper = (_path, body) =>
      Buffer.from(String(body).replace(/"salt":"[\w-]+"/, '"salt":"AAAAAAAAAAAAAAAAAAAAAA"'));
    for (const [cli, options] of [
      [maker, {}],
      [other, withKey],
    ] as const) {
      proxy.sent.length = 0;
      const { code: exit, stderr } = await cli.run(['put', code, 'secret'], options);
      assert.notEqual(exit, 0);
      assert.match(stderr, /another salt for this room than before/);
      assert.ok(!proxy.sent.join('\n').includes('x-room-auth'));
    }
  });
});

describe('the encrypted rooms that a computer remembers', () => {
  const day = 24 * 60 * 60 * 1000;
  const url = 'https://pop.example.org';
  const codeOf = (n: number) => `E${String(n).padStart(6, '0')}`;

  async function open(t: TestContext) {
    const clock = { now: Date.UTC(2026, 10, 15) };
    const environment = { ...readEnvironment(), stateFolder: await dataFolder(t) };
    const rooms = openEncryptedRooms(environment, () => clock.now);
    const isKnown = (n: number) => rooms.find(url, codeOf(n)) !== undefined;
    return { clock, environment, rooms, isKnown, expiryIn: (ms: number) => new Date(clock.now + ms).toISOString() };
  }

  it('[slow] [SEALED-53] are forgotten seven days after they have expired and were last used', async (t) => {
    const { clock, rooms, isKnown, expiryIn } = await open(t);
    rooms.remember(url, codeOf(1), { key: 'a', expiresAt: expiryIn(day) });
    // Whatever the server says about the expiry.
    rooms.remember(url, codeOf(2), { key: 'b', expiresAt: '1970-01-01T00:00:00.000Z' });
    rooms.remember(url, codeOf(3), { key: 'c', expiresAt: 'never' });
    clock.now += 7 * day - 1;
    assert.deepEqual([1, 2, 3].map(isKnown), [true, true, true]);
    clock.now += 1;
    assert.deepEqual([1, 2, 3].map(isKnown), [true, false, false]);
    clock.now += day - 1;
    assert.ok(isKnown(1));
    rooms.remember(url, codeOf(1), { salt: 's' });
    assert.deepEqual(rooms.find(url, codeOf(1))?.key, 'a', 'the key stays');
    clock.now += 7 * day;
    assert.ok(!isKnown(1));
  });

  it('[slow] [SEALED-53] are at most 200: of more, those are forgotten that expired first, then the oldest', async (t) => {
    const { clock, rooms, isKnown, expiryIn } = await open(t);
    const expiries = new Map([
      [50, day / 2],
      [70, day / 4],
    ]);
    for (let n = 0; n < 200; n++) {
      clock.now += 1;
      rooms.remember(url, codeOf(n), { expiresAt: expiryIn(expiries.get(n) ?? 5 * day) });
    }
    clock.now += day;
    rooms.remember(url, codeOf(0), {});
    const forgotten = () => Array.from({ length: 204 }, (_, n) => n).filter((n) => !isKnown(n));
    assert.deepEqual(forgotten(), [200, 201, 202, 203]);
    rooms.remember(url, codeOf(200), { expiresAt: expiryIn(day) });
    assert.deepEqual(forgotten(), [70, 201, 202, 203]);
    rooms.remember(url, codeOf(201), { expiresAt: expiryIn(day) });
    rooms.remember(url, codeOf(202), { expiresAt: expiryIn(day) });
    assert.deepEqual(forgotten(), [1, 50, 70, 203]);
  });

  it('[SEALED-53] keep the newest version, and are not overwritten if their file is damaged', async (t) => {
    const { environment, rooms } = await open(t);
    rooms.remember(url, codeOf(1), { key: 'a', seen: { version: 5, hash: 'x' } });
    rooms.remember(url, codeOf(1), { seen: { version: 4, hash: 'y' } });
    assert.deepEqual(rooms.find(url, codeOf(1))?.seen, { version: 5, hash: 'x' });
    const path = join(environment.stateFolder, 'encrypted-rooms.json');
    await writeFile(path, '{"half of');
    assert.throws(() => rooms.find(url, codeOf(1)), /keys of encrypted rooms: it is damaged/);
    assert.throws(() => rooms.remember(url, codeOf(2), {}), /damaged/);
    assert.equal(await readFile(path, 'utf8'), '{"half of');
  });

  it('[slow] [SEALED-53] are all kept if several commands write at the same time', async (t) => {
    const { environment } = await open(t);
    const program = fileURLToPath(new URL('./remember-rooms.ts', import.meta.url));
    const run = promisify(execFile);
    const writers = ['A', 'B', 'C', 'D'];
    const args = (prefix: string) => [program, environment.stateFolder, prefix, '40'];
    await Promise.all(writers.map((prefix) => run(process.execPath, args(prefix))));
    const rooms = openEncryptedRooms(environment);
    for (const prefix of writers)
      for (let n = 0; n < 40; n++)
        assert.equal(rooms.find(url, `E${prefix}${String(n).padStart(4, '0')}`)?.key, `key ${prefix} ${n}`);
    assert.deepEqual(await readdir(environment.stateFolder), ['encrypted-rooms.json']);
  });

  it('[slow] [SEALED-53] are written even if a crashed command has left its lock', async (t) => {
    const { environment, rooms, isKnown } = await open(t);
    const lock = join(environment.stateFolder, 'encrypted-rooms.json.lock');
    await writeFile(lock, '');
    await utimes(lock, 0, 0);
    rooms.remember(url, codeOf(1), { key: 'a' });
    assert.ok(isKnown(1));
  });
});

describe('files of an encrypted room on the command line', () => {
  it('[slow] [SEALED-94] [SEALED-95] [SEALED-96] does not take names, copies or bytes of files from a malicious server', async (t) => {
    const server = await sharedServer(t, { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' });
    const proxy = await startMaliciousServer(t, () => server.port);
    const cli = await createCli(t, { POPROOM_URL: proxy.url });
    const { roomId: code } = JSON.parse((await cli.run(['new', '--encrypted', '--json'])).stdout);
    const bytes = randomBytes(200_000);
    await writeFile(join(cli.home, 'a.txt'), 'a');
    await writeFile(join(cli.home, 'b.bin'), bytes);
    assert.equal((await cli.run(['send', code, 'a.txt', 'b.bin'])).code, 0);
    tamperFileLists(proxy, (files) => {
      const [one, two] = files as [FileEntry, FileEntry];
      const { meta: _meta, ...bare } = copyOf(one, '1');
      return [one, two, copyOf(one, '0'), { ...bare, fileName: 'invoice.exe', folder: 'x' }];
    });
    const { stdout: listed } = await cli.run(['fetch', code, '--list']);
    assert.deepEqual(
      listed
        .trim()
        .split('\n')
        .map((line) => line.trim().split(' ')[0]),
      ['a.txt', 'b.bin', 'encrypted'],
    );
    const [name = '', auth = ''] = (await cli.run(['seal', code, '--auth'])).stdout.trim().split(': ');
    const response = await fetch(`${proxy.url}/api/rooms/${code}/files`, { headers: { [name]: auth } });
    const { stdout: opened } = await cli.run(['open', code], { stdin: await response.text() });
    assert.deepEqual(opened.match(/"fileName":"[^"]+"/g), [
      '"fileName":"a.txt"',
      '"fileName":"b.bin"',
      '"fileName":"encrypted"',
    ]);

    const chunkBytes = 64 * 1024 + 16;
    const changes: [string, (body: Buffer) => Buffer][] = [
      ['cut', (body) => body.subarray(0, -1)],
      ['extended', (body) => Buffer.concat([body, Buffer.of(0)])],
      ['swapped', (body) => Buffer.from(body).fill(1, 8)],
      [
        'reordered',
        (body) => {
          const chunk = (index: number) => body.subarray(8 + index * chunkBytes, 8 + (index + 1) * chunkBytes);
          return Buffer.concat([body.subarray(0, 8), chunk(1), chunk(0), body.subarray(8 + 2 * chunkBytes)]);
        },
      ],
    ];
    for (const [what, change] of changes) {
      proxy.tamper = (path, body) => (path.startsWith('/files/') ? change(body) : body);
      const { code: exit, stderr } = await cli.run(['fetch', code, 'b.bin', '-o', 'fetched']);
      assert.match(stderr, /cannot be decrypted/, what);
      assert.equal(exit, 1);
      await assert.rejects(stat(join(cli.home, 'fetched')), { code: 'ENOENT' }, what);
    }
    proxy.tamper = (_path, body) => body;
    assert.equal((await cli.run(['fetch', code, 'b.bin', '-o', 'fetched'])).code, 0);
    assert.deepEqual(await readFile(join(cli.home, 'fetched')), bytes);
  });
});
