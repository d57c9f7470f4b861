/** Failures of commands: an exit code for each kind, one sentence, and nothing else. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { explain } from '../../src/cli/failure.ts';
import { PoproomError } from '../../src/client/index.ts';
import { type CliResult, createCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { sharedServer, startTestServer } from '../support/server.ts';
import { startUnfinishedResponse } from '../support/unfinished-response.ts';

describe('a failure', () => {
  it('[CLI-6] has an exit code for its kind and one sentence on standard error', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const cli = await createCli(t, { POPROOM_URL: server.url });
    const [expired, room, guarded] = await Promise.all([
      server.api.room({ expiresIn: 60 }),
      server.api.room(),
      server.api.room({ pin: '4821' }),
    ]);
    server.clock.advance(61_000);
    const cases: [exitCode: number, says: RegExp, ended: Promise<CliResult>][] = [
      [3, /There is no room ZZZZZZ on http:\/\/127\.0\.0\.1:\d+\./, cli.run(['get', 'ZZZZZZ'])],
      [3, /This room has expired/, cli.run(['info', expired])],
      [3, /There is no file "x"/, cli.run(['rm', room, 'x'])],
      [4, /protected by a PIN/, cli.run(['put', guarded, 'text'])],
      [4, /Wrong PIN/, cli.run(['get', guarded], { env: { POPROOM_PIN: '9999' } })],
      [
        5,
        /Someone else has changed the text\. Nothing was overwritten/,
        cli.run(['put', room, 'text', '--base-version', '7']),
      ],
      [6, /exceeds the limit of 1 MiB\.\n/, cli.run(['put', room], { stdin: 'x'.repeat(1024 ** 2 + 1) })],
      [
        8,
        /Cannot connect to http:\/\/127\.0\.0\.1:1: port 1 is reserved/,
        cli.run(['get', room, '--url', 'http://127.0.0.1:1']),
      ],
    ];
    await Promise.all(
      cases.map(async ([exitCode, says, ended]) => {
        const { code, stdout, stderr } = await ended;
        assert.deepEqual([code, stdout], [exitCode, ''], stderr);
        assert.match(stderr, says);
        assert.match(stderr, /^poproom: [^\n]+\n$/);
      }),
    );
  });

  it('[CLI-6] is reported, and not that of closing what the command used', () => {
    const reason = new PoproomError('ROOM_FULL', 'The room is full.');
    assert.deepEqual(explain(new SuppressedError(new Error('Cannot close.'), reason)), explain(reason));
  });

  it('[CLI-6] is reported immediately if waiting would take long', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '1' });
    const cli = await createCli(t, { POPROOM_URL: server.url });
    const room = await server.api.room({ pin: '4821' });
    const { code, stdout, stderr } = await cli.run(['get', room]);
    assert.deepEqual([code, stdout], [7, '']);
    assert.match(stderr, /^poproom: [^\n]+ Try again in \d+ \w+\.\n$/);
  });

  it('[CLI-6] of standard input is reported before anything is sent', async (t) => {
    const server = await sharedServer(t);
    const cli = await createCli(t, { POPROOM_URL: server.url });
    const room = await server.api.room();
    await writeFile(join(cli.home, 'latin.txt'), Buffer.from('caf\u00e9', 'latin1'));
    const lines: [line: string, exitCode: number, says: RegExp][] = [
      [`poproom put ${room} < latin.txt`, 2, /not UTF-8 text; use "poproom send" for other files/],
      ['poproom new < latin.txt', 2, /not UTF-8 text/],
      [`poproom put ${room} - < /`, 2, /Standard input is a folder/],
      [`poproom put ${room} - < /dev/zero`, 6, /at most 64 MiB/],
    ];
    await Promise.all(
      lines.map(async ([line, exitCode, says]) => {
        const { code, stdout, stderr } = await cli.shell(line).result;
        assert.deepEqual([code, stdout], [exitCode, ''], line);
        assert.match(stderr, says);
      }),
    );
    assert.equal((await server.api.get(`/api/rooms/${room}/content`)).json.content, '');
  });

  it('[slow] [CLI-6] does not include a reader that stops reading the output', async (t) => {
    const server = await sharedServer(t);
    const cli = await createCli(t, { POPROOM_URL: server.url });
    const room = await server.api.room();
    await server.api.post(`/api/rooms/${room}/content`, { json: { content: 'x'.repeat(1024 ** 2) } });
    const lines = [`{ poproom get ${room}; echo $? >&2; } | head -c1`, '{ poproom --help; echo $? >&2; } | true'];
    const [text, help] = await Promise.all(lines.map((line) => cli.shell(line).result));
    assert.deepEqual([text?.stdout, text?.stderr], ['x', '0\n']);
    assert.equal(help?.stderr, '0\n');
  });

  it('[CLI-6] of a connection in the middle of a response has the exit code of an unreachable server', async (t) => {
    const server = await startUnfinishedResponse(t);
    const { start } = await createCli(t, { POPROOM_URL: server.url });
    const getting = start(['get', '7KQ2MX']);
    await eventually('it has begun', () => server.responses === 1);
    server.disconnect();
    const { code, stdout, stderr } = await getting.result;
    assert.deepEqual([code, stdout], [8, '']);
    assert.match(stderr, /^poproom: [^\n]+\n$/);
  });

  it('[CLI-6] of a server with an unexpected response is reported too', async (t) => {
    const server = await sharedServer(t);
    const { run } = await createCli(t);
    const { code, stdout, stderr } = await run(['get', 'ZZZZZZ', '--url', `${server.url}/elsewhere`]);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^poproom: [^\n]+\n$/);
  });
});
