/**
 * What Node itself can do: answers the response that it is given, to a POST when its body is there, and nothing else.
 * `http.js PORT RESPONSE`, the response as JSON with `headers` and `body`.
 */
const { createServer } = process.getBuiltinModule('node:http');
const [, , port, given = '{"headers":{},"body":""}'] = process.argv;
const { headers, body } = JSON.parse(given);

const server = createServer((request, response) => {
  if (request.method === 'GET') return answer(response);
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => answer(response));
});

function answer(response) {
  response.writeHead(200, headers);
  response.end(body);
}

server.listen(Number(port), '127.0.0.1');
