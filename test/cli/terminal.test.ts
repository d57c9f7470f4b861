/** What others wrote must not move the cursor, colour the screen or write into the clipboard of who looks at it. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { createCli } from '../support/cli.ts';
import { listening } from '../support/listening.ts';
import { startTestServer } from '../support/server.ts';

const orders = '\x1b]0;owned\x07\x1b[31mred\u009b2J\u202E';

describe('a terminal', () => {
  it('[CLI-7] does not obey the text of a room, which a pipe carries as it is', async (t) => {
    const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '0' });
    const cli = await createCli(t, { POPROOM_URL: server.url });
    const room = await server.api.room();
    const content = `one\ttab\r\n${orders}\n`;
    await server.api.post(`/api/rooms/${room}/content`, { json: { content } });
    const [screen, pipe, json] = await Promise.all([
      cli.terminal(`poproom get ${room}`).ended,
      cli.run(['get', room]),
      cli.run(['get', room, '--json']),
    ]);
    assert.equal(pipe.stdout, content);
    assert.deepEqual([JSON.parse(json.stdout).content, hasControls(json.stdout)], [content, false]);
    assert.ok(screen.stdout.startsWith('one\ttab\r'));
    assert.ok(screen.stdout.includes('owned'));
    assert.equal(hasControls(screen.stdout), false, JSON.stringify(screen.stdout));
  });

  it('[CLI-7] does not obey names of files, nor what a server says', async (t) => {
    const cli = await createCli(t, { POPROOM_URL: await hostileServer(t) });
    const said = await Promise.all([cli.run(['info', '7KQ2MX']), cli.run(['rm', '7KQ2MX', '0']), cli.run(['new'])]);
    for (const { stdout, stderr } of said) {
      assert.match(stdout + stderr, /owned/);
      assert.equal(hasControls(stdout + stderr) || (stdout + stderr).includes('\u202E'), false);
    }
  });
});

const hasControls = (text: string) => /[^\P{Cc}\r\n\t]/u.test(text);

/** Everything it says wants to be obeyed. */
async function hostileServer(t: TestContext): Promise<string> {
  const file = { fileId: '0', fileName: orders, fileSize: 1, fileUrl: 'http://127.0.0.1:1/' };
  const answers: Record<string, object> = {
    'GET /api/rooms/7KQ2MX': { roomId: '7KQ2MX', expiresAt: '2026-01-15T09:30:00.000Z', deviceCount: 1, hasPin: false },
    'GET /api/rooms/7KQ2MX/content': { content: 'text', timestamp: '2026-01-15T09:30:00.000Z' },
    'GET /api/rooms/7KQ2MX/files': { files: [file] },
    'DELETE /api/rooms/7KQ2MX/files/0': { success: true, message: 'Removed.' },
  };
  const server = createServer(({ method, url }, response) => {
    const answer = answers[`${method} ${url}`];
    if (!answer) response.statusCode = 400;
    response
      .setHeader('ETag', '"1"')
      .end(JSON.stringify(answer ?? { error: { code: 'VALIDATION_FAILED', message: orders } }));
  });
  return listening(t, server);
}
