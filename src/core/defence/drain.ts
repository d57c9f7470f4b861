/** Reads and discards the rest of bodies whose response has been sent, at a limited rate in total. */
import type { IncomingMessage } from 'node:http';
import { freeBuffer } from './garbage.ts';

const perConnection = 64 * 1024 * 1024;
const maxDrainMs = 2000;
/** Reading as fast as clients can send would keep the server busy. */
const perTick = 1024 * 1024;
const tickMs = 20;

let taken = 0;
let paused: IncomingMessage[] = [];

/** Resolves when the body has ended, or after `perConnection` bytes, or after `maxDrainMs`. */
export function drain(raw: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let dropped = 0;
    const timer = setTimeout(done, maxDrainMs);
    function done(): void {
      clearTimeout(timer);
      paused = paused.filter((other) => other !== raw);
      resolve();
    }
    raw.on('data', (chunk: Buffer) => {
      const bytes = chunk.length;
      dropped += bytes;
      freeBuffer(chunk);
      if (dropped > perConnection) done();
      else pace(raw, bytes);
    });
    raw.once('end', done).once('close', done).once('error', done).resume();
  });
}

function pace(raw: IncomingMessage, bytes: number): void {
  if (taken === 0) setTimeout(tick, tickMs);
  taken += bytes;
  if (taken <= perTick) return;
  raw.pause();
  paused.push(raw);
}

function tick(): void {
  taken = 0;
  for (const raw of paused.splice(0)) raw.resume();
}
