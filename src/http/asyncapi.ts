/** The AsyncAPI document of the live channel, built from its messages. */
import packageJson from '../../package.json' with { type: 'json' };
import { clientMessages, serverMessages } from '../protocol/live.ts';
import { errorBody } from '../protocol/schemas.ts';

export function asyncapiDocument(): object {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Poproom live channel',
      version: packageJson.version,
      license: { name: 'MIT' },
      description: [
        'What happens in a room, at once, on every device. A WebSocket goes both ways and begins with `join`;',
        'server-sent events go one way, with the type of a message as the event and its seq as the id.',
        'The first message is a snapshot, then come changes in the order of their seq. A client that comes back with',
        'the seq it has gets a snapshot only if it missed something. A slow reader gets the newest state, not a queue.',
      ].join(' '),
    },
    defaultContentType: 'application/json',
    channels: {
      live: {
        address: '/api/rooms/{roomId}/live',
        title: 'The room, by WebSocket',
        parameters: { roomId: { description: 'The room code.', examples: ['7KQ2MX'] } },
        messages: { ...refer('client', clientMessages), ...refer('server', serverMessages) },
        bindings: { ws: { method: 'GET' } },
        'x-close-codes': closeCodes,
      },
      events: {
        address: '/api/rooms/{roomId}/events',
        title: 'The room, by server-sent events',
        parameters: { roomId: { description: 'The room code.', examples: ['7KQ2MX'] } },
        messages: refer('server', told),
        bindings: { http: {} },
      },
    },
    operations: {
      fromDevice: operation('receive', 'live', 'client', clientMessages, 'What a device may say.'),
      toDevice: operation('send', 'live', 'server', serverMessages, 'What a device is told.'),
      toReader: operation('send', 'events', 'server', told, 'What a reader is told.'),
    },
    components: {
      messages: { ...messages('client', clientMessages), ...messages('server', serverMessages) },
      schemas: { error: errorBody },
    },
  };
}

/** A reader of events writes nothing, and so is never answered. */
const { written: _written, conflict: _conflict, error: _error, ...told } = serverMessages;

const closeCodes = {
  4401: 'PIN required',
  4403: 'PIN wrong',
  4404: 'no such room',
  4410: 'expired or deleted',
  4429: 'too fast, or too slow a reader, or too many channels',
  1008: 'no join in time, or a first message that is not one',
  1009: 'message too large',
  1012: 'the server restarts',
};

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
