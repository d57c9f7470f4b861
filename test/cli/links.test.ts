/** Links with a role on the command line: made, listed and revoked, and used in place of a code. */
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Cli, createCli } from '../support/cli.ts';
import { sharedServer } from '../support/server.ts';

/** Two computers: a member created the room on the first one. */
async function start(t: TestContext, options: readonly string[] = []) {
  const server = await sharedServer(t, { POPROOM_FREE_LIMIT: '0', POPROOM_MISS_LIMIT: '0' });
  const env = { POPROOM_URL: server.url };
  const [member, guest] = [await createCli(t, env), await createCli(t, env)];
  const code = (await succeed(member, ['new', ...options], 'Hello')).trim();
  const link = async (...args: string[]) => (await succeed(member, ['link', code, ...args])).trim();
  return { server, member, guest, code, link };
}

async function succeed(cli: Cli, args: readonly string[], stdin?: string): Promise<string> {
  const result = await cli.run(args, stdin === undefined ? {} : { stdin });
  assert.equal(result.code, 0, `${args.join(' ')}: ${result.stderr}`);
  return result.stdout;
}

const idOf = (link: string) => /\/r\/([0-9A-Z]{24})/.exec(link)?.[1] ?? '';

describe('links on the command line', () => {
  it('[CLI-110] are created, listed, shown again and revoked', async (t) => {
    const { server, member, code, link } = await start(t);
    const read = await link('--read', '--name', 'Guests\u001b[31m', '--expires', '2h');
    assert.equal(read, `${server.url}/r/${idOf(read)}`, 'a pipe gets only the link');
    const drop = JSON.parse(await succeed(member, ['link', code, '--drop', '--json']));
    assert.deepEqual([drop.role, drop.link], ['drop', `${server.url}/r/${drop.linkId}`]);

    const listed = await succeed(member, ['links', code]);
    assert.match(listed, /^LINK +ROLE +EXPIRES +LAST USED +NAME$/m);
    assert.match(listed, new RegExp(`^${idOf(read)}  read  20[-0-9]+ [:0-9]+ +never +Guests`, 'm'));
    assert.match(listed, new RegExp(`^${drop.linkId}  drop  with the room +never$`, 'm'));
    assert.equal((await succeed(member, ['links', code, drop.link])).trim(), drop.link);
    assert.equal(JSON.parse(await succeed(member, ['links', code, '--json'])).length, 2);

    assert.equal(await succeed(member, ['unlink', code, idOf(read).toLowerCase()]), 'The link was revoked.\n');
    const again = await member.run(['unlink', code, read]);
    assert.deepEqual([again.code, again.stderr], [3, 'poproom: This room has no such link.\n']);
    await succeed(member, ['unlink', code, drop.link]);
    assert.equal(await succeed(member, ['links', code]), '');
    for (const [args, message] of [
      [['link', code], /Use --read for a link that can only read, or --drop/],
      [['link', code, '--read', '--drop'], /Use --read/],
      [['link', code, '--read', '--expires', 'soon'], /"soon" is not a valid duration/],
      [['unlink', code], /Which link\?/],
      [['unlink', code, code], /is not a link; give one from "poproom links"/],
    ] as const) {
      const { code: exit, stderr } = await member.run(args);
      assert.equal(exit, 2, stderr);
      assert.match(stderr, message);
    }
  });

  it('[CLI-111] work in place of a code, to read', async (t) => {
    const { server, member, guest, code, link } = await start(t);
    await writeFile(join(member.home, 'a.txt'), 'the file');
    await succeed(member, ['send', code, 'a.txt']);
    const read = await link('--read');
    assert.equal(await succeed(guest, ['get', idOf(read).toLowerCase()]), 'Hello');
    assert.equal(await succeed(guest, ['get', read]), 'Hello');
    assert.equal(await succeed(guest, ['get', '-'], `${read}\n`), 'Hello');
    assert.equal(await succeed(guest, ['fetch', read, 'a.txt', '-o', '-']), 'the file');
    assert.match(await succeed(guest, ['fetch', read, '--list']), /a\.txt/);
    assert.match(await succeed(guest, ['fetch', read, '--zip']), /^poproom\.zip\n$/);
    const info = await succeed(guest, ['info', read]);
    assert.match(info, /access +can read the text and the files[\s\S]*a\.txt/);
    assert.ok(!info.includes(code) && !info.includes('PIN'), info);
    assert.match(await succeed(guest, ['recent']), new RegExp(idOf(read)));
    // Neither is meant for a link, and neither is sent.
    const env = { POPROOM_PIN: '0427', POPROOM_ROOM_KEY: 'H4T9-WZ3B-NQ6Y-RC88' };
    assert.equal((await guest.run(['get', read], { env })).stdout, 'Hello');
    assert.equal((await server.api.get(`/api/rooms/${code}/content`)).json.content, 'Hello');
  });

  it('[CLI-111] work in place of a code, to drop files and notes', async (t) => {
    const { member, guest, code, link } = await start(t);
    const drop = await link('--drop', '--name', 'Party');
    await writeFile(join(guest.home, 'b.txt'), 'dropped');
    await succeed(guest, ['send', drop, 'b.txt', '--note', 'From Ada']);
    await succeed(guest, ['send', idOf(drop), '--note', 'Second', '--name', 'two.txt', '--once']);
    await succeed(guest, ['send', '--to', drop, '-', '--name', 'c.txt'], 'piped');
    const listed = await succeed(member, ['fetch', code, '--list']);
    assert.match(listed, /b\.txt[\s\S]*note-[-0-9]+\.txt[\s\S]*two\.txt +6 bytes, one-time[\s\S]*c\.txt/);
    const [, note = ''] = /(note-[-0-9]+\.txt)/.exec(listed) ?? [];
    assert.equal(await succeed(member, ['fetch', code, note, '-o', '-']), 'From Ada');
    const info = await succeed(guest, ['info', drop]);
    assert.match(info, /name +Party[\s\S]*access +can add files, and see nothing/);
    assert.doesNotMatch(info, /b\.txt|devices/);
    const empty = await guest.run(['send', drop, '--note', ' ']);
    assert.deepEqual([empty.code, empty.stderr], [2, 'poproom: --note must not be empty.\n']);
  });

  it('[CLI-113] fail with what the link can do, and with the next step', async (t) => {
    const { member, guest, code, link } = await start(t);
    const [read, drop] = [await link('--read'), await link('--drop')];
    await writeFile(join(guest.home, 'b.txt'), 'x');
    const fails = async (args: readonly string[], exit: number, message: RegExp) => {
      const result = await guest.run(args);
      assert.equal(result.code, exit, `${args}: ${result.stderr}`);
      assert.match(result.stderr, message);
      assert.equal(result.stdout, '');
    };
    const readOnly = /This link can only read .*; for anything else, ask a member for the room code/;
    for (const args of [
      ['put', read, 'x'],
      ['send', read, 'b.txt'],
      ['send', read, 'b.txt', '--note', 'several files are checked first'],
      ['history', read],
      ['rm', read, '--yes'],
      ['set', read, '--name', 'x'],
      ['link', read, '--read'],
      ['webhook', read],
    ])
      await fails(args, 4, readOnly);
    const dropOnly = /This link can only add files: use poproom send LINK FILE/;
    for (const args of [
      ['get', drop],
      ['put', drop, 'x'],
      ['fetch', drop],
      ['watch', drop],
      ['links', drop],
    ])
      await fails(args, 4, dropOnly);
    await fails(['get', `${read.slice(0, -1)}`], 2, /A link has 24 letters and digits, but ".*" has 23; copy it again/);
    await fails(['get', `${idOf(read)}Z`], 2, /has 25; copy it again/);
    await fails(['get', 'U'.repeat(24)], 2, /is not a valid room code|copy it again/);
    await succeed(member, ['unlink', code, drop]);
    await fails(['send', drop, 'b.txt'], 3, /This link does not work on http.*: it was revoked, its room was deleted/);
    await succeed(member, ['rm', code, '--yes']);
    await fails(['get', read], 3, /This link does not work on http/);
    assert.doesNotMatch(await succeed(guest, ['recent']), new RegExp(idOf(read)), 'it is forgotten');
  });

  it('[CLI-114] are followed by watch until they are revoked, and refused by clip', async (t) => {
    const { member, guest, code, link } = await start(t);
    const read = await link('--read');
    const clipping = await guest.run(['clip', read]);
    assert.deepEqual([clipping.code, /writes to the room, and needs its code/.test(clipping.stderr)], [2, true]);
    const watching = guest.terminal(`poproom watch ${read}`);
    await watching.waitForOutput('Hello');
    await succeed(member, ['put', code, 'Changed']);
    await watching.waitForOutput('Changed');
    await succeed(member, ['unlink', code, read]);
    const { code: exit, stdout } = await watching.result;
    assert.equal(exit, 0);
    assert.match(stdout, /The link no longer works\./);
  });

  it('[CLI-112] [CLI-114] of an encrypted room carry keys, which are read only where nobody else sees them', async (t) => {
    const { member, guest, code, link } = await start(t, ['--encrypted', '--name', 'Vault']);
    const [read, drop] = [await link('--read'), await link('--drop', '--name', 'Party')];
    assert.match(read, /\/r\/E[0-9A-Z]{23}#E[0-9A-Z]+\.[\w-]{128}$/);
    assert.match(drop, /\/r\/E[0-9A-Z]{23}#[\w-]{43}$/);
    const listed = JSON.parse(await succeed(member, ['links', code, '--json']));
    const found = listed.find(({ role }: { role: string }) => role === 'drop');
    assert.deepEqual([found.link, found.name], [drop.replace(/#.*/, ''), 'Party'], 'a list has no keys');
    assert.equal((await succeed(member, ['links', code, idOf(read)])).trim(), read);

    assert.equal(await succeed(guest, ['get', '-'], read), 'Hello');
    const env = { POPROOM_ROOM_KEY: read };
    assert.equal((await guest.run(['get', idOf(read)], { env })).stdout, 'Hello');
    assert.match((await guest.run(['info', idOf(read)], { env })).stdout, /name +Vault[\s\S]*encrypted +yes/);
    const exposed = await guest.run(['get', read]);
    assert.equal(exposed.code, 2);
    assert.match(exposed.stderr, /Do not pass a link with keys as an argument.*Pass - and pipe in the link/);
    assert.ok(!exposed.stderr.includes(read.slice(-20)), 'the keys are not printed');
    const bare = await guest.run(['get', read.replace(/#.*/, '')]);
    assert.deepEqual([bare.code, /its part after # is missing/.test(bare.stderr)], [4, true], bare.stderr);
    const cut = await guest.run(['get', '-'], { stdin: read.slice(0, -9) });
    assert.deepEqual([cut.code, /after # is missing or incomplete/.test(cut.stderr)], [4, true], cut.stderr);

    await writeFile(join(guest.home, 'b.txt'), 'dropped');
    await succeed(guest, ['send', drop, 'b.txt', '--note', 'From Ada']);
    assert.equal(await succeed(member, ['fetch', code, 'b.txt', '-o', '-']), 'dropped');
    const fetched = await guest.run(['fetch', '-', '--list'], { stdin: read });
    assert.deepEqual([fetched.code, fetched.stderr], [0, 'Left out 2 files that only members of the room can open.\n']);
    const sealing = await guest.run(['seal', idOf(read), '--auth'], { env });
    assert.deepEqual([sealing.code, sealing.stdout], [4, '']);
    const unreadable = await guest.run(['get', drop]);
    assert.deepEqual([unreadable.code, /can only add files/.test(unreadable.stderr)], [4, true], unreadable.stderr);
    const written = await guest.run(['put', '-', 'x'], { stdin: read });
    assert.deepEqual([written.code, /can only read/.test(written.stderr)], [4, true], written.stderr);
    const state = join(guest.home, '.local/state/poproom');
    const kept = await Promise.all((await readdir(state)).map((name) => readFile(join(state, name), 'utf8')));
    for (const secret of [read.slice(-40), drop.slice(-43)])
      assert.ok(!kept.join().includes(secret), 'no keys are kept');
  });

  it('[CLI-112] [slow] ask for the link on a terminal, and accept it there without echo', async (t) => {
    const { guest, link } = await start(t, ['--encrypted']);
    const read = await link('--read');
    const asking = guest.terminal(`poproom get ${idOf(read)}`);
    await asking.waitForOutput('Whole link, with the part after #: ');
    asking.type('E7KQ2MX.abc\r');
    await asking.waitForOutput(/incomplete[\s\S]*Whole link/);
    asking.type(`${read}\r`);
    const { stdout } = await asking.result;
    assert.match(stdout, /Hello/);
    assert.ok(!stdout.includes(read.slice(-20)), 'nothing typed is shown');
  });
});
