/** Files by Node alone: an upload is piped into a file and synced, a download piped out of it. `files.ts PORT FOLDER` */
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';

const { createServer } = process.getBuiltinModule('node:http');
const [, , port, folder = ''] = process.argv;
let count = 0;

const server = createServer((request, response) => {
  if (request.method === 'POST') {
    const name = `${++count}`;
    const file = createWriteStream(join(folder, name), { flush: true });
    request.pipe(file).on('close', () => response.writeHead(201).end(JSON.stringify({ fileUrl: `/${name}` })));
  } else if (request.url === '/api/health') response.end('ready');
  else createReadStream(join(folder, request.url ?? '')).pipe(response);
});
server.listen(Number(port), '127.0.0.1');
