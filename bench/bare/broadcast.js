/**
 * The minimum with `ws` and a disk: writes a POST to a file, syncs it, and sends it to every socket.
 * `broadcast.js PORT FILE`
 */
import { fdatasync, openSync, write } from 'node:fs';
import { WebSocketServer } from 'ws';

const { createServer } = process.getBuiltinModule('node:http');
const [, , port, path] = process.argv;
const file = openSync(path, 'w');
let version = 0;

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method !== 'POST') return response.end('{}');
    const { content } = JSON.parse(Buffer.concat(chunks).toString());
    store(content, () => {
      broadcast(content);
      response.end('{}');
    });
  });
});

/** At the same place each time: a file that grows would make the sync dearer. */
function store(content, then) {
  write(file, content, 0, () => fdatasync(file, then));
}

function broadcast(content) {
  version += 1;
  const message = JSON.stringify({ type: 'content', version, content });
  for (const socket of sockets.clients) socket.send(message);
}

const sockets = new WebSocketServer({ server, perMessageDeflate: false });
server.listen(Number(port), '127.0.0.1');
