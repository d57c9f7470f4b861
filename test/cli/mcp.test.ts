/** `poproom mcp`: rooms for AI agents, through the client library of the protocol. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createClient, type Room } from '../../src/client/index.ts';
import { createCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { createSuiteCleanup } from '../support/process.ts';
import { sharedServer } from '../support/server.ts';
import { startLimitedProxy } from './limited-proxy.ts';

const command = fileURLToPath(new URL('../../bin/poproom.js', import.meta.url));

interface Agent {
  client: Client;
  /** The allowed folder. */
  folder: string;
  /** The text of the answer, and whether it is an error. */
  raw(tool: string, args?: object, signal?: AbortSignal): Promise<{ texts: string[]; isError: boolean }>;
  /** The JSON of a successful answer. */
  call(tool: string, args?: object, signal?: AbortSignal): Promise<Record<string, unknown>>;
  /** The message of a failed answer. */
  fail(tool: string, args?: object): Promise<string>;
}

interface AgentOptions {
  env?: Record<string, string>;
  args?: string[];
  isModern?: boolean;
}

async function startAgent(url: string, { env = {}, args, isModern }: AgentOptions = {}): Promise<Agent> {
  const home = await mkdtemp(join(tmpdir(), 'poproom-mcp-'));
  const folder = join(home, 'shared');
  await mkdir(folder);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [command, 'mcp', '--url', url, ...(args ?? ['--folder', folder])],
    env: { PATH: process.env.PATH ?? '', HOME: home, ...env },
  });
  const options = isModern ? { versionNegotiation: { mode: 'auto' as const } } : {};
  const client = new Client({ name: 'test', version: '1.0.0' }, options);
  await client.connect(transport);
  cleanup.after(async () => {
    await client.close();
    await rm(home, { recursive: true, force: true });
  });

  async function raw(tool: string, args: object = {}, signal?: AbortSignal) {
    const request = { name: tool, arguments: { ...args } };
    const { content, isError } = await client.callTool(request, signal ? { signal } : {});
    return { texts: content.map((block) => (block.type === 'text' ? block.text : '')), isError: isError === true };
  }
  return {
    ...{ client, folder, raw },
    async call(tool, args, signal) {
      const { texts, isError } = await raw(tool, args, signal);
      assert.equal(isError, false, texts.join());
      return JSON.parse(texts.at(-1) ?? '');
    },
    async fail(tool, args) {
      const { texts, isError } = await raw(tool, args);
      assert.deepEqual([isError, texts.length], [true, 1]);
      return texts[0] ?? '';
    },
  };
}

const cleanup = createSuiteCleanup();

/** By the URL of the server. Tests share an agent, because a process takes half a second. */
const agents = new Map<string, Promise<Agent>>();

async function setUp(t: TestContext) {
  const server = await sharedServer(t, { POPROOM_FREE_LIMIT: '0' });
  // After a long pause between two tests, the server is another one.
  const starting = agents.get(server.url) ?? startAgent(server.url);
  agents.set(server.url, starting);
  const code = await server.api.room();
  const room: Room = createClient({ url: server.url }).room(code);
  return { server, agent: await starting, code, room };
}

describe('poproom mcp', () => {
  after(() => cleanup.end());

  it('[MCP-1] [MCP-4] offers tools for files only with a folder, and ends with standard input', async (t) => {
    const { server, agent } = await setUp(t);
    const names = async ({ client }: Agent) => (await client.listTools()).tools.map(({ name }) => name);
    assert.equal(agent.client.getNegotiatedProtocolVersion(), '2025-11-25');
    assert.deepEqual((await names(agent)).slice(-2), ['send_file', 'fetch_file']);

    const modern = await startAgent(server.url, { isModern: true, args: [], env: { POPROOM_PIN: '4711' } });
    assert.equal(modern.client.getNegotiatedProtocolVersion(), '2026-07-28');
    assert.deepEqual(await names(modern), [
      ...['create_room', 'open_room', 'get_invitation', 'read_text', 'append_text', 'edit_text', 'replace_text'],
      ...['wait_for_change', 'list_files'],
    ]);
    // [MCP-3] The PIN of the user opens a room.
    const { roomId } = (await server.api.post('/api/rooms', { json: { pin: '4711' } })).json;
    assert.equal((await modern.call('open_room', { room: roomId })).hasPin, true);

    const cli = await createCli(t, { POPROOM_URL: server.url });
    const started = cli.start(['mcp'], { stdin: 'open' });
    started.type('not JSON\n');
    started.endInput();
    const { code, stdout } = await started.result;
    assert.deepEqual([code, stdout], [0, '']);
    assert.match((await cli.run(['mcp', '--folder', 'missing'])).stderr, /^poproom: missing does not exist\.\n$/);
  });

  it('[MCP-2] creates, reads, appends, edits, replaces and lists', async (t) => {
    const { agent, room: observed, code } = await setUp(t);
    const { room, link, encrypted } = await agent.call('create_room', { name: 'Plan', text: 'one two one' });
    assert.match(String(link), new RegExp(`/r/${room}$`));
    assert.equal(encrypted, false);
    assert.equal((await agent.call('open_room', { room: link })).name, 'Plan');
    assert.match(await agent.fail('edit_text', { room, oldText: 'one', newText: '1' }), /occurs 2 times/);
    assert.match(await agent.fail('edit_text', { room, oldText: 'three', newText: '3' }), /does not contain/);
    await agent.call('edit_text', { room, oldText: 'two', newText: '2' });
    await agent.call('edit_text', { room, oldText: 'one', newText: '1', replaceAll: true });
    const { version } = await agent.call('append_text', { room, text: '\n3' });
    assert.deepEqual((await agent.raw('read_text', { room })).texts[0], '1 2 1\n3');
    assert.match(await agent.fail('replace_text', { room, text: 'x', baseVersion: 1 }), /^VERSION_CONFLICT: /);
    await agent.call('replace_text', { room, text: 'new', baseVersion: version });
    assert.equal((await agent.raw('read_text', { room })).texts[0], 'new');

    await observed.upload(new Blob(['abc']), { name: 'a.txt', folder: 'docs' });
    const { files } = await agent.call('list_files', { room: code.toLowerCase() });
    const [{ uploadedAt, ...file }] = files as [Record<string, unknown>];
    assert.deepEqual(file, { file: 'docs/a.txt', bytes: 3, type: 'text/plain' });
  });

  it('[MCP-3] returns keys only on request, and no PINs and URLs of files', async (t) => {
    const { server, agent, room, code } = await setUp(t);
    const created = await agent.raw('create_room', { encrypted: true, text: 'sealed' });
    const { room: sealed } = JSON.parse(created.texts[0] ?? '');
    const invited = await agent.call('get_invitation', { room: sealed, includeKey: true });
    const key = String(invited.key);
    const plainKey = key.replaceAll('-', '');
    assert.ok(String(invited.link).endsWith(`#${plainKey}`));
    assert.equal((await createClient({ url: server.url }).room(String(invited.link)).read()).content, 'sealed');

    await room.upload(new Blob(['abc']), { name: 'a.txt' });
    const { roomId } = (await server.api.post('/api/rooms', { json: { pin: '8153' } })).json;
    const answers = [
      created,
      await agent.raw('open_room', { room: invited.link }),
      await agent.raw('get_invitation', { room: sealed }),
      await agent.raw('read_text', { room: sealed }),
      await agent.raw('wait_for_change', { room: sealed, since: 0 }),
      await agent.raw('open_room', { room: sealed, key: `${key.slice(0, -1)}0` }),
      await agent.raw('open_room', { room: roomId, pin: '8153' }),
      await agent.raw('open_room', { room: roomId, pin: '8154' }),
      await agent.raw('list_files', { room: code }),
    ];
    const { linkId } = (await server.api.post(`/api/rooms/${code}/links`, { json: { role: 'read' } })).json;
    answers.unshift(
      await agent.raw('open_room', { room: linkId }),
      await agent.raw('get_invitation', { room: linkId }),
    );
    const output = JSON.stringify(answers);
    for (const secret of [key, plainKey, '/files/', linkId]) assert.ok(!output.includes(secret), secret);
    // As a whole word: the port or a room code may contain the digits.
    assert.doesNotMatch(output, /\b815[34]\b/);
    assert.match(answers.at(-2)?.texts[0] ?? '', /^PIN_INCORRECT: /);
  });

  it('[MCP-4] uses only files of the folder, and does not say what is outside', async (t) => {
    const { agent, code } = await setUp(t);
    const { folder } = agent;
    await writeFile(join(folder, '..', 'outside.txt'), 'secret');
    await mkdir(join(folder, 'inner/.git'), { recursive: true });
    await writeFile(join(folder, 'inner/a.txt'), 'inside');
    await writeFile(join(folder, '.env'), 'secret');
    await symlink('../outside.txt', join(folder, 'link'));
    await symlink('../missing.txt', join(folder, 'dangling'));
    await symlink('..', join(folder, 'up'));
    await symlink('inner', join(folder, 'around'));
    const home = join(folder, '..');
    const refused = ['../outside.txt', '../missing.txt', 'inner/../../outside.txt', join(home, 'outside.txt')];
    refused.push(join(home, 'missing.txt'), '/etc/passwd', 'link', 'dangling', 'up/outside.txt', 'up/missing.txt');
    refused.push('around/a.txt', '.env', 'inner/.git/config', 'inner', '.', '', '/dev/zero', 'inner/..');
    const messages = new Set<string>();
    for (const path of refused.filter(Boolean)) {
      messages.add((await agent.fail('send_file', { room: code, path })).replace(path, 'PATH'));
      if (path === 'inner' || path === 'around/a.txt') continue;
      const saved = await agent.fail('fetch_file', { room: code, file: 'x', path });
      assert.match(saved, /FILE_NOT_FOUND/);
    }
    assert.deepEqual([messages.size, [...messages][0]?.slice(0, 12)], [1, 'LOCAL_FILE: ']);

    for (const path of ['inner/a.txt', join(folder, 'inner/a.txt'), './inner//a.txt'])
      assert.deepEqual(await agent.call('send_file', { room: code, path, name: 'b' }), {
        room: code,
        file: 'b',
        bytes: 6,
      });
    for (const path of [
      '../new.txt',
      'link',
      'dangling',
      'up/new.txt',
      'around/new.txt',
      '.git/hooks/x',
      'inner/.envrc',
    ])
      assert.match(await agent.fail('fetch_file', { room: code, file: 'b', path, overwrite: true }), /^LOCAL_FILE: /);
    assert.deepEqual((await readdir(home)).sort(), ['.local', 'outside.txt', 'shared']);
    assert.equal(await readFile(join(home, 'outside.txt'), 'utf8'), 'secret');
    assert.deepEqual(await readdir(join(folder, 'inner')), ['.git', 'a.txt']);
  });

  it('[MCP-5] saves complete files only, and replaces only on request', async (t) => {
    const { server, agent, room, code } = await setUp(t);
    await room.upload(new Blob(['first']), { name: 'save.txt', folder: 'deep/er' });
    assert.equal((await agent.call('fetch_file', { room: code, file: 'save.txt' })).path, 'deep/er/save.txt');
    assert.match(await agent.fail('fetch_file', { room: code, file: 'save.txt' }), /already exists/);
    await writeFile(join(agent.folder, 'deep/er/save.txt'), 'changed');
    await agent.call('fetch_file', { room: code, file: 'save.txt', overwrite: true });
    assert.equal(await readFile(join(agent.folder, 'deep/er/save.txt'), 'utf8'), 'first');
    await room.upload(new Blob(['once']), { name: '.bashrc', once: true });
    assert.equal((await agent.call('fetch_file', { room: code, file: '.bashrc' })).path, '_.bashrc');
    assert.equal((await room.files()).length, 1);

    // The proxy stops in the middle of a file.
    const proxy = await startLimitedProxy(t, server.port, { down: 500_000 });
    const slow = await startAgent(proxy.url);
    await room.upload(new Blob([new Uint8Array(4_000_000)]), { name: 'large.bin' });
    const cancelled = new AbortController();
    const fetching = slow.call(
      'fetch_file',
      { room: code, file: 'large.bin', path: 'new/large.bin' },
      cancelled.signal,
    );
    fetching.catch(() => undefined);
    await proxy.paused;
    const parts = () => readdir(join(slow.folder, 'new')).catch(() => []);
    await eventually('a part is there', async () => (await parts()).length === 1);
    cancelled.abort();
    await assert.rejects(fetching);
    await eventually('the folder is empty', async () => (await readdir(slow.folder)).length === 0);
  });

  it('[MCP-6] waits for texts, files and the end of a room', async (t) => {
    const { agent, room, code } = await setUp(t);
    const devices = (count: number) =>
      eventually(`devices: ${count}`, async () => (await room.info()).deviceCount === count);
    const wait = async (args: object, signal?: AbortSignal) => {
      await devices(0);
      return agent.call('wait_for_change', { room: code, ...args }, signal);
    };
    assert.deepEqual(await wait({ timeoutSeconds: 0, since: 0 }), { room: code, change: 'none', version: 0 });
    await room.write('one');
    assert.deepEqual(await wait({ since: 0 }), { room: code, change: 'text', version: 1 });
    const text = wait({ since: 1 });
    await devices(1);
    await room.append('two');
    assert.deepEqual(await text, { room: code, change: 'text', version: 2 });

    // Between two calls.
    await room.upload(new Blob(['abc']), { name: 'a.txt' });
    const { change, added, removed } = await wait({ since: 2 });
    assert.deepEqual([change, (added as { file: string }[])[0]?.file, removed], ['files', 'a.txt', 0]);
    const [file] = await room.files();
    const removal = wait({ since: 2 });
    await devices(1);
    await room.removeFile(file?.fileId ?? '');
    assert.equal((await removal).removed, 1);

    const cancelled = new AbortController();
    const aborted = wait({ since: 2, timeoutSeconds: 600 }, cancelled.signal);
    await devices(1);
    cancelled.abort();
    await assert.rejects(aborted);
    await devices(0);

    const end = wait({ since: 2 });
    await devices(1);
    await room.delete();
    assert.deepEqual(await end, { room: code, change: 'ended', ended: 'deleted', version: 2 });
    assert.match(await agent.fail('wait_for_change', { room: code }), /^ROOM_NOT_FOUND: /);
  });

  it('[MCP-7] limits the size of answers, and explains failures in a sentence', async (t) => {
    const { agent, room, code } = await setUp(t);
    const content = `${'x'.repeat(99_999)}😀${'y'.repeat(20_000)}`;
    await room.write(content);
    const { texts } = await agent.raw('read_text', { room: code });
    assert.equal(texts[0]?.length, 20_000);
    assert.deepEqual(JSON.parse(texts[1] ?? '').nextFrom, 20_000);
    const most = await agent.raw('read_text', { room: code, maxCharacters: 100_000 });
    // A character is not cut in half.
    assert.deepEqual([most.texts[0]?.length, JSON.parse(most.texts[1] ?? '').nextFrom], [99_999, 99_999]);
    const rest = await agent.raw('read_text', { room: code, from: 99_999, maxCharacters: 100_000 });
    assert.equal((most.texts[0] ?? '') + rest.texts[0], content);
    assert.equal('nextFrom' in JSON.parse(rest.texts[1] ?? ''), false);

    const wrong: [string, object, RegExp][] = [
      ['read_text', { room: code, maxCharacters: 100_001 }, /must be <= 100000/],
      ['read_text', { room: code, unknown: 1 }, /must NOT have additional properties/],
      ['read_text', {}, /must have required property 'room'/],
      ['read_text', { room: 'u/v' }, /^USAGE: "u\/v" is not a valid room code; example: 7KQ2MX$/],
      ['read_text', { room: '000000' }, /^ROOM_NOT_FOUND: There is no room 000000 on http:\S+\.$/],
      ['fetch_file', { room: code, file: 'none' }, /^FILE_NOT_FOUND: There is no file "none" in this room\.$/],
      ['edit_text', { room: code, oldText: 'x', newText: '', replaceAll: true }, /more than 1000 times/],
      ['wait_for_change', { room: code, timeoutSeconds: 601 }, /must be <= 600/],
    ];
    for (const [tool, args, message] of wrong) assert.match(await agent.fail(tool, args), message);
  });

  it('[MCP-8] refuses links to other servers without a request', async (t) => {
    const { agent, code } = await setUp(t);
    const message = await agent.fail('open_room', { room: `http://127.0.0.1:9/r/${code}#AAAA-BBBB-CCCC-DDDD` });
    assert.match(message, /^USAGE: This link is not for http:\S+, the server that this process was started for\.$/);
  });
});
