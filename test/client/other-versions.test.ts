/** The SDK with servers of other versions, whose responses are stored beside this file. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { WebSocketServer } from 'ws';
import {
  fieldsMissingIn,
  type StoredResponses,
  schemasByName,
  storedResponses,
} from '../../scripts/protocol-schemas.ts';
import { responseChecks } from '../../scripts/response-checks.ts';
import { type Client, createClient, type LiveEvent, type Room } from '../../src/client/index.ts';
import { serverMessages } from '../../src/protocol/live.ts';
import { listenOnFreePort } from '../support/listen.ts';

/** A call that reads each kind of body. */
const calls: Readonly<Record<string, (room: Room, client: Client) => Promise<unknown>>> = {
  Confirmation: (room) => room.delete(),
  ContentEdited: (room) => room.append('x'),
  ContentRead: (room) => room.read(),
  ContentWritten: (room) => room.write('x'),
  FileClaimed: (room) => room.claim('0'),
  FileList: (room) => room.files(),
  FileUploaded: (room) => room.upload(new Blob(['x']), { name: 'x' }),
  HealthReport: (_, client) => client.health(),
  HistoryList: (room) => room.history(),
  HistoryText: (room) => room.historyText(1),
  Link: (room) => room.createLink({ role: 'read' }),
  LinkList: (room) => room.links(),
  RoomCreated: (_, client) => client.createRoom(),
  RoomDetails: (room) => room.details(),
  RoomInfo: (room) => room.info(),
  TicketIssued: (room) => room.zipUrl(),
  WebhookCreated: (room) => room.createWebhook({ url: 'https://hooks.example.org/' }),
  WebhookList: (room) => room.webhooks(),
};

const newer = { addedLater: { by: ['a newer server'] } };

describe('the SDK with a server of another version', () => {
  for (const stored of storedResponses) {
    it(`[SDK-36] reads every response of ${stored.version}, also with fields that it does not know`, async (t) => {
      for (const [name, bodies] of Object.entries(stored.bodies)) {
        for (const body of (bodies as object[]).filter(isOfPlainRoom)) {
          for (const sent of [body, { ...body, ...newer }]) {
            const { client, room } = await startServer(t, { body: sent });
            await assert.doesNotReject(calls[name]?.(room, client) ?? assert.fail(`nothing reads ${name}`), name);
          }
        }
      }
    });

    it(`[SDK-36] reads every live message of ${stored.version}, also with fields that it does not know`, async (t) => {
      const all = Object.values(stored.messages).flat() as { type: string }[];
      const snapshot = all.find(({ type }) => type === 'snapshot');
      for (const message of all.filter(({ type }) => type !== 'closed')) {
        const sent = [snapshot, message, { ...message, ...newer }, { type: 'added-later', ...newer }, closed];
        const { room } = await startServer(t, { messages: sent });
        const events: LiveEvent['type'][] = [];
        for await (const { type } of room.live()) events.push(type);
        assert.ok(events.includes('snapshot') && !events.includes('waiting'), `${message.type}: ${events}`);
      }
    });
  }

  it('[SDK-36] is tested with each kind of response that earlier versions sent', () => {
    const read = [...responseChecks().matchAll(/export const is(\w+) =/g)].map(([, name = '']) => name);
    const sent = new Set(storedResponses.flatMap(({ bodies }) => Object.keys(bodies)));
    assert.deepEqual(
      read.filter((name) => sent.has(name) && !Object.hasOwn(calls, name)),
      [],
    );
    const first = storedResponses.find(({ version }) => version === '0.1.0');
    assert.equal(Object.keys(first?.bodies ?? {}).length, 14);
    assert.equal(Object.keys(first?.messages ?? {}).length, 15);
  });

  it('[SDK-36] does not rely on a field that one version did not send, at any depth', () => {
    const earlier: StoredResponses = {
      version: '0.0.1',
      bodies: { HealthReport: [{ status: 'healthy' }], HistoryList: [{ history: [{ version: 1, size: 2 }] }] },
      messages: { heartbeat: [{ type: 'heartbeat' }] },
    };
    const missing = fieldsMissingIn([...storedResponses, earlier]);
    assert.deepEqual([...missing(schemasByName.HealthReport ?? {})], ['timestamp', 'uptime']);
    assert.deepEqual([...missing(schemasByName.HistoryEntry ?? {})], ['timestamp']);
    assert.deepEqual([...missing(serverMessages.heartbeat)], ['seq']);
    assert.deepEqual([...missing(schemasByName.Confirmation ?? {})], []);
  });
});

const closed = { type: 'closed', reason: 'expired' };

/** A plain room must not have the code of an encrypted one. */
const isOfPlainRoom = (body: object) => !('link' in body && 'encrypted' in body);

async function startServer(t: TestContext, { body = {}, messages = [] }: { body?: object; messages?: unknown[] }) {
  const server = createServer((request, response) =>
    request.resume().on('end', () => response.setHeader('ETag', '"1"').end(JSON.stringify(body))),
  );
  new WebSocketServer({ server }).on('connection', (socket) =>
    socket.once('message', () => {
      for (const message of messages) socket.send(JSON.stringify(message));
    }),
  );
  const client = createClient({ url: await listenOnFreePort(t, server) });
  return { client, room: client.room('7KQ2MX') };
}
