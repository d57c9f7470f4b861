/** Many slow clients, in their own process so that they do not delay the measurements. */
import { fork } from 'node:child_process';
import type { TestContext } from 'node:test';
import type { ApiResponse } from '../support/api.ts';
import { fromRawResponse } from '../support/raw-http.ts';
import { parseResponse } from '../support/raw-socket.ts';

export interface SlowClientsOptions {
  port: number;
  size: number;
  /** The clients use these starts of a request in turn. */
  requestStarts: readonly string[];
  /** Then each client sends one byte per second, or nothing. */
  then: 'drips' | 'stalls';
}

/** Messages of the process: all requests are started, or the server has closed a connection after this response. */
export type ProcessMessage = 'started' | { response: string };

export interface SlowClients {
  /** The number of connections that the server has closed. */
  closedCount(): number;
  /** The response on each closed connection; undefined unless it is exactly one complete response. */
  responses(): (ApiResponse | undefined)[];
  stop(): void;
}

export async function startSlowClients(t: TestContext, options: SlowClientsOptions): Promise<SlowClients> {
  const child = fork(new URL('./slow-clients-process.ts', import.meta.url), { execArgv: [] });
  const stop = () => void child.kill('SIGKILL');
  t.after(stop);
  const received: string[] = [];
  const { promise: started, resolve } = Promise.withResolvers<void>();
  child.on('message', (message: ProcessMessage) => {
    if (message === 'started') resolve();
    else received.push(message.response);
  });
  child.send(options);
  await started;
  return { closedCount: () => received.length, responses: () => received.map(completeResponse), stop };
}

function completeResponse(text: string): ApiResponse | undefined {
  const bytes = Buffer.from(text, 'latin1');
  const parsed = parseResponse(bytes);
  return parsed?.length === bytes.length ? fromRawResponse(parsed.answer) : undefined;
}
