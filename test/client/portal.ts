/** Something that answers in the place of the server, such as the sign-in page of a hotel. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface Page {
  body?: string;
  headers?: Readonly<Record<string, string>>;
}

/** Answers its port. */
export async function startPortal(t: TestContext, status: number, page: Page = {}): Promise<number> {
  const { body = '<h1>Sign in</h1>', headers = {} } = page;
  const portal = createServer((_, response) => response.writeHead(status, headers).end(body));
  t.after(() => portal.close());
  portal.listen(0, '127.0.0.1');
  await once(portal, 'listening');
  return (portal.address() as AddressInfo).port;
}
