/** A device in a room, over a real WebSocket: its messages, and ways to wait for more. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type ClientOptions, WebSocket } from 'ws';
import { serverMessages } from '../../src/protocol/live.ts';
import { liveProtocol, resumePrefix } from '../../src/protocol/live-protocol.ts';
import type { ClientMessage, ServerMessage } from '../../src/protocol/types.ts';

type MessageOf<T extends ServerMessage['type']> = Extract<ServerMessage, { type: T }>;

export interface Device {
  socket: WebSocket;
  /** All messages it received, in order. */
  received: ServerMessage[];
  send(message: ClientMessage | object | string): void;
  /** The next message of this type that was not returned before and matches. */
  next<T extends ServerMessage['type']>(type: T, matches?: (message: MessageOf<T>) => boolean): Promise<MessageOf<T>>;
  /** Resolves when the channel is closed. */
  closed: Promise<{ code: number; reason: string }>;
  leave(): Promise<void>;
}

export interface JoinOptions {
  pin?: string;
  auth?: string;
  deviceId?: string;
  deviceName?: string;
  seq?: number;
  edits?: boolean;
  version?: number;
  timestamp?: string;
  diverged?: boolean;
  deviceChanges?: boolean;
  deviceColor?: number;
  carets?: boolean;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const validators = Object.fromEntries(
  Object.entries(serverMessages).map(([type, schema]) => [type, ajv.compile(schema)]),
);

export interface ConnectOptions extends ClientOptions {
  resumeToken?: string | undefined;
}

/** Opens a channel without joining. */
export async function connect(
  t: TestContext,
  base: string,
  room: string,
  { resumeToken, ...options }: ConnectOptions = {},
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
  joining: JoinOptions = {},
  connecting: ConnectOptions = {},
): Promise<Device> {
  const device = await connect(t, base, room, connecting);
  device.send({ type: 'join', ...joining });
  return device;
}

function deviceOf(socket: WebSocket): Device {
  const received: ServerMessage[] = [];
  const taken = new Set<ServerMessage>();
  const { promise: closed, resolve } = Promise.withResolvers<{ code: number; reason: string }>();
  socket.on('message', (data) => received.push(assertValid(JSON.parse(String(data)))));
  socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
  socket.on('error', () => undefined);

  return {
    socket,
    received,
    closed,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async next(type, matches = () => true) {
      for (;;) {
        const found = received.find(
          (message) => message.type === type && !taken.has(message) && matches(message as never),
        );
        if (found) {
          taken.add(found);
          return found as never;
        }
        const more = await Promise.race([once(socket, 'message').then(() => true), closed.then(() => false)]);
        // The handler above runs first, so a new message is already in `received`. After a close, there are no more.
        if (
          !more &&
          !received.some((message) => message.type === type && !taken.has(message) && matches(message as never))
        ) {
          throw new Error(
            `The channel closed before a "${type}" message. Received: ${JSON.stringify(received).slice(0, 2000)}`,
          );
        }
      }
    },
    async leave() {
      socket.close();
      await closed;
    },
  };
}

/** Fails unless the message conforms to the protocol. */
function assertValid(message: ServerMessage): ServerMessage {
  const validate = validators[message.type];
  assert.ok(validate, `"${message.type}" is a message type of the protocol`);
  assert.ok(validate(message), `${JSON.stringify(message)}: ${ajv.errorsText(validate.errors)}`);
  return message;
}
