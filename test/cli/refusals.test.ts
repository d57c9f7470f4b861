/** Rejections of commands that stay in a room or transfer files: one sentence, one exit code. */
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Cli, createCli } from '../support/cli.ts';
import { startTestServer } from '../support/server.ts';

const MiB = 1024 * 1024;
const day = 86_400_000;

async function setUp(t: TestContext) {
  const server = await startTestServer(t);
  const cli = await createCli(t, { POPROOM_URL: server.url, DISPLAY: ':0' });
  await writeFile(join(cli.home, 'large'), Buffer.alloc(10 * MiB));
  await writeFile(join(cli.bin, 'xclip'), '#!/bin/sh\n', { mode: 0o755 });
  return { server, cli };
}

/** Each of them on the room, and nothing comes of any. */
async function mustFail(cli: Cli, code: string, exit: number, says: RegExp, env: Record<string, string> = {}) {
  const all = [
    ['send', code, 'large'],
    ['fetch', code, '-o', '-'],
    ['fetch', code],
    ['watch', code],
    ['watch', code, '--once', '--exec', 'touch ran'],
    ['clip', code],
  ];
  for (const args of all) {
    const ended = await cli.run(args, { env });
    assert.deepEqual([ended.code, ended.stdout], [exit, ''], `${args.join(' ')}: ${ended.stderr}`);
    assert.match(ended.stderr, says);
    assert.match(ended.stderr, /^poproom: [^\n]+\n$/, 'one sentence');
  }
  assert.deepEqual(
    (await readdir(cli.home)).filter((name) => !name.startsWith('.')),
    ['large'],
  );
}

describe('send, fetch, watch and clip', () => {
  it('[CLI-19] end with 3 if the room does not exist or has ended', async (t) => {
    const { server, cli } = await setUp(t);
    await mustFail(cli, '7KQ2MX', 3, /no room/);
    const code = await server.api.room();
    server.clock.advance(day + 1);
    await mustFail(cli, code, 3, /expired/);
  });

  it('[slow] [CLI-19] end with 4 without the PIN, with a wrong one, and during a lock', async (t) => {
    const { server, cli } = await setUp(t);
    const code = await server.api.room({ pin: '0427' });
    await mustFail(cli, code, 4, /PIN/);
    const wrong = await cli.run(['send', code, 'large'], { env: { POPROOM_PIN: '1111' } });
    assert.deepEqual([wrong.code, wrong.stdout], [4, '']);
    for (let n = 0; n < 5; n++) await server.api.get(`/api/rooms/${code}`, { pin: '1111' });
    await mustFail(cli, code, 4, /Too many|locked|seconds/i, { POPROOM_PIN: '1111' });
  });

  it('[CLI-19] end with 8 if the server is unreachable, and with 2 if its URL is invalid', async (t) => {
    const { cli } = await setUp(t);
    await mustFail(cli, '7KQ2MX', 8, /Cannot connect to http/, { POPROOM_URL: 'http://127.0.0.1:1' });
    await mustFail(cli, '7KQ2MX', 2, /is not a valid server URL/, { POPROOM_URL: 'ftp://localhost' });
    await mustFail(cli, 'no/code', 2, /is not a valid room code/);
  });

  it('[CLI-19] end with 7 when all requests are used up', async (t) => {
    const { server, cli } = await setUp(t);
    const code = await server.api.room();
    await server.restart({ POPROOM_FREE_LIMIT: '1' });
    await server.api.get('/api/health');
    await mustFail(cli, code, 7, /./, { POPROOM_URL: server.url });
  });
});
