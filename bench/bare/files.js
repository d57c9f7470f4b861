/** Files with Node alone: pipes an upload into a file and syncs it, and pipes a download from it. `files.js PORT FOLDER` */
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';

const { createServer } = process.getBuiltinModule('node:http');
const [, , port, folder = ''] = process.argv;
const sizes = new Map();

const server = createServer((request, response) => {
  if (request.method === 'POST') storeUpload(request, response);
  else if (request.url === '/api/health') response.end('ready');
  else sendFile(request.url, response);
});

function storeUpload(request, response) {
  const path = `/${sizes.size + 1}`;
  sizes.set(path, Number(request.headers['content-length']));
  const file = createWriteStream(join(folder, path), { flush: true });
  request.pipe(file).on('close', () => response.writeHead(201).end(JSON.stringify({ fileUrl: path })));
}

/** Sets the length, because chunked encoding would be slower. */
function sendFile(path, response) {
  response.setHeader('Content-Length', sizes.get(path));
  createReadStream(join(folder, path)).pipe(response);
}

server.listen(Number(port), '127.0.0.1');
