/** A device that types: one edit at a time, each based on the newest version it has received. */
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { joinRoom } from './devices.ts';

/** How often the page sends while someone types. */
export const keysPerSecond = 10;

interface Received {
  type: string;
  version?: number;
  ref?: string;
  content?: { content: string; version: number };
}

export class Typist {
  readonly #socket: WebSocket;
  #version: number;
  #length: number;
  #caret: number;
  #keys = 0;
  #onWritten = () => {};
  /** Called with the ref of each edit, just before it is sent. */
  onSend: (ref: string) => void = () => undefined;

  static async join(liveUrl: string, deviceId: string): Promise<Typist> {
    const { socket, first } = await joinRoom(liveUrl, { edits: true, deviceId });
    return new Typist(socket, JSON.parse(first).content);
  }

  constructor(socket: WebSocket, { content, version }: { content: string; version: number }) {
    this.#socket = socket;
    this.#version = version;
    this.#length = content.length;
    this.#caret = this.#length >> 1;
    socket.on('message', (data) => this.#onMessage(JSON.parse(String(data))));
  }

  get connection(): Socket {
    return connectionOf(this.#socket);
  }

  /** Sends an edit. Resolves when it is stored. */
  async key(): Promise<void> {
    const written = new Promise<void>((resolve) => {
      this.#onWritten = resolve;
    });
    this.#send();
    await written;
  }

  /** At a steady rate, so that a slow response does not delay the next key. Returns how long each took to be stored. */
  async type(keys: number, perSecond = keysPerSecond): Promise<number[]> {
    const startedAt = performance.now() + (Math.random() * 1000) / perSecond;
    const times: number[] = [];
    for (let n = 0; n < keys; n++) {
      await pause(Math.max(0, startedAt + (n * 1000) / perSecond - performance.now()));
      const sentAt = performance.now();
      await this.key();
      times.push(performance.now() - sentAt);
    }
    return times;
  }

  leave(): void {
    this.#socket.terminate();
  }

  /** Twenty letters in one place, then in another; a line break now and then. */
  #send(): void {
    this.#keys += 1;
    if (this.#keys % 20 === 0) this.#caret = Math.floor(Math.random() * this.#length);
    const insert = this.#keys % 60 === 0 ? '\n' : 'e';
    const ref = `${this.#keys}`;
    const edits = [{ from: this.#caret, to: this.#caret, insert }];
    this.onSend(ref);
    this.#socket.send(JSON.stringify({ type: 'edit', baseVersion: this.#version, edits, ref }));
    this.#caret += 1;
  }

  /** Every edit adds one letter. The caret may move to another word. */
  #onMessage({ type, version }: Received): void {
    if (type === 'error' || type === 'conflict') throw new Error(`An edit failed with ${type}.`);
    if (type !== 'edit' && type !== 'written') return;
    this.#length += 1;
    this.#version = version as number;
    if (type === 'written') this.#onWritten();
  }
}

/** A private field of `ws`, which has no public counter of the bytes on the wire. */
export function connectionOf(socket: WebSocket): Socket {
  return (socket as unknown as { _socket: Socket })._socket;
}

/** Pseudorandom words and lines, the same in every run. Compresses less than English. */
export function naturalText(length: number): string {
  let seed = 1;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const letter = () => 'etaoinshrdlucmfwypvbgkjqxz'[Math.min(random(26), random(26))];
  const words = Array.from({ length: 10_000 }, () => Array.from({ length: 2 + random(8) }, letter).join(''));
  const word = () => words[Math.min(random(words.length), random(words.length), random(words.length))];
  const parts: string[] = [];
  for (let size = 0; size < length; size += parts.at(-1)?.length ?? 0) {
    parts.push(`${word()}${random(12) === 0 ? '\n' : ' '}`);
  }
  return parts.join('').slice(0, length);
}
