/** What `ws` itself can do: a POST is told to every socket, and nothing else. `broadcast.js PORT` */
import { WebSocketServer } from 'ws';

const { createServer } = process.getBuiltinModule('node:http');

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (request.method === 'POST') tell(JSON.parse(Buffer.concat(chunks).toString()));
    response.end('{}');
  });
});

function tell(change) {
  const message = JSON.stringify({ type: 'content', ...change });
  for (const socket of sockets.clients) socket.send(message);
}

const sockets = new WebSocketServer({ server, perMessageDeflate: false });
server.listen(Number(process.argv[2]), '127.0.0.1');
