/** Encrypted rooms on the command line: where their keys come from, and the filters for curl. */
import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createClient } from '../../src/client/index.ts';
import { createCli } from '../support/cli.ts';
import { copy, holds, installXclip } from '../support/clipboard.ts';
import { sharedServer } from '../support/server.ts';

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
    const { mode } = await stat(join(maker.home, '.local/state/poproom/room-keys.json'));
    assert.equal(mode & 0o777, 0o600);
    const room = createClient({ url: server.url }).room(code, { key });
    assert.equal((await room.read()).content, 'first text and more');
    const zipped = await maker.run(['fetch', code, '--zip']);
    assert.match(zipped.stderr, /cannot make a zip archive of encrypted files/);
    await run('rm', code, '--yes');
    assert.equal((await maker.run(['get', code])).code, 3);
    const withPin = await maker.run(['new', '--encrypted', '--pin'], { env: { POPROOM_PIN: '0427' } });
    assert.deepEqual([withPin.code, withPin.stderr], [2, 'poproom: An encrypted room has a key instead of a PIN.\n']);
  });

  it('[SEALED-50] is followed by watch and clip, which write edits of others and of the clipboard', async (t) => {
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
});
