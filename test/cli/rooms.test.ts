/** `poproom new`, `put`, `get`, `info` and `rm`, with a real server. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Cli, createCli } from '../support/cli.ts';
import { sharedServer, startTestServer, type TestServer } from '../support/server.ts';

describe('poproom new', () => {
  it('[CLI-2] prints only the code in a pipe', async (t) => {
    const { cli, server } = await atServer(t);
    const { code, stdout, stderr } = await cli.run(['new']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^[0-9A-Z]{6}\n$/);
    assert.equal((await server.api.get(`/api/rooms/${stdout.trim()}`)).status, 200);
  });

  it('[CLI-2] prints the code, the link and a QR code on a terminal', async (t) => {
    const { cli, server } = await atServer(t);
    const { code, stdout } = await cli.terminal('poproom new --expires 2h').result;
    assert.equal(code, 0);
    const [, room] = /^ {2}([0-9A-Z]{6})\r?$/m.exec(stdout) ?? [];
    assert.ok(stdout.includes(`  ${server.url}/r/${room}\r\n  expires in 2 h`));
    assert.match(stdout, /[▀▄█]{10}/u);
  });

  it('[CLI-2] uses standard input as the text, from a file, a pipe or an empty input', async (t) => {
    const { cli, server } = await atServer(t);
    const text = 'caf\u00e9 \u{1F9C3}\n\u0000 no newline at its end';
    await writeFile(join(cli.home, 'notes.txt'), text);
    const ways = [
      'poproom new < notes.txt',
      'cat notes.txt | poproom new',
      'poproom new < /dev/null',
      'poproom new <&-',
    ];
    const made = await Promise.all(ways.map((line) => cli.shell(line).result));
    for (const { code, stderr } of made) assert.deepEqual([code, stderr], [0, '']);
    const texts = await Promise.all(
      made.map(async ({ stdout }) => (await server.api.get(`/api/rooms/${stdout.trim()}/content`)).json.content),
    );
    assert.deepEqual(texts, [text, text, '', '']);
  });

  it('[CLI-2] sets POPROOM_PIN with --pin and the lifetime with --expires, and prints JSON', async (t) => {
    const { cli, server } = await atServer(t);
    const { stdout } = await cli.run(['new', '--pin', '--expires', '90m', '--json'], { env: { POPROOM_PIN: '4821' } });
    const { roomId, link, expiresAt, hasPin, ...rest } = JSON.parse(stdout);
    assert.deepEqual([link, hasPin, rest], [`${server.url}/r/${roomId}`, true, {}]);
    assert.equal(Date.parse(expiresAt), server.clock.now + 90 * 60_000);
    assert.equal((await server.api.get(`/api/rooms/${roomId}`)).code, 'PIN_REQUIRED');
    assert.equal((await server.api.get(`/api/rooms/${roomId}`, { pin: '4821' })).status, 200);
  });

  it('[CLI-2] deletes the room if its text could not be stored', async (t) => {
    const { cli, server } = await atServer(t, startTestServer);
    const { code, stdout } = await cli.run(['new'], { stdin: 'x'.repeat(1024 ** 2 + 1) });
    assert.deepEqual([code, stdout], [6, '']);
    assert.match((await server.api.get('/metrics')).text, /^poproom_rooms 0$/m);
  });
});

describe('poproom put and get', () => {
  it('[CLI-3] transfer a text exactly, from an argument or a pipe', async (t) => {
    const { cli, server } = await atServer(t);
    const odd = `\uFEFF -\n\r\n\t\u0000\u001b[31m\u{1F9C3}${'x\n'.repeat(40_000)}`;
    const ways: [text: string, args: string[], stdin?: string][] = [
      [odd, [], odd],
      ['', ['-'], ''],
      ['see you at 8', ['see you at 8']],
      ['--pin=1234', ['--', '--pin=1234']],
    ];
    await Promise.all(
      ways.map(async ([text, args, stdin]) => {
        const room = await server.api.room();
        const put = await cli.run(['put', room, ...args], stdin === undefined ? {} : { stdin });
        assert.deepEqual(put, { code: 0, stdout: '', stderr: '' });
        assert.equal((await cli.run(['get', room])).stdout, text);
      }),
    );
  });

  it('[CLI-3] accept a room code in any spelling, and a link', async (t) => {
    const { cli, server } = await atServer(t);
    const room = await server.api.room();
    await server.api.post(`/api/rooms/${room}/content`, { json: { content: 'found' } });
    const dashed = `${room.slice(0, 3)}-${room.slice(3)}`.toLowerCase();
    const names = [room, room.toLowerCase(), dashed, `${server.url}/r/${room}`, `${server.url}/r/${dashed}?x#y`];
    const found = await Promise.all(names.map((name) => cli.run(['get', name])));
    for (const { stdout } of found) assert.equal(stdout, 'found');
  });

  it('[CLI-3] print the version, and write only if it is the given one', async (t) => {
    const { cli, server } = await atServer(t);
    const room = await server.api.room();
    const first = JSON.parse((await cli.run(['put', room, 'one', '--json'])).stdout);
    assert.equal(first.version, 1);
    assert.equal((await cli.run(['put', room, 'two', '--base-version', '1'])).code, 0);
    const late = await cli.run(['put', room, 'late', '--base-version', '1']);
    assert.deepEqual([late.code, late.stdout], [5, '']);
    const { content, version } = JSON.parse((await cli.run(['get', room, '--json'])).stdout);
    assert.deepEqual([content, version], ['two', 2]);
  });

  it('[slow] [CLI-3] add a line break on a terminal, and nowhere else', async (t) => {
    const { cli, server } = await atServer(t);
    const room = await server.api.room();
    await server.api.post(`/api/rooms/${room}/content`, { json: { content: 'no end' } });
    assert.equal((await cli.terminal(`poproom get ${room}`).result).stdout, 'no end\r\n');
  });
});

describe('poproom info', () => {
  it('[CLI-3] shows what is in a room, for people and for programs', async (t) => {
    const { cli, server } = await atServer(t);
    const room = await server.api.room({ expiresIn: 7200 });
    await server.api.post(`/api/rooms/${room}/content`, { json: { content: 'caf\u00e9' } });
    await server.api.upload(room, 'a b.txt', 'hello');
    const [people, programs] = await Promise.all([cli.run(['info', room]), cli.run(['info', room, '--json'])]);
    for (const line of [
      `link +${server.url}/r/${room}`,
      'time left +2 h',
      'PIN +no',
      'text +5 bytes, version 1',
      'files +1 of 100, 5 bytes of 100 MiB, up to 10 MiB each$',
    ])
      assert.match(people.stdout, new RegExp(`^ +${line}`, 'm'));
    assert.match(people.stdout, /^ +a b\.txt {2}5 bytes$/m);
    const { roomId, link, text, files } = JSON.parse(programs.stdout);
    assert.deepEqual([roomId, link, text.bytes, text.version], [room, `${server.url}/r/${room}`, 5, 1]);
    assert.equal(files[0].fileName, 'a b.txt');
  });
});

describe('poproom rm', () => {
  it('[CLI-3] deletes a room, after a confirmation on a terminal', async (t) => {
    const { cli, server } = await atServer(t);
    const rooms = await Promise.all([1, 2, 3, 4].map(() => server.api.room()));
    const [no = '', yes = '', unasked = '', piped = ''] = rooms;
    const statusOf = async (room: string) => (await server.api.get(`/api/rooms/${room}`)).status;

    const answered = async (room: string, keys: string) => {
      const asking = cli.terminal(`poproom rm ${room}`);
      await asking.waitForOutput(`Delete room ${room} for everyone? [y/N] `);
      asking.type(keys);
      return (await asking.result).code;
    };
    assert.deepEqual(await Promise.all([answered(no, '\r'), answered(yes, 'yex\x7fs\r')]), [1, 0]);
    assert.deepEqual([await statusOf(no), await statusOf(yes)], [200, 404]);

    assert.equal((await cli.terminal(`poproom rm ${unasked} --yes`).result).code, 0);
    const { code, stdout } = await cli.run(['rm', piped]);
    assert.deepEqual([code, stdout.length > 0], [0, true]);
    assert.deepEqual([await statusOf(unasked), await statusOf(piped)], [404, 404]);
  });

  it('[slow] [CLI-3] does not ask for a confirmation for a room that does not exist', async (t) => {
    const { cli } = await atServer(t);
    const { code, stdout } = await cli.terminal('poproom rm ZZZZZZ').result;
    assert.deepEqual([code, stdout.includes('Delete')], [3, false]);
  });

  it('[CLI-3] removes the named files, the newest of a name first, or none if one is missing', async (t) => {
    const { cli, server } = await atServer(t);
    const room = await server.api.room();
    for (const content of ['old', 'newest', 'other']) {
      await server.api.upload(room, content === 'other' ? 'b.txt' : 'a.txt', content);
    }
    const sizes = async () =>
      (await server.api.get(`/api/rooms/${room}/files`)).json.files.map(
        ({ fileSize }: { fileSize: number }) => fileSize,
      );
    const missing = await cli.run(['rm', room, 'a.txt', 'c.txt']);
    assert.deepEqual([missing.code, missing.stderr], [3, 'poproom: There is no file "c.txt" in this room.\n']);
    assert.deepEqual(await sizes(), [3, 6, 5]);
    assert.equal((await cli.run(['rm', room, 'a.txt'])).stdout, 'Removed "a.txt".\n');
    assert.deepEqual(await sizes(), [3, 5]);
  });

  it('[CLI-31] says how to undo the removal of files, which restores them for 60 seconds', async (t) => {
    const { cli, server } = await atServer(t);
    const room = await server.api.room();
    for (const name of ['a', 'b', 'c']) await server.api.upload(room, name, name);
    const names = async () => {
      const { json } = await server.api.get(`/api/rooms/${room}/files`);
      return json.files.map(({ fileName }: { fileName: string }) => fileName);
    };
    const removed = await cli.run(['rm', room, 'a', 'b', '--url', server.url]);
    assert.equal(removed.stdout, 'Removed "a", "b".\n');
    const [, line = ''] =
      /^Undo within 60 seconds: (poproom rm .+ --undo [0-9a-f]{32} [0-9a-f]{32})\n$/.exec(removed.stderr) ?? [];
    assert.deepEqual(await names(), ['c']);
    const undone = await cli.shell(line).result;
    assert.deepEqual(undone, { code: 0, stdout: 'Restored "a", "b".\n', stderr: '' });
    assert.deepEqual((await names()).sort(), ['a', 'b', 'c']);

    const { stdout, stderr } = await cli.run(['rm', room, 'c', '--json']);
    const { fileIds, success } = JSON.parse(stdout);
    assert.deepEqual([success, fileIds.length, stderr], [true, 1, '']);
    assert.deepEqual(JSON.parse((await cli.run(['rm', room, '--undo', ...fileIds, '--json'])).stdout).fileIds, fileIds);

    const unknown = await cli.run(['rm', room, '--undo', '0'.repeat(32)]);
    assert.deepEqual([unknown.code, unknown.stdout], [3, '']);
    assert.equal((await cli.run(['rm', room, '--undo'])).code, 2);
  });
});

async function atServer(t: TestContext, start = sharedServer): Promise<{ cli: Cli; server: TestServer }> {
  const server = await start(t);
  return { cli: await createCli(t, { POPROOM_URL: server.url }), server };
}
