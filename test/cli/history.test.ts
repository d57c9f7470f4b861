/** `poproom history`, `restore` and `put --append`: earlier texts of a room, and adding to the current one. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createCli } from '../support/cli.ts';
import { startTestServer } from '../support/server.ts';

const first = 'The first text, which is long enough to be kept.\n';
const second = 'Another one: nothing of it stays in the third.\u0007';
const third = '3';

/** A room whose text was replaced twice, the first by a device with a name. */
async function setUp(t: TestContext, asked: { pin?: string; history?: boolean } = {}) {
  const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
  server.clock.now = Date.parse('2026-11-15T09:30:05.000Z');
  const cli = await createCli(t, { POPROOM_URL: server.url });
  const room = await server.api.room(asked);
  const pin = asked.pin === undefined ? {} : { pin: asked.pin };
  const path = `/api/rooms/${room}`;
  for (const [content, deviceId] of [[first, 'my-phone'], [second], [third]]) {
    const headers: Record<string, string> = deviceId === undefined ? {} : { 'x-device-id': deviceId };
    // Within 5 seconds, only one replaced text becomes a checkpoint.
    if (content === third) server.clock.advance(5000);
    await server.api.post(`${path}/content`, { json: { content }, headers, ...pin });
  }
  const text = async () => (await server.api.get(`${path}/content`, pin)).json.content as string;
  const versions = async () =>
    (await server.api.get(`${path}/history`, pin)).json.history.map(({ version }: { version: number }) => version);
  return { server, cli, room, path, text, versions };
}

describe('poproom history', () => {
  it('[CLI-20] lists the earlier texts, newest first, with version, time, size and device', async (t) => {
    const { cli, room } = await setUp(t);
    const { code, stdout, stderr } = await cli.run(['history', room], { env: { TZ: 'Europe/Berlin' } });
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(stdout.split('\n'), [
      'VERSION  TIME                 SIZE      DEVICE',
      '2        2026-11-15 10:30:05  47 bytes',
      '1        2026-11-15 10:30:05  49 bytes  my-phone',
      '',
    ]);
  });

  it('[CLI-20] lists them as JSON, including an empty list', async (t) => {
    const { cli, server, room } = await setUp(t);
    const [listed, none] = await Promise.all([
      cli.run(['history', room, '--json']),
      cli.run(['history', await server.api.room(), '--json']),
    ]);
    assert.deepEqual(JSON.parse(listed.stdout), [
      { version: 2, timestamp: '2026-11-15T09:30:05.000Z', size: 47 },
      { version: 1, timestamp: '2026-11-15T09:30:05.000Z', size: 49, deviceId: 'my-phone' },
    ]);
    assert.deepEqual(JSON.parse(none.stdout), []);
  });

  it('[slow] [CLI-20] says on a terminal that there are none, and prints nothing in a pipe', async (t) => {
    const { cli, server } = await setUp(t);
    const room = await server.api.room();
    assert.deepEqual(await cli.run(['history', room]), { code: 0, stdout: '', stderr: '' });
    const shown = await cli.terminal(`poproom history ${room}`).result;
    assert.deepEqual([shown.code, shown.stdout], [0, 'This room has no earlier texts.\r\n']);
  });

  it('[slow] [CLI-20] prints one text: byte for byte in a pipe, escaped on a terminal, or as JSON', async (t) => {
    const { cli, room } = await setUp(t);
    assert.deepEqual(await cli.run(['history', room, '2']), { code: 0, stdout: second, stderr: '' });
    const shown = await cli.terminal(`poproom history ${room} 2`).result;
    assert.equal(shown.stdout, `${second.replace('\u0007', '\u{fffd}')}\r\n`);
    const { stdout } = await cli.run(['history', room, '1', '--json']);
    const { content, version, size, deviceId } = JSON.parse(stdout);
    assert.deepEqual([content, version, size, deviceId], [first, 1, 49, 'my-phone']);
  });

  it('[CLI-20] deletes all of them after a confirmation on a terminal, and keeps the current text', async (t) => {
    const { cli, room, text, versions } = await setUp(t);
    const asking = cli.terminal(`poproom history ${room} --delete`);
    await asking.waitForOutput(`Delete the history of room ${room} for everyone? [y/N] `);
    asking.type('\r');
    assert.equal((await asking.result).code, 1);
    assert.deepEqual(await versions(), [2, 1]);

    const { code, stdout } = await cli.terminal(`poproom history ${room} --delete --yes`).result;
    assert.deepEqual([code, stdout], [0, 'The history was deleted.\r\n']);
    assert.deepEqual([await versions(), await text()], [[], third]);
  });

  it('[CLI-20] deletes them without a confirmation if there is no terminal', async (t) => {
    const { cli, room, versions } = await setUp(t);
    const { code, stdout } = await cli.run(['history', room, '--delete', '--json']);
    assert.deepEqual([code, JSON.parse(stdout)], [0, { success: true, message: 'The history was deleted.' }]);
    assert.deepEqual(await versions(), []);
  });

  it('[slow] [CLI-20] does not ask for a confirmation for a room that does not exist', async (t) => {
    const { cli } = await setUp(t);
    const { code, stdout } = await cli.terminal('poproom history ZZZZZZ --delete').result;
    assert.deepEqual([code, stdout.includes('Delete')], [3, false]);
  });

  it('[CLI-20] asks for the PIN', async (t) => {
    const { cli, room } = await setUp(t, { pin: '0427' });
    assert.equal((await cli.run(['history', room])).code, 4);
    const { stdout } = await cli.run(['history', room, '1'], { env: { POPROOM_PIN: '0427' } });
    assert.equal(stdout, first);
  });

  it('[CLI-20] is empty in a room that was created with --no-history', async (t) => {
    const { cli, server } = await setUp(t);
    const made = await cli.run(['new', '--no-history'], { stdin: first });
    const room = made.stdout.trim();
    await cli.run(['put', room, third]);
    assert.deepEqual((await server.api.get(`/api/rooms/${room}/history`)).json.history, []);
    assert.equal((await cli.run(['history', room])).stdout, '');
  });
});

describe('poproom restore', () => {
  it('[CLI-20] makes an earlier text the current one again, and says so', async (t) => {
    const { cli, room, text } = await setUp(t);
    const { code, stdout, stderr } = await cli.run(['restore', room, '1']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(stdout, 'Restored version 1 (49 bytes) as version 4.\n');
    assert.equal(await text(), first);
    const again = JSON.parse((await cli.run(['restore', room, '2', '--json'])).stdout);
    assert.deepEqual([again.restored, again.version, Object.keys(again).length], [2, 5, 3]);
    assert.equal(await text(), second);
  });

  it('[slow] [CLI-20] ends with 3 if the version does not exist, and changes nothing', async (t) => {
    const { cli, room, text } = await setUp(t);
    for (const args of [
      ['restore', room, '7'],
      ['history', room, '7'],
    ]) {
      const { code, stdout, stderr } = await cli.run(args);
      assert.deepEqual([code, stdout, stderr], [3, '', 'poproom: The history has no version 7.\n']);
    }
    assert.equal(await text(), third);
  });
});

describe('poproom put --append', () => {
  it('[CLI-20] adds an argument or standard input to the end, and prints the version as JSON', async (t) => {
    const { cli, room, text } = await setUp(t);
    assert.deepEqual(await cli.run(['put', room, '--append', ', 4']), { code: 0, stdout: '', stderr: '' });
    const { stdout } = await cli.run(['put', room, '-a', '--json'], { stdin: ', \u{1F9C3}\n' });
    const { version, timestamp } = JSON.parse(stdout);
    assert.deepEqual([version, timestamp], [5, '2026-11-15T09:30:10.000Z']);
    assert.equal(await text(), '3, 4, \u{1F9C3}\n');
  });

  it('[CLI-20] loses nothing when several append at the same time', async (t) => {
    const { cli, room, text } = await setUp(t);
    const lines = Array.from({ length: 8 }, (_, i) => `line ${i}\n`);
    await Promise.all(lines.map((line) => cli.run(['put', room, '--append', line])));
    const appended = (await text()).slice(third.length).match(/.*\n/g) ?? [];
    assert.deepEqual(appended.sort(), lines);
  });

  it('[CLI-20] ends with 6 if the text would become too long, and adds nothing', async (t) => {
    const { cli, room, text } = await setUp(t);
    const { code, stdout, stderr } = await cli.run(['put', room, '--append'], { stdin: 'x'.repeat(1024 ** 2) });
    assert.deepEqual([code, stdout], [6, '']);
    assert.match(stderr, /^poproom: [^\n]*1 MiB[^\n]*\n$/);
    assert.equal(await text(), third);
  });
});
