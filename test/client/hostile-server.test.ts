/** A server that does not keep to the protocol. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { WebSocketServer } from 'ws';
import { createClient, createSharedText, type LiveEvent, PoproomError, type Room } from '../../src/client/index.ts';
import { serverMessages, snapshot as snapshotSchema } from '../../src/protocol/live.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { malformedExamples, validExample } from './malformed.ts';

const timestamp = '2026-11-16T09:30:00.000Z';
const content = { content: 'Hello', version: 1, timestamp };
const room = { roomId: '7KQ2MX', expiresAt: timestamp, hasPin: false };
const snapshot = { type: 'snapshot', seq: 1, room, content, files: [], devices: [], pinAttempts: 0 };
const edit = (over: object) => ({ type: 'edit', seq: 2, version: 2, timestamp, edits: [], ...over });
const fullSnapshot = validExample(snapshotSchema);

const messages: Record<string, unknown[]> = {
  'what is not JSON': ['{'],
  'nothing at all': [''],
  null: ['null'],
  'a list': [[]],
  'a number': [7],
  bytes: [Buffer.from('{"type":"heartbeat","seq":1}')],
  'no type': [{ seq: 1 }],
  'a type that is no text': [{ type: null }],
  'a snapshot without a text': [{ ...snapshot, content: undefined }],
  'half a surrogate pair': [{ ...snapshot, content: { ...content, content: '\ud800\ud800' } }],
  'a version with a fraction': [snapshot, edit({ version: 1.5 })],
  'positions as text': [snapshot, edit({ edits: [{ from: '0', to: '1', insert: '' }] })],
  'overlapping edits': [snapshot, edit({ edits: [3, 1].map((from) => ({ from, to: from + 1, insert: '' })) })],
  'a token that no socket can be opened with': [{ ...snapshot, resumeToken: 'a token, of sorts' }, '{'],
  'a token that is a number': [{ ...snapshot, resumeToken: 7 }, '{'],
  'an end before its beginning': [snapshot, edit({ edits: [{ from: 3, to: 1, insert: '' }] })],
  'an error without one': [snapshot, { type: 'error' }],
  'an error with the code of nobody': [snapshot, { type: 'error', error: { code: '__proto__', message: 'x' } }],
  'a million values': [snapshot, `[${'{},'.repeat(1_000_000)}{}]`],
  'a million levels': [snapshot, '['.repeat(1_000_000)],
};

describe('a server that violates the protocol', { concurrency: true }, () => {
  for (const [name, sent] of Object.entries(messages)) {
    it(`[SDK-15] [SDK-13] is disconnected, with a typed error: ${name}`, async (t) => {
      const { url, joined } = await startServer(t, () => sent);
      const waiting = await firstWaiting(createClient({ url }).room('7KQ2MX').live());
      assert.ok(waiting.error instanceof PoproomError);
      assert.equal(waiting.error.code, 'INVALID_RESPONSE');
      const text = createClient({ url }).room('7KQ2MX').text();
      t.after(() => text.close());
      // It joins again; a program would have ended with an error that nobody caught.
      await joined(3);
      assert.ok(text.value === '' || text.value === 'Hello');
      text.append('!');
      assert.ok(text.value.endsWith('!'));
    });
  }

  it('[SDK-13] is disconnected if an edit is out of range', async (t) => {
    const outside = edit({ edits: [{ from: 7, to: 9, insert: '' }] });
    const { url, joined } = await startServer(t, () => [snapshot, outside]);
    const text = createClient({ url }).room('7KQ2MX').text();
    t.after(() => text.close());
    await joined(2);
    assert.equal(text.value, 'Hello');
  });

  it('[SDK-15] is abandoned after three consecutive malformed messages', async (t) => {
    const { url, joined } = await startServer(t, () => [snapshot, 'null']);
    const room = createClient({ url }).room('7KQ2MX');
    const events: string[] = [];
    await assert.rejects(async () => {
      for await (const { type } of room.live()) events.push(type);
    }, isInvalid);
    assert.equal(events.filter((type) => type === 'waiting').length, 2);
    assert.equal(events.filter((type) => type === 'snapshot').length, 3);
    const text = room.text();
    text.append('!');
    await assert.rejects(text.ended, isInvalid);
    await assert.rejects(text.synchronized(), isInvalid);
    await joined(6);
  });

  it('[SDK-15] may send unknown fields and message types', async (t) => {
    const newer = [
      { ...snapshot, token: 'x' },
      { type: 'weather', seq: 2 },
      edit({}),
      { type: 'closed', reason: 'deleted' },
    ];
    const { url } = await startServer(t, () => newer);
    const text = createClient({ url }).room('7KQ2MX').text();
    assert.equal(await text.ended, 'deleted');
    assert.deepEqual([text.value, text.version], ['Hello', 2]);
    const types: string[] = [];
    for await (const { type } of createClient({ url }).room('7KQ2MX').live()) types.push(type);
    assert.deepEqual(types, ['connecting', 'connected', 'snapshot']);
  });

  it('[SDK-6] cannot confirm a write with an edit of another device that has the same ref', async (t) => {
    const { url } = await startServer(t, ({ type, ref }) => {
      if (type === 'join') return [snapshot];
      return [edit({ ref }), { type: 'written', seq: 3, version: 3, timestamp, ref }];
    });
    const live = createClient({ url }).room('7KQ2MX').live();
    for await (const { type } of live) {
      if (type !== 'snapshot') continue;
      assert.deepEqual(await live.write('x', 1), { type: 'written', seq: 3, version: 3, timestamp, ref: '1' });
      break;
    }
  });
});

describe('a server that sends more than a program reads', () => {
  it('[slow] [SDK-18] is not read while 64 MiB of messages are unread', async (t) => {
    const long = 'x'.repeat(1024 * 1024);
    const flood = Array.from({ length: 100 }, (_, i) => ({ ...content, type: 'content', seq: i + 2, content: long }));
    const { url, left } = await startServer(t, () => [snapshot, ...flood]);
    const told: string[] = [];
    for await (const { type } of createClient({ url }).room('7KQ2MX').live()) {
      if (type === 'snapshot') await left;
      told.push(type);
      if (type === 'waiting') break;
    }
    assert.deepEqual(told, ['connecting', 'connected', 'snapshot', ...Array(64).fill('content'), 'waiting']);
  });
});

describe('a message', () => {
  for (const [type, schema] of Object.entries(serverMessages)) {
    // A snapshot contains what most of the others have.
    const mark = type === 'snapshot' ? '' : '[slow] ';
    it(`${mark}[SDK-15] of type "${type}" causes a typed error if any field is missing or has the wrong type`, async (t) => {
      const cases = [...malformedExamples(schema)].filter(({ value }) => !isOfUnknownType(value));
      assert.ok(cases.length > 5);
      const { url } = await startServer(t, (_, index) => [fullSnapshot, cases[index]?.value]);
      const client = createClient({ url });
      // Not all together: on a slow machine, some would not be connected in time.
      for (const [index, { description }] of cases.entries()) {
        const room = client.room(`case-${index}`);
        const waiting = [room.live(), room.live({ text: createSharedText() })].map(firstWaiting);
        for (const { error } of await Promise.all(waiting)) assert.ok(isInvalid(error), `${description}: ${error}`);
      }
    });

    it(`[SDK-15] of type "${type}" is accepted with all fields`, async (t) => {
      const { url } = await startServer(t, () => [
        fullSnapshot,
        validExample(schema),
        { type: 'closed', reason: 'expired' },
      ]);
      const room = createClient({ url }).room('7KQ2MX');
      for (const live of [room.live(), room.live({ text: createSharedText() })]) {
        const events: LiveEvent[] = [];
        for await (const event of live) events.push(event);
        assert.equal(
          events.some((event) => event.type === 'waiting'),
          false,
        );
      }
    });
  }
});

const isInvalid = (error: unknown) => error instanceof PoproomError && error.code === 'INVALID_RESPONSE';

/** Such as a message whose type is `x`. */
const isOfUnknownType = (value: unknown) =>
  typeof value === 'object' &&
  typeof (value as { type?: unknown })?.type === 'string' &&
  !Object.hasOwn(serverMessages, (value as { type: string }).type);

async function firstWaiting(live: ReturnType<Room['live']>): Promise<Extract<LiveEvent, { type: 'waiting' }>> {
  for await (const event of live) if (event.type === 'waiting') return event;
  assert.fail('it ended without a word');
}

/** Its response to a message; `index` is the number in the code of the room. */
type Answers = (message: { type: string; ref?: string }, index: number) => readonly unknown[];

async function startServer(t: TestContext, answers: Answers) {
  const server = createServer((_, response) => response.end('{}'));
  const sockets = new WebSocketServer({ server });
  let joins = 0;
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  sockets.on('connection', (socket, { url = '' }) => {
    socket.once('close', () => leave());
    const index = Number(/case-(\d+)/.exec(url)?.[1] ?? 0);
    socket.on('error', () => undefined);
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.type === 'join') joins += 1;
      sockets.emit('joined');
      for (const answer of answers(message, index)) socket.send(encoded(answer));
    });
  });
  const url = await listenOnFreePort(t, server);
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate();
  });
  const joined = async (count: number) => {
    while (joins < count) await once(sockets, 'joined');
  };
  return { url, joined, left };
}

const encoded = (answer: unknown): string | Buffer =>
  typeof answer === 'string' || answer instanceof Buffer ? answer : JSON.stringify(answer);
