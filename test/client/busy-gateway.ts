/** A gateway that rejects some requests before the server, as load balancers do. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface BusyGateway {
  readonly url: string;
  /** The time of each request, in milliseconds. */
  readonly requestTimes: number[];
  /** Rejects the next requests. */
  reject(times: number, status: 429 | 503, retryAfter: number): void;
}

export async function startBusyGateway(t: TestContext, port: number): Promise<BusyGateway> {
  const requestTimes: number[] = [];
  let rejection = { times: 0, status: 503, retryAfter: 0 };
  const gateway = createServer((incoming, outgoing) => {
    requestTimes.push(performance.now());
    if (rejection.times-- > 0) {
      outgoing.writeHead(rejection.status, { 'Retry-After': rejection.retryAfter });
      return outgoing.end(JSON.stringify({ error: { code: codes[rejection.status], message: 'Not now.' } }));
    }
    const { method, url: path, headers } = incoming;
    const upstream = request({ port, host: '127.0.0.1', method, path, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    incoming.pipe(upstream);
  });
  t.after(() => gateway.close());
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  return {
    url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    requestTimes,
    reject(times, status, retryAfter) {
      rejection = { times, status, retryAfter };
    },
  };
}

const codes: Record<number, string> = { 429: 'RATE_LIMITED', 503: 'UNAVAILABLE' };
