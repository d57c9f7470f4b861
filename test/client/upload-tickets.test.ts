/** Several files of the SDK and of `poproom send`, which count as one request. */
import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createClient, type FileEntry, type Room } from '../../src/client/index.ts';
import { createCli } from '../support/cli.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { startTestServer } from '../support/server.ts';

const textsOf = (room: Room, files: readonly FileEntry[]) =>
  Promise.all(files.map(async (file) => (await room.download(file)).text()));

describe('several files of the SDK', () => {
  for (const encrypted of [false, true]) {
    it(`[RATE-9] count as one request, and reading them as none, in a room that is ${encrypted ? '' : 'not '}encrypted`, async (t) => {
      const { url } = await startTestServer(t, { POPROOM_FREE_LIMIT: '6' });
      const client = createClient({ url });
      const room = await client.createRoom({ encrypted });
      const names: string[] = [];
      const sent = await room.uploadAll(
        [
          new File(['0'], 'a.txt'),
          { source: new Blob(['1']), name: 'b.txt', folder: 'photos' },
          // In parts.
          { source: new Blob(['2']), name: 'c.txt', onProgress: () => {} },
          ...Array.from({ length: 5 }, (_, i) => new File([String(i + 3)], `${i}.txt`)),
        ],
        { onUploaded: ({ fileName }, index) => void names.push(`${index} ${fileName}`) },
      );
      assert.deepEqual(names.slice(0, 3), ['0 a.txt', '1 b.txt', '2 c.txt']);
      assert.equal(client.rateLimit?.remaining, 4);
      const files = await room.files();
      assert.deepEqual(
        files.map(({ fileName }) => fileName),
        sent.map(({ fileName }) => fileName),
      );
      assert.equal(files[1]?.folder, 'photos');
      assert.deepEqual(await textsOf(room, files), ['0', '1', '2', '3', '4', '5', '6', '7']);
      assert.equal(client.rateLimit?.remaining, 3);
      if (!encrypted) return;
      const { link } = await room.createLink({ role: 'drop' });
      await client.room(link ?? '').uploadAll([new File(['8'], 'd.txt'), new File(['9'], 'e.txt')]);
      assert.equal((await room.files()).length, 10);
      assert.equal(client.rateLimit?.remaining, 0);
    });
  }

  it('[RATE-9] are sent one by one to a server that does not know tickets for them', async (t) => {
    const seen: string[] = [];
    const server = createServer(async (request, response) => {
      const body = await Array.fromAsync(request);
      seen.push(`${request.method} ${request.url} ${Buffer.concat(body)}`);
      const isTicket = request.url?.endsWith('/tickets');
      const fileUrl = `http://127.0.0.1/files/${'0'.repeat(32)}/a.txt`;
      response.setHeader('Content-Type', 'application/json').writeHead(isTicket ? 400 : 201);
      const error = { code: 'VALIDATION_FAILED', message: 'Unknown field.' };
      const uploaded = { success: true, fileUrl, fileName: 'a.txt', fileSize: 1 };
      response.end(JSON.stringify(isTicket ? { success: false, error, requestId: 'x' } : uploaded));
    });
    const room = createClient({ url: await listenOnFreePort(t, server) }).room('7KQ2MX');
    await room.uploadAll(['a', 'b', 'c'].map((text) => ({ source: new Blob([text]), name: 'a.txt' })));
    const upload = (text: string) => `POST /api/rooms/7KQ2MX/upload ${text}`;
    assert.deepEqual(seen, ['POST /api/rooms/7KQ2MX/tickets {"uploads":3}', upload('a'), upload('b'), upload('c')]);
    await room.uploadAll([{ source: new Blob(['d']), name: 'a.txt' }]);
    assert.deepEqual(seen.slice(4), [upload('d')], 'a single file needs no ticket');
    await assert.rejects(room.uploadAll('a.txt' as never), TypeError);
    await assert.rejects(room.uploadTicket(0), TypeError);
  });
});

describe('several files of poproom send', () => {
  it('[RATE-9] count as one request, and poproom fetch needs one for all', async (t) => {
    const { send, fetch } = await withFolder(t, 6);
    const { code, requests } = await send();
    assert.equal(requests, 3, 'one for the room, one for its limits, and one for the files');
    assert.equal((await fetch(code)).requests, 1);
  });

  it('[slow] [RATE-9] can be as many as a room holds, with 5 requests, also in encrypted rooms', async (t) => {
    const { cli, send, fetch } = await withFolder(t, 100);
    const encrypted = JSON.parse((await cli.run(['new', '--encrypted', '--json'])).stdout).roomId;
    for (const room of [[], [encrypted]]) {
      const { code, requests } = await send(...room);
      assert.ok(requests <= 5, `sent with ${requests} requests`);
      assert.ok((await fetch(code)).requests <= 2);
    }
  });
});

async function withFolder(t: TestContext, files: number) {
  const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '20' });
  const cli = await createCli(t, { POPROOM_URL: server.url });
  const names = Array.from({ length: files }, (_, i) => `${i}.txt`).sort();
  await mkdir(join(cli.home, 'folder'));
  for (const name of names) await writeFile(join(cli.home, 'folder', name), `content of ${name}`);
  const remaining = async () => Number((await server.api.get('/livez')).headers.get('x-ratelimit-remaining'));

  async function run(...args: string[]) {
    const before = await remaining();
    const { code, stdout, stderr } = await cli.run([...args, '--json']);
    assert.deepEqual([code, stderr], [0, '']);
    return { requests: before - (await remaining()), json: JSON.parse(stdout) };
  }

  return {
    cli,
    /** To a new room, or to the given one. */
    async send(...room: string[]) {
      const { requests, json } = await run('send', ...room, '-r', 'folder');
      return { requests, code: room[0] ?? (json.roomId as string) };
    },
    async fetch(code: string) {
      const { requests } = await run('fetch', code, '-o', `${code}/`);
      assert.deepEqual((await readdir(join(cli.home, code, 'folder'))).sort(), names);
      return { requests };
    },
  };
}
