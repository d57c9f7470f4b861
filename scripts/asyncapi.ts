/** The AsyncAPI document of the live channel, built from its messages. */
import packageJson from '../package.json' with { type: 'json' };
import { clientMessages, serverMessages } from '../src/protocol/live.ts';
import { closeCodes } from '../src/protocol/live-protocol.ts';
import { open } from './openapi/schemas.ts';

export function asyncapiDocument(): object {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Poproom live channel',
      version: packageJson.version,
      contact: { name: 'The Poproom contributors' },
      license: { name: 'MIT' },
      tags: [{ name: 'Live', description: 'Changes in a room as they happen.' }],
      description: [
        'Sends every change in a room to all devices immediately. A WebSocket is bidirectional and starts with `join`.',
        'Server-sent events go from the server to the client only: the event is the message type, the id is its seq.',
        'The first message is a snapshot. Changes follow in the order of their seq. A client that reconnects with',
        'its last seq receives a snapshot only if it missed something. A slow reader receives the latest state, not a queue.',
      ].join(' '),
    },
    defaultContentType: 'application/json',
    // The server replaces them with its own URL.
    servers: {
      websocket: { host: 'localhost:8080', protocol: 'ws', description: 'WebSocket; wss over HTTPS.' },
      events: { host: 'localhost:8080', protocol: 'http', description: 'Server-sent events; https over HTTPS.' },
    },
    channels: {
      live: {
        address: '/api/rooms/{roomId}/live',
        servers: [{ $ref: '#/servers/websocket' }],
        title: 'Room over WebSocket',
        parameters: { roomId: { description: 'The room code.', examples: ['7KQ2MX'] } },
        messages: { ...refer('client', clientMessages), ...refer('server', serverMessages) },
        bindings: { ws: { method: 'GET' } },
        'x-close-codes': closeCodes,
      },
      events: {
        address: '/api/rooms/{roomId}/events',
        servers: [{ $ref: '#/servers/events' }],
        description:
          'A reader that reconnects sends the id of its last event in the header `Last-Event-ID`, as browsers do automatically. It then receives a snapshot only if it missed something.',
        title: 'Room over server-sent events',
        parameters: { roomId: { description: 'The room code.', examples: ['7KQ2MX'] } },
        messages: refer('server', readerMessages),
        'x-request-headers': {
          'Last-Event-ID': {
            description: 'The id of the last event, its seq.',
            schema: { type: 'string', examples: ['42'] },
          },
        },
      },
    },
    operations: {
      fromDevice: operation(
        'receive',
        'live',
        'client',
        clientMessages,
        'Messages from a device. The first one is `join`.',
      ),
      toDevice: operation(
        'send',
        'live',
        'server',
        serverMessages,
        'Messages to a device. The first one is a snapshot.',
      ),
      toReader: operation('send', 'events', 'server', readerMessages, 'Messages to a reader, which cannot write.'),
    },
    components: {
      messages: { ...messages('client', clientMessages), ...messages('server', serverMessages) },
    },
  };
}

/** A reader of events sends nothing, so it never receives responses. */
const { written: _written, conflict: _conflict, error: _error, ...readerMessages } = serverMessages;

type Side = 'client' | 'server';
type Schemas = Record<string, { description: string }>;

const idOf = (side: Side, type: string) => `${side}-${type}`;

function messages(side: Side, schemas: Schemas) {
  return Object.fromEntries(
    Object.entries(schemas).map(([type, { description, ...payload }]) => [
      idOf(side, type),
      // Later versions may add fields to the messages of the server.
      { name: type, summary: description, payload: side === 'server' ? open(payload) : payload },
    ]),
  );
}

function refer(side: Side, schemas: Schemas) {
  return Object.fromEntries(
    Object.keys(schemas).map((type) => [idOf(side, type), { $ref: `#/components/messages/${idOf(side, type)}` }]),
  );
}

function operation(action: 'send' | 'receive', channel: string, side: Side, schemas: Schemas, description: string) {
  const refs = Object.keys(schemas).map((type) => ({ $ref: `#/channels/${channel}/messages/${idOf(side, type)}` }));
  return { action, description, channel: { $ref: `#/channels/${channel}` }, messages: refs };
}
