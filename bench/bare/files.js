/** Files by Node alone: an upload is piped into a file and synced, a download piped out of it. `files.js PORT FOLDER` */
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';

const { createServer } = process.getBuiltinModule('node:http');
const [, , port, folder = ''] = process.argv;
const sizes = new Map();

const server = createServer((request, response) => {
  if (request.method === 'POST') take(request, response);
  else if (request.url === '/api/health') response.end('ready');
  else hand(request.url, response);
});

function take(request, response) {
  const path = `/${sizes.size + 1}`;
  sizes.set(path, Number(request.headers['content-length']));
  const file = createWriteStream(join(folder, path), { flush: true });
  request.pipe(file).on('close', () => response.writeHead(201).end(JSON.stringify({ fileUrl: path })));
}

/** With its length, as anybody would who knows it: in chunks it would be slower. */
function hand(path, response) {
  response.setHeader('Content-Length', sizes.get(path));
  createReadStream(join(folder, path)).pipe(response);
}

server.listen(Number(port), '127.0.0.1');
