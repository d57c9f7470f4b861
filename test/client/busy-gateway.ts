/** A gateway before a server that sends requests away for a while, as load balancers do. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface BusyGateway {
  readonly url: string;
  /** When each request came, in milliseconds. */
  readonly came: number[];
  /** Sends the next requests away. */
  refuse(times: number, status: 429 | 503, retryAfter: number): void;
}

export async function openBusyGateway(t: TestContext, port: number): Promise<BusyGateway> {
  const came: number[] = [];
  let refusal = { times: 0, status: 503, retryAfter: 0 };
  const gateway = createServer((incoming, outgoing) => {
    came.push(performance.now());
    if (refusal.times-- > 0) {
      outgoing.writeHead(refusal.status, { 'Retry-After': refusal.retryAfter });
      return outgoing.end(JSON.stringify({ error: { code: codes[refusal.status], message: 'Not now.' } }));
    }
    const { method, url: path, headers } = incoming;
    const onwards = request({ port, host: '127.0.0.1', method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onwards);
  });
  t.after(() => gateway.close());
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  return {
    url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    came,
    refuse(times, status, retryAfter) {
      refusal = { times, status, retryAfter };
    },
  };
}

const codes: Record<number, string> = { 429: 'RATE_LIMITED', 503: 'UNAVAILABLE' };
