/** A device in a room, over a real WebSocket: its messages, and ways to wait for more. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type ClientOptions, WebSocket } from 'ws';
import { serverMessages } from '../../src/protocol/live.ts';
import { liveProtocol, resumePrefix } from '../../src/protocol/resume.ts';
import type { ClientMessage, ServerMessage } from '../../src/protocol/types.ts';

type Told<T extends ServerMessage['type']> = Extract<ServerMessage, { type: T }>;

export interface Device {
  socket: WebSocket;
  /** Everything it was told, in order. */
  told: ServerMessage[];
  say(message: ClientMessage | object | string): void;
  /** The next message of this type that has not been waited for, and, if wanted, fits. */
  next<T extends ServerMessage['type']>(type: T, fits?: (message: Told<T>) => boolean): Promise<Told<T>>;
  /** When the channel is closed, with which code. */
  closed: Promise<{ code: number; reason: string }>;
  leave(): Promise<void>;
}

export interface Joining {
  pin?: string;
  deviceId?: string;
  deviceName?: string;
  seq?: number;
  edits?: boolean;
  version?: number;
  timestamp?: string;
}

const ajv = new Ajv2020({ strict: false });
const validators = Object.fromEntries(
  Object.entries(serverMessages).map(([type, schema]) => [type, ajv.compile(schema)]),
);

export interface Connecting extends ClientOptions {
  resumeToken?: string | undefined;
}

/** Opens a channel without joining. */
export async function connect(
  t: TestContext,
  base: string,
  room: string,
  { resumeToken, ...options }: Connecting = {},
): Promise<Device> {
  const protocols = resumeToken === undefined ? [] : [liveProtocol, resumePrefix + resumeToken];
  const socket = new WebSocket(`${base.replace('http', 'ws')}/api/rooms/${room}/live`, protocols, options);
  t.after(() => socket.terminate());
  const device = deviceOf(socket);
  await once(socket, 'open');
  return device;
}

export async function joinRoom(
  t: TestContext,
  base: string,
  room: string,
  joining: Joining = {},
  connecting: Connecting = {},
): Promise<Device> {
  const device = await connect(t, base, room, connecting);
  device.say({ type: 'join', ...joining });
  return device;
}

function deviceOf(socket: WebSocket): Device {
  const told: ServerMessage[] = [];
  const taken = new Set<ServerMessage>();
  const { promise: closed, resolve } = Promise.withResolvers<{ code: number; reason: string }>();
  socket.on('message', (data) => told.push(checked(JSON.parse(String(data)))));
  socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
  socket.on('error', () => undefined);

  return {
    socket,
    told,
    closed,
    say: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async next(type, fits = () => true) {
      for (;;) {
        const found = told.find((message) => message.type === type && !taken.has(message) && fits(message as never));
        if (found) {
          taken.add(found);
          return found as never;
        }
        const more = await Promise.race([once(socket, 'message').then(() => true), closed.then(() => false)]);
        // The handler above runs first, so what just came is in `told`; after a close nothing more comes.
        if (!more && !told.some((message) => message.type === type && !taken.has(message) && fits(message as never))) {
          throw new Error(`The channel closed before a "${type}"; told: ${JSON.stringify(told).slice(0, 2000)}`);
        }
      }
    },
    async leave() {
      socket.close();
      await closed;
    },
  };
}

/** Whatever a server says is in the protocol. */
function checked(message: ServerMessage): ServerMessage {
  const validate = validators[message.type];
  assert.ok(validate, `"${message.type}" is a message of the protocol`);
  assert.ok(validate(message), `${JSON.stringify(message)}: ${ajv.errorsText(validate.errors)}`);
  return message;
}
