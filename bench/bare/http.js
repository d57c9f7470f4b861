/**
 * The minimum with Node: sends a fixed response, to a POST after its body has arrived.
 * `http.js PORT RESPONSE`, the response as JSON with `headers` and `body`.
 */
const { createServer } = process.getBuiltinModule('node:http');
const [, , port, given = '{"headers":{},"body":""}'] = process.argv;
const { headers, body } = JSON.parse(given);

const server = createServer((request, response) => {
  if (request.method === 'GET') return respond(response);
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => respond(response));
});

function respond(response) {
  response.writeHead(200, headers);
  response.end(body);
}

server.listen(Number(port), '127.0.0.1');
