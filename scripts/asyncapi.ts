/** The AsyncAPI document of the live channel, built from its messages. */
import packageJson from '../package.json' with { type: 'json' };
import { closeCodes } from '../src/protocol/close-codes.ts';
import { clientMessages, serverMessages } from '../src/protocol/live.ts';
import { errorBody } from '../src/protocol/schemas.ts';

export function asyncapiDocument(): object {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Poproom live channel',
      version: packageJson.version,
      license: { name: 'MIT' },
      description: [
        'Sends every change in a room to all devices immediately. A WebSocket is bidirectional and starts with `join`.',
        'Server-sent events go from the server to the client only: the event is the message type, the id is its seq.',
        'The first message is a snapshot. Changes follow in the order of their seq. A client that reconnects with',
        'its last seq receives a snapshot only if it missed something. A slow reader receives the latest state, not a queue.',
      ].join(' '),
    },
    defaultContentType: 'application/json',
    channels: {
      live: {
        address: '/api/rooms/{roomId}/live',
        title: 'Room over WebSocket',
        parameters: { roomId: { description: 'The room code.', examples: ['7KQ2MX'] } },
        messages: { ...refer('client', clientMessages), ...refer('server', serverMessages) },
        bindings: { ws: { method: 'GET' } },
        'x-close-codes': closeCodes,
      },
      events: {
        address: '/api/rooms/{roomId}/events',
        title: 'Room over server-sent events',
        parameters: { roomId: { description: 'The room code.', examples: ['7KQ2MX'] } },
        messages: refer('server', readerMessages),
        bindings: { http: {} },
      },
    },
    operations: {
      fromDevice: operation('receive', 'live', 'client', clientMessages, 'Messages from a device.'),
      toDevice: operation('send', 'live', 'server', serverMessages, 'Messages to a device.'),
      toReader: operation('send', 'events', 'server', readerMessages, 'Messages to a reader.'),
    },
    components: {
      messages: { ...messages('client', clientMessages), ...messages('server', serverMessages) },
      schemas: { error: errorBody },
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
      { name: type, summary: description, payload },
    ]),
  );
}

function refer(side: Side, schemas: Schemas) {
  return Object.fromEntries(
    Object.keys(schemas).map((type) => [idOf(side, type), { $ref: `#/components/messages/${idOf(side, type)}` }]),
  );
}

function operation(action: 'send' | 'receive', channel: string, side: Side, schemas: Schemas, summary: string) {
  const refs = Object.keys(schemas).map((type) => ({ $ref: `#/channels/${channel}/messages/${idOf(side, type)}` }));
  return { action, summary, channel: { $ref: `#/channels/${channel}` }, messages: refs };
}
