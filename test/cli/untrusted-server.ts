/** An untrusted server that lists files with arbitrary names and wrong sizes. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface UntrustedFiles {
  names: readonly string[];
  /** The folder of each name. */
  folders?: readonly string[];
  bytes: string;
  fileSize?: number;
}

/** Returns its URL. */
export async function startUntrustedServer(
  t: TestContext,
  { names, folders, bytes, fileSize = bytes.length }: UntrustedFiles,
): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/files/')) return response.end(bytes);
    const files = names.map((fileName, i) => {
      const folder = folders?.[i];
      return entryOf(url, { fileId: String(i).padStart(32, '0'), fileName, fileSize, ...(folder && { folder }) });
    });
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

function entryOf(url: string, file: { fileId: string; fileName: string; fileSize: number; folder?: string }) {
  const about = { contentType: 'text/plain', uploadedAt: '2026-11-16T09:30:00.000Z' };
  return { ...file, ...about, fileUrl: `${url}/files/${file.fileId}/name` };
}
