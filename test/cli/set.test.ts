/** `poproom set`, and the name of a room in `new` and `info`, with a real server. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createCli } from '../support/cli.ts';
import { sharedServer } from '../support/server.ts';

describe('poproom set', () => {
  it('[CHANGE-9] changes the expiry and the name, which new sets and info shows', async (t) => {
    const { cli, server } = await atServer(t);
    const created = await cli.run(['new', '--name', 'Küche\u202E', '--json']);
    const { roomId, name } = JSON.parse(created.stdout);
    assert.equal(name, 'Küche');
    const infoRow = async () => /^ *name +(.*)$/m.exec((await cli.run(['info', roomId])).stdout)?.[1];
    assert.equal(await infoRow(), 'Küche');
    const { code, stdout, stderr } = await cli.run([
      'set',
      roomId.toLowerCase(),
      '--expires',
      '2h',
      '--name',
      'Office',
    ]);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, new RegExp(`^${roomId} \\(Office\\) expires in `));
    const { json } = await server.api.get(`/api/rooms/${roomId}`);
    assert.deepEqual([json.name, Date.parse(json.expiresAt)], ['Office', server.clock.now + 7_200_000]);
    const removed = JSON.parse((await cli.run(['set', roomId, '--name', '', '--json'])).stdout);
    assert.deepEqual([removed.roomId, removed.name, removed.link], [roomId, undefined, `${server.url}/r/${roomId}`]);
    assert.equal(await infoRow(), undefined);
  });

  it('[CHANGE-9] [CLI-5] sets, changes and removes the PIN, from the environment or a prompt', async (t) => {
    const { cli, server } = await atServer(t);
    const room = await server.api.room();
    const opens = async (pin?: string) =>
      (await server.api.get(`/api/rooms/${room}`, { ...(pin && { pin }), from: '10.0.0.9' })).status;
    const first = await cli.run(['set', room, '--new-pin'], { env: { POPROOM_NEW_PIN: '4821' } });
    assert.match(first.stdout, /, protected by a PIN\n$/);
    assert.deepEqual([await opens(), await opens('4821')], [401, 200]);

    const asking = cli.terminal(`poproom set ${room} --new-pin`);
    await asking.waitForOutput(`PIN of room ${room}: `);
    asking.type('4821\r');
    await asking.waitForOutput('New PIN (four digits): ');
    asking.type('0042\r');
    await asking.waitForOutput('Repeat the PIN: ');
    asking.type('0042\r');
    const { code, stdout } = await asking.result;
    assert.deepEqual([code, /\b(0042|4821)\b/.test(stdout)], [0, false]);
    assert.deepEqual([await opens('4821'), await opens('0042')], [403, 200]);

    assert.equal((await cli.run(['set', room, '--no-pin'], { env: { POPROOM_PIN: '0042' } })).code, 0);
    assert.equal(await opens(), 200);
  });

  it('[CHANGE-9] [CLI-1] reports incorrect usage before any request, and changes nothing', async (t) => {
    const { cli, server } = await atServer(t);
    const room = await server.api.room({ name: 'kept name' });
    const wrong: [args: string[], message: RegExp, env?: Record<string, string>][] = [
      [[room], /What should change\? Use --expires, --extend, --no-extend, --name, --new-pin or --no-pin\./],
      [[room, '--new-pin', '--no-pin'], /Use either --new-pin or --no-pin\./],
      [[room, '--expires', 'soon'], /soon/],
      [[room, 'Office'], /takes only a room code/],
      [[room, '--new-pin=4821'], /Do not pass the PIN as an argument/],
      [[room, '--new-pin', '4821'], /Do not pass the PIN as an argument/],
      [[room, '--new-pin'], /POPROOM_NEW_PIN must be four digits/, { POPROOM_NEW_PIN: '123' }],
      [[room, '--new-pin'], /Cannot prompt for the PIN without a terminal; set POPROOM_NEW_PIN\./],
    ];
    const runs = wrong.map(async ([args, message, env = {}]) => {
      const { code, stdout, stderr } = await cli.run(['set', ...args], { env });
      assert.deepEqual([code, stdout], [2, ''], args.join(' '));
      assert.match(stderr, message);
    });
    await Promise.all(runs);
    const tooLong = await cli.run(['set', room, '--name', 'x'.repeat(81)]);
    assert.match(tooLong.stderr, /"name" may have at most 80 characters/);
    const { name, hasPin } = (await server.api.get(`/api/rooms/${room}`)).json;
    assert.deepEqual([name, hasPin], ['kept name', false]);
  });
});

async function atServer(t: TestContext) {
  const server = await sharedServer(t, { POPROOM_FREE_LIMIT: '0' });
  return { server, cli: await createCli(t, { POPROOM_URL: server.url }) };
}
