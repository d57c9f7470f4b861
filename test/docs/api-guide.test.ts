/** Runs every request in docs/api.md as written, and compares the result. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Snippets, snippets } from '../../scripts/api-guide/snippets.ts';
import { endpoints } from '../../src/protocol/endpoints.ts';
import { errorCodes } from '../../src/protocol/error-codes.ts';
import { adminEnv, adminOf, adminToken } from '../support/admin.ts';
import { eventually } from '../support/eventually.ts';
import {
  type CodeBlock,
  createExampleRunner,
  fillPlaceholders,
  parseCurlOutput,
  parseJsonLines,
  readGuide,
  type Section,
  successOutput,
} from '../support/guide.ts';
import { apiKeysOf, bearer } from '../support/keys.ts';
import { startTestServer } from '../support/server.ts';
import { textInZip } from '../support/unzip.ts';

const guide = readGuide('docs/api.md');
const operations = guide.flatMap((section) => (section.name ? [{ ...section, operation: section.name }] : []));
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('the page of the API', () => {
  it('[DOCS-1] has every endpoint, and every error code with its status and meaning', () => {
    const said = guide.map(({ text }) => text).join('');
    for (const { path, method } of Object.values(endpoints))
      assert.ok(said.includes(`\`${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}\``), path);
    const table = section('Error codes').text;
    for (const [code, [, meaning]] of Object.entries(errorCodes))
      assert.match(table, new RegExp(`^\\| \`${code}\` +\\| \\d{3} +\\| ${RegExp.escape(meaning)} +\\|$`, 'm'));
    assert.deepEqual(operations.map(({ operation }) => operation).sort(), Object.keys(snippets).sort());
  });

  it('[DOCS-2] starts with commands that work, one after the other', async (t) => {
    const { run } = await (await openStage(t)).setScene('');
    const blocks = ['Quick start', 'API keys'].flatMap((heading) => section(heading).blocks.filter(isCurl));
    const answers = parseCurlOutput(await successOutput(run(blocks.map(({ text }) => text).join('\n'))));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 200, 200, 200],
    );
    assert.equal(JSON.parse(answers[2]?.body ?? '').content, 'Hello');
  });

  it('[DOCS-2] shows how to send a PIN', async (t) => {
    const { api, run, exampleFolder, filled, room } = await (await openStage(t)).setScene('', { pin: '0427' });
    await api.post(`/api/rooms/${room}/content`, { json: { content: 'a secret' }, pin: '0427' });
    const { blocks } = section('PIN');
    const text = (isOne: (block: CodeBlock) => boolean) => blocks.find(isOne)?.text ?? '';
    const [answer] = parseCurlOutput(await successOutput(run(text(isCurl))));
    assert.equal(JSON.parse(answer?.body ?? '').content, 'a secret');
    const module = await exampleFolder.module('example.mjs', filled(startIn('js') + text(isSdk)));
    assert.deepEqual(parseJsonLines(await successOutput(module)), [['a secret']]);
    assert.equal(await successOutput(run(startIn('sh') + text(isCli))), 'a secret');
  });

  it('[slow] [DOCS-2] shows curl commands with their actual responses', async (t) => {
    await eachExample(t, isCurl, async ({ operation, text, blocks, example }, scene) => {
      if (operation === 'roomEvents') return followsByCurl(example, scene);
      const answers = parseCurlOutput(await successOutput(scene.run(example)));
      assert.equal(answers.length, example.match(/(?:^|\| )curl /gm)?.length);
      const status = Number(/^\*\*(\d{3})\*\* /m.exec(text)?.[1]);
      assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([status]));
      if (operation === 'serveFile') return assertSaved(scene);
      if (operation === 'downloadZip') return assertZipped(scene, `poproom-${scene.room}.zip`);
      const json = blocks.find(({ language }) => language === 'json')?.text;
      // One of the commands asks for plain text.
      const bodies = answers.map(({ body }) => body).filter((body) => body.startsWith('{'));
      assert.ok(!json || bodies.length > 0);
      if (json) for (const body of bodies) assertShape(JSON.parse(body), JSON.parse(json), operation);
    });
  });

  it('[slow] [DOCS-2] shows SDK modules that work as described', async (t) => {
    const { setScene, modules } = await openStage(t);
    const examples = examplesThat(isSdk).filter(({ operation }) => operation !== 'liveChannel');
    const scenes = await Promise.all(examples.map(({ operation }) => setScene(operation)));
    const lines = await modules(examples.map(({ example }, i) => programOf(example, scenes[i] as Scene)));
    for (const [i, { operation }] of examples.entries()) {
      const [values = []] = lines[i] ?? [];
      await t.test(operation, () => expected(sdkPrints, 'sdk', operation)(values, scenes[i] as Scene));
    }
  });

  it('[DOCS-2] shows how to follow a room with the SDK', async (t) => {
    const scene = await (await openStage(t)).setScene('liveChannel');
    const live = examplesThat(isSdk).find(({ operation }) => operation === 'liveChannel');
    const { name, code } = programOf(live?.example ?? '', scene);
    const running = await scene.exampleFolder.module(name, code);
    await hearsTheRoom(running, scene);
    await scene.api.delete(`/api/rooms/${scene.room}`);
    assert.deepEqual(parseJsonLines(await successOutput(running)), [['Grüezi'], ['again']]);
  });

  it('[slow] [DOCS-2] shows command lines that work as described', async (t) => {
    await eachExample(t, isCli, async ({ operation, example }, scene) => {
      const running = scene.run(startIn('sh') + example);
      if (operation === 'liveChannel') return hearsTheRoom(running, scene);
      // The command says how to undo the removal on standard error.
      const isNoted = operation === 'removeFile';
      const output = isNoted ? (await running.result).stdout : await successOutput(running);
      await expected(cliDoes, 'cli', operation)(output, scene);
    });
  });
});

type Expectations<T> = Record<string, (said: T, scene: Scene) => void | Promise<void>>;

const sdkPrints: Expectations<unknown[]> = {
  createRoom([code, link, expiresAt], { url }) {
    assert.equal(link, `${url}/r/${code}`);
    assert.match(String(expiresAt), timestamp);
  },
  getRoom([expiresAt, ...others]) {
    assert.match(String(expiresAt), timestamp);
    assert.deepEqual(others, [false, 0]);
  },
  updateRoom([expiresAt, name]) {
    assert.match(String(expiresAt), timestamp);
    assert.equal(name, 'Kitchen table');
  },
  deleteRoom: ([message], { room }) => assert.equal(message, `Room ${room} was deleted.`),
  createLink: ([linkId, link], { url }) => assert.equal(link, `${url}/r/${linkId}`),
  listLinks: ([, ...others]) => assert.deepEqual(others, ['drop', 'Photos of the party']),
  revokeLink: ([message]) => assert.equal(message, 'The link was revoked.'),
  reportRoom: ([message]) => assert.equal(message, 'The operator can see your report.'),
  writeContent: (versions) => assert.deepEqual(versions, [1, 2]),
  readContent([content, version, time]) {
    assert.deepEqual([content, version], ['Grüezi', 1]);
    assert.match(String(time), timestamp);
  },
  editContent: (versions) => assert.deepEqual(versions, [3]),
  listHistory([version, time, size]) {
    assert.deepEqual([version, size], [7, Buffer.byteLength(earlierText)]);
    assert.match(String(time), timestamp);
  },
  readHistory: (values) => assert.deepEqual(values, [earlierText, 9]),
  clearHistory: ([message]) => assert.equal(message, 'The history was deleted.'),
  uploadFile([fileUrl, ...others], { url }) {
    assert.ok(String(fileUrl).startsWith(`${url}/files/`));
    assert.deepEqual(others, ['photo.jpg', inTheFolder.length]);
  },
  listFiles: (values, { file }) => assert.deepEqual(values, ['photo.jpg', inTheRoom.length, file.fileUrl]),
  downloadZip: async (_, scene) => assertZipped(scene, 'files.zip'),
  async issueTicket([zipUrl], { url, room }) {
    assert.ok(String(zipUrl).startsWith(`${url}/api/rooms/${room}/files.zip?ticket=`));
    assert.equal((await fetch(String(zipUrl))).status, 200);
  },
  createWebhook([id, secret]) {
    assert.match(String(id), /^[0-9a-f]{32}$/);
    assert.match(String(secret), /^whsec_/);
  },
  listWebhooks: (values) => assert.deepEqual(values, ['hooks.example.org', null, null]),
  deleteWebhook: ([message]) => assert.equal(message, 'The webhook was deleted.'),
  removeFile: ([message]) => assert.equal(message, 'The file was removed.'),
  restoreFile: ([message]) => assert.equal(message, 'The file was restored.'),
  claimFile: ([text]) => assert.equal(text, inTheRoom),
  confirmClaim: ([message]) => assert.equal(message, 'The file was received and erased.'),
  releaseClaim: ([message]) => assert.equal(message, 'The file is available again.'),
  serveFile: (_, scene) => assertSaved(scene),
  health([status, uptime]) {
    assert.equal(status, 'healthy');
    assert.equal(typeof uptime, 'number');
  },
};

const cliDoes: Expectations<string> = {
  async createRoom(stdout, { api }) {
    assert.equal((await api.get(`/api/rooms/${stdout.trim()}`, { pin: '0427' })).status, 200);
  },
  getRoom(stdout, { room, url }) {
    for (const part of [room, `${url}/r/${room}`, 'photo.jpg']) assert.ok(stdout.includes(part), stdout);
  },
  async updateRoom(stdout, { api, room }) {
    assert.match(stdout, /^\w+ \(Kitchen table\) expires in /);
    assert.equal((await api.get(`/api/rooms/${room}`)).json.name, 'Kitchen table');
  },
  async deleteRoom(stdout, { api, room }) {
    assert.match(stdout, /deleted/);
    assert.equal((await api.get(`/api/rooms/${room}`)).code, 'ROOM_NOT_FOUND');
  },
  async writeContent(_, { api, room }) {
    assert.equal((await api.get(`/api/rooms/${room}/content`)).json.content, 'Hello again');
  },
  readContent: (stdout) => assert.equal(stdout, 'Grüezi'),
  async editContent(_, { api, room }) {
    assert.equal((await api.get(`/api/rooms/${room}/content`)).json.content, 'Grüezione more line');
  },
  listHistory: (stdout) => assert.match(stdout, /^7 .* my-phone$/m),
  async readHistory(stdout, { api, room }) {
    assert.ok(stdout.startsWith(earlierText), stdout);
    assert.equal((await api.get(`/api/rooms/${room}/content`)).json.content, earlierText);
  },
  async clearHistory(_, { api, room }) {
    assert.deepEqual((await api.get(`/api/rooms/${room}/history`)).json.history, []);
  },
  async uploadFile(_, { api, room }) {
    const { files } = (await api.get(`/api/rooms/${room}/files`)).json;
    const sizes = files.map(({ fileSize }: { fileSize: number }) => fileSize);
    assert.deepEqual(sizes, [inTheRoom.length, inTheFolder.length]);
  },
  createWebhook: (stdout) => assert.match(stdout, /^Secret +whsec_/m),
  listWebhooks: (stdout) => assert.match(stdout, /^[0-9a-f]{32} +hooks\.example\.org +text +- +-$/m),
  async deleteWebhook(_, { api, room }) {
    assert.deepEqual((await api.get(`/api/rooms/${room}/webhooks`)).json.webhooks, []);
  },
  listFiles: (stdout) => assert.match(stdout, /photo\.jpg/),
  downloadZip: (_, scene) => assertZipped(scene, `poproom-${scene.room}.zip`),
  async removeFile(_, { api, room }) {
    assert.deepEqual((await api.get(`/api/rooms/${room}/files`)).json.files, []);
  },
  async restoreFile(_, { api, room }) {
    assert.equal((await api.get(`/api/rooms/${room}/files`)).json.files.length, 1);
  },
  async claimFile(_, { api, room, exampleFolder }) {
    assert.equal(await readFile(join(exampleFolder.path, 'secret.txt'), 'utf8'), inTheRoom);
    assert.deepEqual((await api.get(`/api/rooms/${room}/files`)).json.files, []);
  },
  serveFile: (_, scene) => assertSaved(scene),
  adminReports: (stdout) => assert.match(stdout, /^[0-9a-f]{10} .* other +Look at it\. /m),
  adminDismissReport: (stdout) => assert.equal(stdout.trim(), 'The report was removed.'),
  adminNumbers: (stdout) => assert.match(stdout, /^Rooms +\d+$/m),
  adminRooms: (stdout) => assert.match(stdout, /^[0-9A-Z]{2}\*{4,} /m),
  async adminRemoveRoom(_, { api, room }) {
    assert.equal((await api.get(`/api/rooms/${room}`)).code, 'ROOM_NOT_FOUND');
  },
  async adminBlock(stdout, { api }) {
    assert.match(stdout, /^Blocked 198\.51\.100\.0\/24/);
    assert.equal((await api.get('/api/health', { from: '198.51.100.7' })).code, 'ADDRESS_BLOCKED');
  },
};

/** The check of an example: here, or beside the example. */
function expected<T>(expectations: Expectations<T>, kind: 'sdk' | 'cli', operation: string) {
  const printed = (snippets as Record<string, Snippets>)[operation]?.prints?.[kind];
  const matches = (said: T) => assert.match(typeof said === 'string' ? said : JSON.stringify(said), printed as RegExp);
  return (
    expectations[operation] ?? (printed ? matches : assert.fail(`${operation} has an example, but no expectation`))
  );
}

const isSdk = ({ language }: CodeBlock) => language === 'js';
const isCurl = ({ language, text }: CodeBlock) => language === 'sh' && /^curl /m.test(text);
const isCli = (block: CodeBlock) => block.language === 'sh' && !isCurl(block);

function startIn(language: string): string {
  return section('curl, SDK or command line').blocks.find((block) => block.language === language)?.text ?? '';
}

type Example = Section & { operation: string; example: string };

function examplesThat(isOne: (block: CodeBlock) => boolean): Example[] {
  return operations.flatMap((section) => {
    const example = section.blocks.find(isOne)?.text;
    return example === undefined ? [] : [{ ...section, example }];
  });
}

function programOf(example: string, { exampleFolder, filled }: Scene) {
  return { folder: exampleFolder.path, name: 'example.mjs', code: filled(startIn('js') + example) };
}

/** On one server, each in a room and a folder of its own. */
async function eachExample(
  t: TestContext,
  isOne: (block: CodeBlock) => boolean,
  run: (it: Example, scene: Scene) => unknown,
) {
  const { setScene } = await openStage(t);
  for (const example of examplesThat(isOne))
    await t.test(example.operation, async () => {
      await run(example, await setScene(example.operation));
    });
}

type Scene = Awaited<ReturnType<Awaited<ReturnType<typeof openStage>>['setScene']>>;

/** Of version 7, which the examples name. */
const earlierText = 'An earlier text, which is long enough to be kept.\n';
const inTheFolder = 'a photo in the folder';
const inTheRoom = 'a photo in the room';
const oneTimeFile = { body: inTheRoom, headers: { 'content-type': 'text/plain' } };
const passwordEnv = { POPROOM_CREATE: 'password', POPROOM_CREATE_PASSWORD: 'correct horse battery' };
const isOfClaim = (operation: string) => /claim/i.test(operation);

async function openStage(t: TestContext) {
  const server = await startTestServer(t, {
    ...{ POPROOM_METRICS: 'true', POPROOM_FREE_LIMIT: '1000', POPROOM_WEBHOOK_HOSTS: 'hooks.example.org' },
    ...adminEnv,
    POPROOM_ABUSE_CONTACT: 'abuse@example.org',
  });
  const { api, url } = server;
  const key = await apiKeysOf(t, server).make('reader', 'pro');
  const { createFolder, modules } = await createExampleRunner(t);
  const admin = adminOf(server);
  const keysMade = [key];

  /** A room with a text and a file, a reader with another file, and what the example values stand for. */
  async function setScene(operation: string, asked: { pin?: string } = {}) {
    const room = await api.room({ name: 'Kitchen table', ...asked });
    // The versions that the examples of a write name are those of a new room; nor is a download to overwrite anything.
    if (operation !== 'writeContent')
      await api.post(`/api/rooms/${room}/content`, { json: { content: 'Grüezi' }, ...asked });
    if (/History$/.test(operation)) await makeHistory(room);
    if (isOfClaim(operation)) await api.post(`/api/rooms/${room}/upload?fileName=secret.txt&once=true`, oneTimeFile);
    else await api.upload(room, 'photo.jpg', inTheRoom, asked);
    const [file] = (await api.get(`/api/rooms/${room}/files`, asked)).json.files;
    if (operation === 'restoreFile') await api.delete(`/api/rooms/${room}/files/${file.fileId}`);
    const files = { 'photo.jpg': inTheFolder, 'café.txt': 'un café' };
    const exampleFolder = await createFolder(operation === 'serveFile' ? {} : files);
    const values = {
      'http://localhost:8080': operation === 'createToken' ? (await startTestServer(t, passwordEnv)).url : url,
      '7KQ2MX': room,
      '9f86d081884c7d659a2feaa0c55ad015': /Upload$/.test(operation) ? await startUpload(room) : file.fileId,
      '4b2ae1f4d7c09a3361f08c5e92d7b6a0': /Claim$/.test(operation) ? await claim(room, file.fileId) : '',
      '1c7e0b5f7d2a4f0c9b8e6a3d5c4f2e10': /^(list|delete)Webhook/.test(operation) ? await createWebhook(room) : '',
      '4VNR8M2KQX7D5HWT9CJZ3BPA': /Links?$/.test(operation) ? await createLink(room) : '',
      'pop_…': key,
      '7d1e40c9ab': operation.includes('Report') ? await report(room) : '',
      ...(operation.startsWith('admin') && (await adminValues(operation))),
    };
    const filled = (text: string) => fillPlaceholders(text, values);
    return {
      api,
      url,
      room,
      file,
      exampleFolder,
      filled,
      run: (lines: string) => exampleFolder.shell(withToken(filled(lines))),
    };
  }

  async function createLink(room: string): Promise<string> {
    const json = { role: 'drop', name: 'Photos of the party', expiresIn: 3600 };
    return (await api.post(`/api/rooms/${room}/links`, { json })).json.linkId;
  }

  /** Returns the id of a report with a comment. */
  async function report(room: string): Promise<string> {
    await api.post(`/api/rooms/${room}/reports`, { json: { reason: 'other', comment: 'Look at it.' } });
    return (await admin.get('/reports')).json.reports[0].id;
  }

  const withToken = (lines: string) => `export POPROOM_ADMIN_TOKEN='${adminToken}'\n${lines}`;

  /** A block, and a key that was used. */
  async function adminValues(operation: string): Promise<Record<string, string>> {
    const name = `key for ${operation} ${Math.random()}`;
    keysMade.push(await apiKeysOf(t, server).make(name, 'pro'));
    for (const made of keysMade) await api.get('/api/health', { headers: bearer(made) });
    const block = await admin.post('/blocks', { range: '203.0.113.0/24', reason: 'a test', expiresIn: 3600 });
    const listed = async (): Promise<{ id: string; name: string; lastUsedAt?: string }[]> =>
      (await admin.get('/keys?limit=200')).json.keys;
    if (/Key/.test(operation)) await eventually('all keys have been used', async () => isEachUsed(await listed()));
    const id = (await listed()).find((it) => it.name === name)?.id ?? '';
    return { '5e0c9ab412': block.json.id, '0a1b2c3d4e': id };
  }

  /** The server records uses every few seconds, once it knows the key. */
  async function isEachUsed(keys: readonly { lastUsedAt?: string }[]): Promise<boolean> {
    for (const made of keysMade) await api.get('/api/health', { headers: bearer(made) });
    return keys.every(({ lastUsedAt }) => lastUsedAt !== undefined);
  }

  async function claim(room: string, fileId: string): Promise<string> {
    return (await api.post(`/api/rooms/${room}/files/${fileId}/claim`)).json.claim;
  }

  async function createWebhook(room: string): Promise<string> {
    const json = { url: 'https://hooks.example.org/', events: ['text'] };
    return (await api.post(`/api/rooms/${room}/webhooks`, { json })).json.id;
  }

  /** Returns the id of an upload of five bytes. */
  async function startUpload(room: string): Promise<string> {
    const headers = { 'tus-resumable': '1.0.0', 'upload-length': '5' };
    const { headers: started } = await api.post(`/api/rooms/${room}/uploads`, { headers });
    return started.get('location')?.split('/').at(-1) ?? '';
  }

  /** The text becomes version 8, with version 7 in the history. */
  async function makeHistory(room: string): Promise<void> {
    const texts = ['2', '3', '4', '5', '6', earlierText, 'Grüezi'];
    for (const content of texts)
      await api.post(`/api/rooms/${room}/content`, { json: { content }, headers: { 'x-device-id': 'my-phone' } });
  }

  return { setScene, modules };
}

type Running = ReturnType<Scene['run']>;

async function followsByCurl(example: string, { run, api, room }: Scene): Promise<void> {
  const curl = run(example);
  await curl.waitForOutput(/^id: \d+\nevent: snapshot\ndata: \{/m);
  await api.post(`/api/rooms/${room}/content`, { json: { content: 'again' } });
  await curl.waitForOutput(/^event: content\ndata: \{"type":"content",.*"content":"again"/m);
}

async function hearsTheRoom(running: Running, { api, room }: Scene): Promise<void> {
  await running.waitForOutput('Grüezi');
  await api.post(`/api/rooms/${room}/content`, { json: { content: 'again' } });
  await running.waitForOutput('again');
}

async function assertSaved({ exampleFolder }: Scene): Promise<void> {
  assert.equal(await readFile(join(exampleFolder.path, 'photo.jpg'), 'utf8'), inTheRoom);
}

async function assertZipped({ exampleFolder }: Scene, name: string): Promise<void> {
  assert.equal(await textInZip(join(exampleFolder.path, name), 'photo.jpg'), inTheRoom);
}

function section(heading: string): Section {
  const found = guide.find((section) => section.heading === heading);
  assert.ok(found, `docs/api.md has no section "${heading}"`);
  return found;
}

/** Everything that the example has is there, in the same types. */
function assertShape(actual: unknown, example: unknown, where: string): void {
  assert.equal(typeof actual, typeof example, where);
  if (Array.isArray(example)) {
    assert.ok(Array.isArray(actual) && actual.length > 0, where);
    for (const item of actual) assertShape(item, example[0], `${where}[]`);
  } else if (typeof example === 'object' && example !== null) {
    for (const [key, value] of Object.entries(example))
      assertShape((actual as Record<string, unknown>)[key], value, `${where}.${key}`);
  }
}
