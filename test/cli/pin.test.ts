/** PINs on the command line: entered without echo or read from the environment, never an argument. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createCli } from '../support/cli.ts';
import { sharedServer } from '../support/server.ts';

describe('the PIN of a room', () => {
  it('[CLI-5] is requested on a terminal without echo, and again after a wrong one, with the number of tries left', async (t) => {
    const { cli, room } = await protectedRoom(t);
    const asking = cli.terminal(`sh -c 'stty echo; poproom get ${room}'`);
    const prompts = (n: number) => asking.waitForOutput(new RegExp(`(PIN of room ${room}: [^]*){${n}}`));
    await prompts(1);
    asking.type('12\x1b[Ax\r');
    await prompts(2);
    asking.type('9999\r');
    await prompts(3);
    asking.type('99\x7f\x7f\x7f48');
    asking.type('21\r');
    const { code, stdout } = await asking.result;
    assert.equal(code, 0);
    // Nothing of what was typed is among it.
    assert.deepEqual(stdout.split('\r\n'), [
      `PIN of room ${room}: `,
      'A PIN has four digits.',
      `PIN of room ${room}: `,
      'Wrong PIN. 4 tries left.',
      `PIN of room ${room}: `,
      'guarded',
      '',
    ]);
  });

  it('[slow] [CLI-5] is requested even if standard input and output are pipes', async (t) => {
    const { cli, server, room } = await protectedRoom(t);
    const asking = cli.terminal(`sh -c 'echo piped | poproom put ${room} | cat'`);
    await asking.waitForOutput(`PIN of room ${room}: `);
    asking.type('4821\r');
    assert.equal((await asking.result).code, 0);
    assert.equal((await server.api.get(`/api/rooms/${room}/content`, { pin: '4821' })).json.content, 'piped\n');
  });

  it('[slow] [CLI-5] is requested first with --pin, and Ctrl-C or Ctrl-D cancels', async (t) => {
    const { cli, server, room } = await protectedRoom(t);
    const ended = ['\x03', '12\x04'].map(async (keys) => {
      const asking = cli.terminal(`poproom rm ${room} --pin --yes`);
      await asking.waitForOutput('PIN of room');
      asking.type(keys);
      return asking.result;
    });
    for (const { code, stdout } of await Promise.all(ended)) {
      assert.equal(code, 130);
      assert.equal(stdout, `PIN of room ${room}: \r\n`);
    }
    assert.equal((await server.api.get(`/api/rooms/${room}`, { pin: '4821' })).status, 200);
  });

  it('[CLI-5] is read from POPROOM_PIN; a wrong one there is not requested again', async (t) => {
    const { cli, room } = await protectedRoom(t);
    const get = (pin: string) => cli.run(['get', room], { env: { POPROOM_PIN: pin } });
    assert.equal((await get('4821')).stdout, 'guarded');
    const [wrong, noPin, none] = [await get('9999'), await get('12345'), await cli.run(['get', room])];
    assert.deepEqual([wrong.code, noPin.code, none.code], [4, 2, 4]);
    assert.match(wrong.stderr, /Wrong PIN\. 4 tries left/);
    assert.match(noPin.stderr, /POPROOM_PIN must be four digits/);
    assert.match(none.stderr, /protected by a PIN; set POPROOM_PIN/);
    const onTerminal = await cli.terminal(`poproom get ${room}`, { env: { POPROOM_PIN: '9999' } }).result;
    assert.deepEqual([onTerminal.code, onTerminal.stdout.includes('PIN of room')], [4, false]);
  });

  it('[CLI-5] is not accepted as an argument, and is not sent as text', async (t) => {
    const { cli, server, room } = await protectedRoom(t);
    const wrong = [
      ['new', '--pin=4821'],
      ['new', '--pin', '4821'],
      ['new', '4821'],
      ['get', room, '--pin=4821'],
      ['put', room, '--pin', '4821'],
    ];
    await Promise.all(
      wrong.map(async (args) => {
        const { code, stderr } = await cli.run(args, { env: { POPROOM_PIN: '4821' } });
        assert.equal(code, 2, args.join(' '));
        assert.match(
          stderr,
          /^poproom: Do not pass the PIN as an argument: you are asked for it, or set POPROOM_PIN\.\n$/,
        );
      }),
    );
    assert.equal((await server.api.get(`/api/rooms/${room}/content`, { pin: '4821' })).json.content, 'guarded');
  });

  it('[slow] [CLI-5] is locked after five wrong ones, and is then not requested again', async (t) => {
    const { cli, room } = await protectedRoom(t);
    const asking = cli.terminal(`poproom get ${room}`);
    await asking.waitForOutput('PIN of room');
    for (const left of ['4 tries', '3 tries', '2 tries', '1 try']) {
      asking.type('9999\r');
      await asking.waitForOutput(new RegExp(`${left} left[^]*PIN of room`));
    }
    asking.type('9999\r');
    const { code, stdout } = await asking.result;
    assert.equal(code, 4);
    assert.match(stdout, /poproom: Wrong PIN\. Try again in 30 seconds\.\r\n$/);
    const locked = await cli.run(['get', room], { env: { POPROOM_PIN: '4821' } });
    assert.deepEqual([locked.code, locked.stdout], [4, '']);
    assert.match(locked.stderr, /Too many wrong PINs/);
  });
});

describe('the PIN of a new room', () => {
  it('[slow] [CLI-5] is entered twice', async (t) => {
    const { cli, server } = await protectedRoom(t);
    const choose = async (first: string, second: string) => {
      const asking = cli.terminal('poproom new --pin --json');
      await asking.waitForOutput('PIN for the new room (four digits): ');
      asking.type(`${first}\r`);
      await asking.waitForOutput('Repeat the PIN: ');
      asking.type(`${second}\r`);
      return asking.result;
    };
    const [same, different] = await Promise.all([choose('0042', '0042'), choose('0042', '0043')]);
    const { roomId } = JSON.parse(/\{.*\}/.exec(same.stdout)?.[0] ?? '');
    assert.equal((await server.api.get(`/api/rooms/${roomId}`, { pin: '0042' })).status, 200);
    assert.deepEqual([different.code, /The two PINs differ; no room was created/.test(different.stdout)], [2, true]);
  });

  it('[CLI-5] cannot be chosen without a terminal', async (t) => {
    const { cli } = await protectedRoom(t);
    const { code, stdout, stderr } = await cli.run(['new', '--pin']);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /Cannot prompt for the PIN without a terminal; set POPROOM_PIN/);
  });
});

async function protectedRoom(t: TestContext) {
  const server = await sharedServer(t, { POPROOM_FREE_LIMIT: '0' });
  const room = await server.api.room({ pin: '4821' });
  await server.api.post(`/api/rooms/${room}/content`, { json: { content: 'guarded' }, pin: '4821' });
  return { cli: await createCli(t, { POPROOM_URL: server.url }), server, room };
}
