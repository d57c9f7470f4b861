/** The examples of docs/sdk.md are checked by the compiler, and do what the page says. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createWorkplaces, endedWell, fill, printed, readExamples } from '../support/guide.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const { start = '', ...examples } = readExamples('docs/sdk.md', 'ts');
const programs = Object.fromEntries(Object.entries(examples).map(([name, text]) => [name, programOf(text)]));
const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the guide of the SDK', () => {
  it('[DOCS-3] shows what the compiler accepts, at its strictest', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'poproom-types-'));
    t.after(() => rm(folder, { recursive: true }));
    for (const [name, code] of Object.entries(programs)) await writeFile(join(folder, `${name}.mts`), code);
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(strictly));
    const { stdout } = await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch(
      (error: { stdout: string }) => error,
    );
    assert.equal(stdout, '');
  });

  it('[DOCS-3] shows programs that do what it says', async (t) => {
    const { setScene, modules } = await openStage(t);
    const names = Object.keys(programs).filter((name) => name !== 'live');
    const scenes = await Promise.all(names.map(setScene));
    const lines = await modules(scenes);
    for (const [i, name] of names.entries()) {
      const says = expected[name] ?? assert.fail(`${name} has no expectation`);
      await t.test(name, () => says(lines[i] ?? [], scenes[i] as Scene));
    }
  });

  it('[DOCS-3] shows how to follow a room to its end', async (t) => {
    const { server, setScene } = await openStage(t);
    const { room, name, code, module } = await setScene('live');
    const running = await module(name, code);
    await running.shows('in the room');
    await write(server, room, 'hello');
    await server.api.upload(room, 'note.txt', 'x');
    await running.shows('note.txt');
    await server.api.delete(`/api/rooms/${room}`);
    const lines = printed(await endedWell(running)).map((line) => JSON.stringify(line));
    assert.deepEqual([lines[0], lines.at(-1)], ['["in the room"]', '["The room is gone."]']);
    for (const line of ['["",0]', '["hello",1]', '["note.txt"]']) assert.ok(lines.includes(line), lines.join());
  });
});

type Scene = Awaited<ReturnType<Awaited<ReturnType<typeof openStage>>['setScene']>>;

async function openStage(t: TestContext) {
  const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '1000' });
  const { createWorkplace, modules } = await createWorkplaces(t);

  /** A room and a folder for an example, and the program that it is there. */
  async function setScene(example: string) {
    const room = await server.api.room();
    if (example === 'shout') await write(server, room, 'hello');
    const { folder, module } = await createWorkplace({ 'photo.jpg': 'a photo' });
    const code = fill(programs[example] ?? '', valuesFor(server, room));
    return { server, room, folder, module, name: `${example}.mts`, code };
  }

  return { server, setScene, modules };
}

const expected: Record<string, (lines: unknown[][], scene: Scene) => void> = {
  open([made, opened], { server, room }) {
    assert.equal(made?.[1], `${server.url}/r/${made?.[0]}`);
    assert.deepEqual(opened, [room, 0]);
  },
  text: (lines) => assert.deepEqual(lines, [['Milk\n', 1]]),
  conflict: (lines) => assert.deepEqual(lines, [[4]]),
  files: (lines) =>
    assert.deepEqual(lines, [
      ['photo.jpg', 7, 7],
      ['table.csv', 8, 8],
    ]),
  abort: (lines) => assert.deepEqual(lines, [['AbortError', 0]]),
  shout: (lines) => assert.deepEqual(lines, [['written', 2]]),
  errors: (lines) => assert.deepEqual(lines, [['It is gone:', 'There is no room with this code.']]),
  limits([line = []]) {
    const [limit, remaining, resetAt] = line;
    assert.equal(limit, 1000);
    assert.ok(Number(remaining) < 1000);
    assert.ok(Date.parse(String(resetAt)) > Date.now());
  },
};

function write({ api }: TestServer, room: string, content: string) {
  return api.post(`/api/rooms/${room}/content`, { json: { content } });
}

/** What has no beginning of its own has that of the page. */
function programOf(example: string): string {
  return example.startsWith('import ') ? example : `${start}\n${example}`;
}

function valuesFor({ url }: TestServer, room: string): Record<string, string> {
  const typed = `${room.slice(0, 4)}-${room.slice(4)}`.toLowerCase();
  return { 'http://localhost:8080': url, '7KQ2MX': room, '7kq2-mx': typed };
}

const strictly = {
  extends: join(root, 'tsconfig.json'),
  compilerOptions: {
    // An example uses what it shows, not all that the page begins with.
    noUnusedLocals: false,
    paths: { 'poproom/client': [join(root, 'src/client/index.ts')] },
    typeRoots: [join(root, 'node_modules/@types')],
  },
  include: ['*.mts'],
  exclude: [],
};
