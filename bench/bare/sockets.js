/** Idle sockets with `ws` alone, with the same options as Poproom. `sockets.js PORT` */
import { WebSocketServer } from 'ws';

const { createServer } = process.getBuiltinModule('node:http');

const server = createServer((_request, response) => response.end('{}'));
const sockets = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: 2 ** 21,
  maxFragments: 1024,
  closeTimeout: 2000,
});
server.on('upgrade', (request, connection, head) => sockets.handleUpgrade(request, connection, head, listen));

/** As one does who uses it: each message is answered, and an error does not end the process. */
function listen(socket) {
  socket.on('error', () => undefined);
  socket.on('message', () => socket.send('{}'));
}

server.listen(Number(process.argv[2]), '127.0.0.1');
