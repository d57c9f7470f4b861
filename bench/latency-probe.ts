/** A worker that reads rooms at a fixed rate and reports how long each read took, from when it was due. */
import { Agent, get } from 'node:http';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { quantile } from './processes.ts';

interface Target {
  port: number;
  paths: string[];
  perSecond: number;
}

export interface Probe {
  /** The reads since the last call. */
  take(): Promise<ProbedRead[]>;
  stop(): Promise<unknown>;
}

export interface ProbedRead {
  /** Milliseconds, from `Date.now()`. */
  at: number;
  ms: number;
  isOk: boolean;
}

/** It has its own event loop, so that thousands of clients in this process do not delay it. */
export function startProbe(target: Target): Probe {
  const worker = new Worker(new URL(import.meta.url), { workerData: target });
  return {
    take: () =>
      new Promise((resolve) => {
        worker.once('message', resolve);
        worker.postMessage('take');
      }),
    stop: () => worker.terminate(),
  };
}

export const p99Of = (reads: readonly ProbedRead[]): number =>
  quantile(
    reads.map(({ ms }) => ms),
    0.99,
  );

if (parentPort) run(workerData as Target, parentPort);

function run({ port, paths, perSecond }: Target, parent: NonNullable<typeof parentPort>): void {
  const agent = new Agent({ keepAlive: true });
  const done: ProbedRead[] = [];
  parent.on('message', () => parent.postMessage(done.splice(0)));
  const startedAt = performance.now();
  let sent = 0;
  setInterval(sendDue, 1000 / perSecond);

  /** A late timer sends everything that is due. */
  function sendDue(): void {
    const now = performance.now();
    for (let due = dueAt(sent); due <= now; due = dueAt(sent)) {
      sent += 1;
      readOnce(paths[Math.floor(Math.random() * paths.length)] ?? '/', due);
    }
  }

  function dueAt(index: number): number {
    return startedAt + (index * 1000) / perSecond;
  }

  function readOnce(path: string, due: number): void {
    const finish = (isOk: boolean) => done.push({ at: Date.now(), ms: performance.now() - due, isOk });
    get({ host: '127.0.0.1', port, path, agent, timeout: 30_000 }, (response) => {
      response.resume().once('close', () => finish(response.statusCode === 200 && response.complete));
    }).once('error', () => finish(false));
  }
}
