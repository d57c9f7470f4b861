/** Adds to s3rver what it lacks of uploads in parts: it can neither list nor abort them. */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { basename, join } from 'node:path';

export interface PendingUpload {
  key: string;
  uploadId: string;
  initiated: Date;
}

/** S3 has up to 1,000 uploads on a page. */
const pageSize = 20;

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** `folder` contains a folder for each upload. */
export function addMultipartRequests(server: Server, folder: string): void {
  const [serve] = server.listeners('request') as Listener[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const query = new URL(request.url ?? '', 'http://localhost').searchParams;
    const uploadId = query.get('uploadId');
    if (request.method === 'GET' && query.has('uploads')) void sendList(response, folder, query);
    else if (request.method === 'DELETE' && uploadId) void abort(response, folder, uploadId);
    else serve?.(request, response);
  });
}

/** In the order of S3. */
export async function pendingUploads(folder: string): Promise<PendingUpload[]> {
  const ids = await readdir(folder).catch(() => []);
  const uploads = await Promise.all(ids.map((id) => readUpload(folder, id).catch(() => undefined)));
  const position = ({ key, uploadId }: PendingUpload) => `${key} ${uploadId}`;
  return uploads.filter((upload) => upload !== undefined).sort((a, b) => (position(a) < position(b) ? -1 : 1));
}

async function readUpload(folder: string, uploadId: string): Promise<PendingUpload> {
  const path = join(folder, uploadId, 'key');
  return { key: await readFile(path, 'utf8'), uploadId, initiated: (await stat(path)).mtime };
}

async function sendList(response: ServerResponse, folder: string, query: URLSearchParams): Promise<void> {
  const all = (await pendingUploads(folder)).filter(({ key }) => key.startsWith(query.get('prefix') ?? ''));
  const marker = query.get('upload-id-marker');
  const rest = all.slice(marker ? all.findIndex(({ uploadId }) => uploadId === marker) + 1 : 0);
  const page = rest.slice(0, pageSize);
  const last = page.at(-1);
  const next = `<NextKeyMarker>${last?.key}</NextKeyMarker><NextUploadIdMarker>${last?.uploadId}</NextUploadIdMarker>`;
  const isTruncated = rest.length > page.length;
  const uploads = page.map(toXml).join('');
  response.setHeader('Content-Type', 'application/xml').end(`<?xml version="1.0" encoding="UTF-8"?>
<ListMultipartUploadsResult><IsTruncated>${isTruncated}</IsTruncated>${isTruncated ? next : ''}${uploads}</ListMultipartUploadsResult>`);
}

const toXml = ({ key, uploadId, initiated }: PendingUpload) =>
  `<Upload><Key>${key}</Key><UploadId>${uploadId}</UploadId><Initiated>${initiated.toISOString()}</Initiated></Upload>`;

async function abort(response: ServerResponse, folder: string, uploadId: string): Promise<void> {
  await rm(join(folder, basename(uploadId)), { recursive: true, force: true });
  response.writeHead(204).end();
}
