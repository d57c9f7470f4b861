/** A captive portal that responds instead of the server, such as the sign-in page of a hotel. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface PortalPage {
  body?: string;
  headers?: Readonly<Record<string, string>>;
}

/** Returns its port. */
export async function startCaptivePortal(t: TestContext, status: number, page: PortalPage = {}): Promise<number> {
  const { body = '<h1>Sign in</h1>', headers = {} } = page;
  const portal = createServer((_, response) => response.writeHead(status, headers).end(body));
  t.after(() => portal.close());
  portal.listen(0, '127.0.0.1');
  await once(portal, 'listening');
  return (portal.address() as AddressInfo).port;
}
