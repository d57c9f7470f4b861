/** A shared text on a fake live channel: the test plays the server. */

import { createSharedText, type SharedTextOptions } from '../../src/client/text/create-shared-text.ts';
import { channelOf, type SharedText, type TextChange, type TextJoin } from '../../src/client/text/shared-text.ts';
import type { EditText, RoomText, ServerMessage, TextEdit } from '../../src/protocol/types.ts';
import { defaultLimits } from '../support/no-quota.ts';
import { createTime } from './manual-time.ts';

export interface TestChannel {
  readonly text: SharedText;
  readonly time: ReturnType<typeof createTime>;
  /** Sent messages that the test has not taken yet. */
  readonly sent: EditText[];
  readonly changes: TextChange[];
  /** The number of reconnects that the text requested. */
  readonly reconnects: number;
  /** Joins, and delivers these messages from the server. */
  join(...messages: ServerMessage[]): TextJoin;
  disconnect(): void;
  receive(message: ServerMessage): void;
  /** Takes the only message that was sent. */
  takeSent(): EditText;
}

export function openTestChannel(options: SharedTextOptions = {}): TestChannel {
  const time = createTime();
  const text = createSharedText({ deviceId: 'me', now: () => time.now, schedule: time.schedule, ...options });
  const channel = channelOf(text);
  const sent: EditText[] = [];
  const changes: TextChange[] = [];
  text.on('change', (change) => changes.push(change));
  let reconnects = 0;

  const testChannel: TestChannel = {
    text,
    time,
    sent,
    changes,
    get reconnects() {
      return reconnects;
    },
    join(...messages) {
      const join = channel.join(undefined);
      const [first = devices, ...others] = messages;
      channel.onMessage(first);
      channel.onConnected({
        send: (message) => void sent.push(message),
        reconnect() {
          reconnects += 1;
          channel.onDisconnected();
        },
      });
      for (const message of others) channel.onMessage(message);
      // The server ends the missed edits with the list of devices.
      if ((messages.at(-1) ?? devices).type === 'edit') channel.onMessage(devices);
      return join;
    },
    disconnect: () => channel.onDisconnected(),
    receive: (message) => void channel.onMessage(message),
    takeSent() {
      const [message, ...others] = sent.splice(0);
      if (!message || others.length > 0) throw new Error(`${others.length + (message ? 1 : 0)} messages were sent.`);
      return message;
    },
  };
  return testChannel;
}

/** Connected, with this text as version 1. */
export function openConnected(content: string, options?: SharedTextOptions): TestChannel {
  const line = openTestChannel(options);
  line.join(snapshot(content, 1));
  line.changes.length = 0;
  return line;
}

/** The first message for a client that has missed nothing. */
const devices: ServerMessage = { type: 'devices', seq: 1, devices: [] };

export const timestampOf = (version: number) => new Date(version * 1000).toISOString();

export const roomText = (content: string, version: number): RoomText => ({
  content,
  version,
  timestamp: timestampOf(version),
});

export const snapshot = (content: string, version: number, ownRef?: string): ServerMessage => ({
  type: 'snapshot',
  seq: version,
  room: { roomId: 'ROOM42', expiresAt: timestampOf(0), hasPin: false, limits: defaultLimits },
  content: { ...roomText(content, version), ...(ownRef && { lastRefs: [{ deviceId: 'me', ref: ownRef }] }) },
  files: [],
  devices: [],
  pinAttempts: 0,
});

export const insertion = (position: number, insert: string): TextEdit => ({ from: position, to: position, insert });

export function remoteEdit(
  version: number,
  edits: TextEdit[],
  from: { deviceId?: string; ref?: string } = {},
): ServerMessage {
  return { type: 'edit', seq: version, version, edits, timestamp: timestampOf(version), deviceId: 'other', ...from };
}

export const written = ({ ref = '' }: EditText, version: number): ServerMessage => ({
  type: 'written',
  seq: version,
  version,
  timestamp: timestampOf(version),
  ref,
});

export const rejected = ({ ref = '' }: EditText, code: string, details?: Record<string, unknown>): ServerMessage => ({
  type: 'error',
  error: { code, message: `Rejected with ${code}.`, ...(details && { details }) },
  ref,
});
