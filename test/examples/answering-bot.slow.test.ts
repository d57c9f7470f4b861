/** examples/answering-bot.mjs, as a process in a room. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createClient } from '../../src/client/index.ts';
import { createCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { startTestServer } from '../support/server.ts';

const bot = fileURLToPath(new URL('../../examples/answering-bot.mjs', import.meta.url));

describe('the answering bot', () => {
  it('[DOCS-5] answers beneath the question, once, and ends with the room', async (t) => {
    const { room, running } = await setUp(t);
    await room.write('Who begins?\n/roll 2d6\nLater.');
    const answered = await eventually('the dice fell', async () => textWith(await room.read(), /→/));
    assert.match(answered.content, /^Who begins\?\n\/roll 2d6\n→ [1-6] \+ [1-6]\nLater\.$/);

    await room.append('\n/time');
    await room.append('\n');
    const again = await eventually('the bot has answered', async () =>
      textWith(await room.read(), /\/time\n→ .*\d:\d\d/),
    );
    assert.equal(again.version, answered.version + 3, 'it wrote once for each finished question');
    assert.ok(again.content.startsWith(answered.content), 'and left the first answer alone');

    await room.delete();
    const { code, stdout, stderr } = await running.result;
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(stdout, `Listening in ${room.code}.\nGood-bye.\n`);
  });

  it('[DOCS-5] does not overwrite concurrent edits', async (t) => {
    const { room, running } = await setUp(t);
    const count = 20;
    for (let i = 0; i < count; i++) await room.append(`${i}\n/roll 1d6\n`);
    const isAnswered = /^(\d+\n\/roll 1d6\n→ [1-6]\n)*$/;
    const { content } = await eventually('all is answered', async () => textWith(await room.read(), isAnswered));
    assert.deepEqual(
      [...content.matchAll(/^(\d+)$/gm)].map(([, i]) => Number(i)),
      Array.from({ length: count }, (_, i) => i),
    );
    running.signal('SIGINT');
    assert.equal((await running.result).code, 0);
  });

  it('[DOCS-5] reports why it cannot join', async (t) => {
    const { room, start } = await setUp(t);
    const { code, stdout, stderr } = await start(room.link.replace(/\w+$/, '000000')).result;
    assert.deepEqual([code, stdout, stderr], [1, '', 'There is no room with this code.\n']);
    assert.equal((await start('').result).code, 2);
  });
});

type Room = ReturnType<ReturnType<typeof createClient>['room']>;

async function setUp(t: TestContext) {
  const { url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '10000' });
  const room = await createClient({ url }).createRoom();
  const cli = await createCli(t);
  const start = (link: string) => cli.shell(`exec "${process.execPath}" "${bot}" ${link}`);
  const running = start(room.link);
  await running.waitForOutput('Listening');
  return { room, running, start };
}

const textWith = (text: Awaited<ReturnType<Room['read']>>, pattern: RegExp) => pattern.test(text.content) && text;
