/** Shared texts over a network that delays, loses and repeats, in a time of its own. */
import { channelOf, type TextLink } from '../../src/client/text/channel.ts';
import { createSharedText } from '../../src/client/text/create-shared-text.ts';
import type { SavedText, SharedText } from '../../src/client/text/shared-text.ts';
import type { EditText, ServerMessage } from '../../src/protocol/types.ts';
import type { Random } from '../support/seeded-random.ts';
import { createTime } from './manual-time.ts';
import { type Authority, createAuthority, type Session } from './text-authority.ts';

interface Line {
  session: Session;
  /** On their way to the server. */
  up: EditText[];
  /** On their way to the client. */
  down: ServerMessage[];
  hasJoined: boolean;
}

export interface Device {
  readonly id: string;
  text: SharedText;
  line: Line | undefined;
}

export interface Network {
  readonly authority: Authority;
  readonly devices: Device[];
  /** Lets something happen: a message arrives, a timer fires. */
  step(): Promise<void>;
  connect(device: Device): Promise<void>;
  /** What was sent to the server may be lost, or may arrive later. */
  disconnect(device: Device): void;
  /** As a page does it that is loaded again: only what `save()` says is kept. */
  reload(device: Device): void;
  /** The server is replaced by one that has not got the newest versions. */
  failOver(lostVersions: number): void;
  /** Until all messages have arrived and everything is stored. */
  settle(): Promise<void>;
}

export function createNetwork(random: Random, deviceCount: number, largestContent?: number): Network {
  const time = createTime();
  const authority = createAuthority(() => time.now, largestContent);
  const devices: Device[] = Array.from({ length: deviceCount }, (_, index) => {
    const id = `device-${String.fromCharCode(97 + index)}`;
    return { id, text: createText(id), line: undefined };
  });
  /** Lines that were cut, with what may still arrive at the server. */
  const cutLines: Line[] = [];

  function createText(deviceId: string, saved?: SavedText): SharedText {
    return createSharedText({ deviceId, saved, now: () => time.now, schedule: time.schedule });
  }

  async function connect(device: Device): Promise<void> {
    if (device.line) return;
    const session: Session = { deviceId: device.id, isOpen: true, send: (message) => void line.down.push(message) };
    const line: Line = { session, up: [], down: [], hasJoined: false };
    device.line = line;
    await authority.join(session, channelOf(device.text).join(device.id));
  }

  function disconnect(device: Device): void {
    const { line } = device;
    if (!line) return;
    device.line = undefined;
    line.session.isOpen = false;
    line.session.send = () => undefined;
    // In order: what comes after a lost message is lost too.
    line.up.length = random.number(line.up.length + 1);
    if (line.up.length > 0) cutLines.push(line);
    channelOf(device.text).onDisconnected();
  }

  function receive(device: Device, line: Line): void {
    const message = line.down.shift();
    if (!message) return;
    const channel = channelOf(device.text);
    channel.onMessage(message);
    if (line.hasJoined || device.line !== line) return;
    line.hasJoined = true;
    const link: TextLink = {
      send: (edit) => void line.up.push(structuredClone(edit)),
      reconnect: () => disconnect(device),
    };
    channel.onConnected(link);
  }

  async function send(line: Line): Promise<void> {
    const message = line.up.shift();
    if (message) await authority.receive(line.session, message);
  }

  async function step(): Promise<void> {
    const device = random.pick(devices);
    const { line } = device;
    const kind = random.number(8);
    if (kind === 0) time.advance(random.number(150));
    else if (kind === 1 && cutLines.length > 0) await send(random.pick(cutLines));
    else if (line && kind < 5) await send(line);
    else if (line) receive(device, line);
  }

  async function settle(): Promise<void> {
    for (let round = 0; round < 1000; round++) {
      for (const line of cutLines.splice(0)) while (line.up.length > 0) await send(line);
      for (const device of devices) await connect(device);
      for (const { line } of devices) while (line && line.up.length > 0) await send(line);
      for (const device of devices) while (device.line && device.line.down.length > 0) receive(device, device.line);
      const isQuiet = devices.every(({ line }) => line && line.up.length + line.down.length === 0);
      if (isQuiet && devices.every(({ text }) => text.state === 'synchronized')) return;
      time.advance(100);
    }
    throw new Error('The texts do not come to rest.');
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
      device.text = createText(device.id, saved && (JSON.parse(JSON.stringify(saved)) as SavedText));
    },
    failOver(lostVersions) {
      for (const device of devices) disconnect(device);
      cutLines.length = 0;
      authority.loseNewest(lostVersions);
      time.advance(1);
    },
    settle,
  };
}
