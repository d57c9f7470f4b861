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
import { createClient, type LiveEvent } from '../../src/client/index.ts';
import { serverMessages } from '../../src/protocol/live.ts';
import { listenOnFreePort } from '../support/listen.ts';
import { responseCalls } from './response-calls.ts';

const newer = { addedLater: { by: ['a newer server'] } };

describe('the SDK with a server of another version', () => {
  for (const stored of storedResponses) {
    it(`[SDK-36] reads every response of ${stored.version}, also with fields that it does not know`, async (t) => {
      for (const [name, bodies] of Object.entries(stored.bodies)) {
        for (const body of (bodies as object[]).filter(isOfPlainRoom)) {
          for (const sent of [body, { ...body, ...newer }]) {
            const { client, room } = await startServer(t, { body: sent });
            for (const call of callsOf(name)) await assert.doesNotReject(call(room, client), name);
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

  it('[SDK-36] is tested with the responses of the first version', () => {
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

/** The SDK reads of a text that was written the same as of one that was read. */
function callsOf(name: string) {
  const calls = responseCalls[(name === 'ContentWritten' ? 'ContentRead' : name) as keyof typeof responseCalls];
  return calls ?? assert.fail(`nothing reads ${name}`);
}

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
