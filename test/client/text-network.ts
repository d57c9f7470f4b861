/** Shared texts over a simulated network that delays, loses and repeats messages, with a simulated clock. */

import { createSharedText } from '../../src/client/text/create-shared-text.ts';
import { channelOf, type SavedText, type SharedText, type TextLink } from '../../src/client/text/shared-text.ts';
import type { EditText, ServerMessage } from '../../src/protocol/types.ts';
import type { Random } from '../support/seeded-random.ts';
import { createTime } from './manual-time.ts';
import { type Authority, createAuthority, type Session } from './text-authority.ts';

interface SimulatedConnection {
  session: Session;
  /** Messages in transit to the server. */
  up: EditText[];
  /** Messages in transit to the client. */
  down: ServerMessage[];
  hasJoined: boolean;
}

export interface SimulatedDevice {
  readonly id: string;
  text: SharedText;
  connection: SimulatedConnection | undefined;
}

export interface Network {
  readonly authority: Authority;
  readonly devices: SimulatedDevice[];
  /** Delivers a random message, or fires a timer. */
  step(): Promise<void>;
  connect(device: SimulatedDevice): Promise<void>;
  /** Messages to the server may be lost or arrive later. */
  disconnect(device: SimulatedDevice): void;
  /** Reloads the page: only the result of `save()` is kept, sometimes without the text. */
  reload(device: SimulatedDevice): void;
  /** Replaces the server by one without the newest versions. */
  failOver(lostVersions: number): void;
  /** Runs until all messages have arrived and everything is stored. */
  settle(): Promise<void>;
}

export function createNetwork(random: Random, deviceCount: number, maxContentLength?: number): Network {
  const time = createTime();
  const authority = createAuthority(() => time.now, maxContentLength);
  const devices: SimulatedDevice[] = Array.from({ length: deviceCount }, (_, index) => {
    const id = `device-${String.fromCharCode(97 + index)}`;
    return { id, text: createText(id), connection: undefined };
  });
  /** Closed connections with messages that may still arrive at the server. */
  const closedConnections: SimulatedConnection[] = [];

  function createText(deviceId: string, saved?: SavedText): SharedText {
    return createSharedText({ deviceId, saved, now: () => time.now, schedule: time.schedule });
  }

  async function connect(device: SimulatedDevice): Promise<void> {
    if (device.connection) return;
    const session: Session = {
      deviceId: device.id,
      isOpen: true,
      send: (message) => void connection.down.push(message),
    };
    const connection: SimulatedConnection = { session, up: [], down: [], hasJoined: false };
    device.connection = connection;
    await authority.join(session, channelOf(device.text).join(device.id));
  }

  function disconnect(device: SimulatedDevice): void {
    const { connection } = device;
    if (!connection) return;
    device.connection = undefined;
    connection.session.isOpen = false;
    connection.session.send = () => undefined;
    // Messages are in order, so those after a lost message are lost too.
    connection.up.length = random.number(connection.up.length + 1);
    if (connection.up.length > 0) closedConnections.push(connection);
    channelOf(device.text).onDisconnected();
  }

  function receive(device: SimulatedDevice, connection: SimulatedConnection): void {
    const message = connection.down.shift();
    if (!message) return;
    const channel = channelOf(device.text);
    channel.onMessage(message);
    if (connection.hasJoined || device.connection !== connection) return;
    connection.hasJoined = true;
    const link: TextLink = {
      send: (edit) => void connection.up.push(structuredClone(edit)),
      reconnect: () => disconnect(device),
    };
    channel.onConnected(link);
  }

  async function send(connection: SimulatedConnection): Promise<void> {
    const message = connection.up.shift();
    if (message) await authority.receive(connection.session, message);
  }

  async function step(): Promise<void> {
    const device = random.pick(devices);
    const { connection } = device;
    const kind = random.number(8);
    if (kind === 0) time.advance(random.number(150));
    else if (kind === 1 && closedConnections.length > 0) await send(random.pick(closedConnections));
    else if (connection && kind < 5) await send(connection);
    else if (connection) receive(device, connection);
  }

  async function settle(): Promise<void> {
    for (let round = 0; round < 1000; round++) {
      for (const connection of closedConnections.splice(0)) while (connection.up.length > 0) await send(connection);
      for (const device of devices) await connect(device);
      for (const { connection } of devices) while (connection && connection.up.length > 0) await send(connection);
      for (const device of devices)
        while (device.connection && device.connection.down.length > 0) receive(device, device.connection);
      const isQuiet = devices.every(
        ({ connection }) => connection && connection.up.length + connection.down.length === 0,
      );
      if (isQuiet && devices.every(({ text }) => text.state === 'synchronized')) return;
      time.advance(100);
    }
    throw new Error('The texts did not converge.');
  }

  return {
    authority,
    devices,
    step,
    connect,
    disconnect,
    reload(device) {
      const saved = device.text.save();
      disconnect(device);
      device.text.close();
      const kept = saved && random.number(2) === 0 ? { ...saved, content: undefined } : saved;
      device.text = createText(device.id, kept && (JSON.parse(JSON.stringify(kept)) as SavedText));
    },
    failOver(lostVersions) {
      for (const device of devices) disconnect(device);
      closedConnections.length = 0;
      authority.dropNewest(lostVersions);
      time.advance(1);
    },
    settle,
  };
}
