/** Compiles and runs the examples in docs/sdk.md. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'rolldown';
import { launchBrowser } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import {
  createExampleRunner,
  fillPlaceholders,
  parseJsonLines,
  readExamples,
  successOutput,
} from '../support/guide.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const { start = '', ...examples } = readExamples('docs/sdk.md', 'ts');
const programs = Object.fromEntries(Object.entries(examples).map(([name, text]) => [name, programOf(text)]));
const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the guide of the SDK', () => {
  it('[slow] [DOCS-3] compiles with the strictest settings', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'poproom-types-'));
    t.after(() => rm(folder, { recursive: true }));
    for (const [name, code] of Object.entries(programs)) await writeFile(join(folder, `${name}.mts`), code);
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(strictly));
    const { stdout } = await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch(
      (error: { stdout: string }) => error,
    );
    assert.equal(stdout, '');
  });

  it('[DOCS-3] shows programs that work as described', async (t) => {
    const { setScene, modules } = await openStage(t);
    const names = Object.keys(programs).filter((name) => !staysInRoom.has(name));
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
    await running.waitForOutput('in the room');
    await write(server, room, 'hello');
    await server.api.upload(room, 'note.txt', 'x');
    await running.waitForOutput('note.txt');
    await server.api.delete(`/api/rooms/${room}`);
    const lines = parseJsonLines(await successOutput(running)).map((line) => JSON.stringify(line));
    assert.deepEqual([lines[0], lines.at(-1)], ['["in the room"]', '["The room has ended:","deleted"]']);
    for (const line of ['["",0]', '["hello",1]', '["note.txt"]']) assert.ok(lines.includes(line), lines.join());
  });

  it('[DOCS-3] shows a bot that answers at the end of the text', async (t) => {
    const { server, setScene } = await openStage(t);
    const { room, name, code, module } = await setScene('bot');
    await write(server, room, 'Hello\n/time\n');
    const running = await module(name, code);
    const answers = async () => (await textOf(server, room)).match(/^It is \S*\d:\d\d.*\.$/gm)?.length;
    await eventually('it answered', async () => (await answers()) === 1);
    await server.api.patch(`/api/rooms/${room}/content`, { json: { append: 'Thanks!\n/time\n' } });
    await eventually('it answered again', async () => (await answers()) === 2);
    assert.match(await textOf(server, room), /^Hello\n\/time\nIt is .*\nThanks!\n\/time\nIt is .*\n$/);
    await server.api.delete(`/api/rooms/${room}`);
    assert.deepEqual(parseJsonLines(await successOutput(running)), [['The room has ended:', 'deleted']]);
  });

  it('[slow] [DOCS-3] shows an editor that keeps the cursor and undoes only its own edits', async (t) => {
    const { server, setScene } = await openStage(t);
    const scene = await setScene('editor');
    const { room } = scene;
    await write(server, room, 'one two');
    const [mine, other] = await openEditors(t, scene);

    await mine.paste(' three');
    await other.has('one two three');
    await other.place(0);
    await other.type('0 ');
    await mine.has('0 one two three');
    assert.equal(await mine.caret(), '0 one two three'.length);

    await mine.type('!');
    await other.has('0 one two three!');
    for (const left of ['0 one two three', '0 one two']) {
      await mine.press('Control+z');
      await other.has(left);
    }
    await mine.press('Control+Shift+Z');
    await other.has('0 one two three');

    await mine.place(5);
    await mine.type('\u{1F9C3}');
    await mine.press('Backspace');
    await mine.press('Delete');
    await other.has('0 onetwo three');
    await eventually('it is stored', async () => (await textOf(server, room)) === '0 onetwo three');

    await write(server, room, 'with\r\nreturns');
    await mine.has('with\nreturns');
    await mine.press('Control+End');
    await mine.type('?');
    await eventually('it is stored', async () => (await textOf(server, room)).endsWith('returns?'));
    await server.api.delete(`/api/rooms/${room}`);
    await mine.isDisabled();
  });
});

/** Examples that run until the room ends, or in a browser. */
const staysInRoom: ReadonlySet<string> = new Set(['live', 'bot', 'editor']);

/** The example in two pages, in their text fields. */
async function openEditors(t: TestContext, { server, folder, name, code }: Scene) {
  const browser = await launchBrowser();
  t.after(() => browser.close());
  await writeFile(join(folder, name), code);
  const { output } = await build({
    input: join(folder, name),
    write: false,
    logLevel: 'warn',
    output: { codeSplitting: false },
  });

  async function openEditor() {
    const page = await browser.newPage();
    page.on('pageerror', (error) => assert.fail(error));
    await page.goto(`${server.url}/livez`);
    await page.evaluate("document.body.innerHTML = '<textarea></textarea>'");
    await page.addScriptTag({ type: 'module', content: output[0].code });
    const has = (text: string) =>
      page.waitForFunction(`document.querySelector('textarea').value === ${JSON.stringify(text)}`);
    const place = (caret: number) =>
      page.evaluate(`document.querySelector('textarea').setSelectionRange(${caret}, ${caret})`);
    await page.waitForSelector('textarea:enabled');
    await page.focus('textarea');
    await has('one two');
    await place('one two'.length);
    return {
      has,
      place,
      type: (text: string) => page.keyboard.type(text),
      paste: (text: string) => page.keyboard.insertText(text),
      press: (keys: string) => page.keyboard.press(keys),
      caret: () => page.evaluate("document.querySelector('textarea').selectionEnd"),
      isDisabled: () => page.waitForSelector('textarea:disabled'),
    };
  }

  return [await openEditor(), await openEditor()] as const;
}

type Scene = Awaited<ReturnType<Awaited<ReturnType<typeof openStage>>['setScene']>>;

async function openStage(t: TestContext) {
  const server = await startTestServer(t, { POPROOM_FREE_LIMIT: '1000', POPROOM_WEBHOOK_HOSTS: 'hooks.example.org' });
  const { createFolder, modules } = await createExampleRunner(t);

  /** A room and a folder for an example, and the program that it is there. */
  async function setScene(example: string) {
    const room = await server.api.room();
    for (const content of earlierTexts[example] ?? []) await write(server, room, content);
    const { path: folder, module } = await createFolder({ 'photo.jpg': 'a photo' });
    const code = fillPlaceholders(programs[example] ?? '', valuesFor(server, room));
    return { server, room, folder, module, name: `${example}.mts`, code };
  }

  return { server, setScene, modules };
}

const expected: Record<string, (lines: unknown[][], scene: Scene) => void> = {
  open([made, opened], { server, room }) {
    assert.equal(made?.[1], `${server.url}/r/${made?.[0]}`);
    assert.deepEqual(opened, [room, 0]);
  },
  encrypted([made, read], { server }) {
    const [code, key, link] = made as string[];
    assert.equal(link, `${server.url}/r/${code}#${key?.replaceAll('-', '')}`);
    assert.deepEqual(read, ['only devices with the key can read this']);
  },
  links([link, role]) {
    assert.match(String(link?.[0]), /\/r\/[0-9A-Z]{24}$/);
    assert.deepEqual(role, ['read']);
  },
  update([info, pin]) {
    assert.match(String(info?.[0]), /^\d{4}-/);
    assert.deepEqual([info?.[1], pin], ['Shopping list', [true]]);
  },
  lite: (lines) => assert.deepEqual(lines, [[1]]),
  text: (lines) => assert.deepEqual(lines, [['Milk\nBread\n', 2]]),
  edit: (lines) => assert.deepEqual(lines, [['Buy oat milk\n']]),
  conflict: (lines) => assert.deepEqual(lines, [['Cheese\n', 1]]),
  add: (lines) =>
    assert.deepEqual(lines, [
      ['before:', 'Building…\n'],
      ['stored as version', 2],
    ]),
  history([listed = [], restored]) {
    const [version, timestamp, size] = listed;
    assert.deepEqual([version, size], [1, Buffer.byteLength(longText)]);
    assert.ok(Date.parse(String(timestamp)) > 0);
    assert.deepEqual(restored, [longText, 3]);
  },
  files: (lines) =>
    assert.deepEqual(lines, [
      ['photo.jpg', 7, 7],
      ['table.csv', 8, 8],
      ['photo.jpg', 7, 7],
      ['copy.jpg', 7, 7],
    ]),
  once: (lines) => assert.deepEqual(lines, [['key.pem', 0]]),
  zip([downloaded, linked], { server, room }) {
    assert.deepEqual(downloaded, ['application/zip', 157]);
    assert.ok(String(linked?.[0]).startsWith(`${server.url}/api/rooms/${room}/files.zip?ticket=`));
  },
  abort: (lines) => assert.deepEqual(lines, [['AbortError', 0]]),
  webhooks([secret, listed]) {
    assert.match(String(secret), /^whsec_/);
    assert.deepEqual(listed, ['hooks.example.org', null, null]);
  },
  errors: (lines) => assert.deepEqual(lines, [['It has ended:', 'There is no room with this code.']]),
  limits([line = []]) {
    const [limit, remaining, resetAt] = line;
    assert.equal(limit, 1000);
    assert.ok(Number(remaining) < 1000);
    assert.ok(Date.parse(String(resetAt)) > Date.now());
  },
  timeout(lines) {
    assert.deepEqual(lines, [['Patience\n']]);
  },
};

const longText = 'This text is long enough to be kept.\n';

/** The content of the room of an example before it runs. */
const earlierTexts: Record<string, readonly string[]> = {
  edit: ['Buy milk\n'],
  add: ['Building…\n'],
  history: [longText, 'short'],
  timeout: ['Patience\n'],
};

const textOf = async ({ api }: TestServer, room: string): Promise<string> =>
  (await api.get(`/api/rooms/${room}/content`)).json.content;

function write({ api }: TestServer, room: string, content: string) {
  return api.post(`/api/rooms/${room}/content`, { json: { content } });
}

/** An example without its own setup uses that of the page. */
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
    lib: ['esnext', 'dom'],
    paths: {
      '@poproom/client': [join(root, 'src/client/index.ts')],
      '@poproom/client/lite': [join(root, 'src/client/lite.ts')],
    },
    typeRoots: [join(root, 'node_modules/@types')],
  },
  include: ['*.mts'],
  exclude: [],
};
