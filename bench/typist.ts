/** A device that types: one edit at a time, each on the newest version that it has received. */
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
  #answered = () => {};
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

  /** Resolves when it is stored. */
  async key(): Promise<void> {
    const answered = new Promise<void>((resolve) => {
      this.#answered = resolve;
    });
    this.#send();
    await answered;
  }

  /** At a steady pace, so that a slow answer does not make the next key late. */
  async type(keys: number, perSecond = keysPerSecond): Promise<void> {
    const startedAt = performance.now() + (Math.random() * 1000) / perSecond;
    for (let n = 0; n < keys; n++) {
      await pause(Math.max(0, startedAt + (n * 1000) / perSecond - performance.now()));
      await this.key();
    }
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

  /** Every edit in these rows adds one letter, and the caret need not stay at its word. */
  #onMessage({ type, version }: Received): void {
    if (type === 'error' || type === 'conflict') throw new Error(`An edit was answered with ${type}.`);
    if (type !== 'edit' && type !== 'written') return;
    this.#length += 1;
    this.#version = version as number;
    if (type === 'written') this.#answered();
  }
}

/** Of `ws`, which has no other way to the bytes that went over the wire. */
export function connectionOf(socket: WebSocket): Socket {
  return (socket as unknown as { _socket: Socket })._socket;
}

/** Lines as people write them: between 20 and 100 letters. */
export function naturalText(length: number): string {
  let text = '';
  for (let n = 0; text.length < length; n++)
    text += `${'lorem ipsum dolor sit amet '.repeat(4).slice(0, 20 + ((n * 37) % 80))}\n`;
  return text.slice(0, length);
}
