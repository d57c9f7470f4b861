/** A server that is not to be trusted: its files have any names, and not the size that it says. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface Lie {
  names: readonly string[];
  bytes: string;
  fileSize?: number;
}

/** Answers its address. */
export async function startLiar(t: TestContext, { names, bytes, fileSize = bytes.length }: Lie): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/file') return response.end(bytes);
    const files = names.map((fileName, i) => ({ fileId: `id${i}`, fileUrl: `${url}/file`, fileName, fileSize }));
    return response.end(JSON.stringify({ files }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return url;
}
