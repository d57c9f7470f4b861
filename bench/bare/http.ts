/**
 * What Node itself can do: takes the body, answers the response that it is given, and nothing else.
 * `http.ts PORT RESPONSE`, the response as JSON with `headers` and `body`.
 */
const { createServer } = process.getBuiltinModule('node:http');
const [, , port, given] = process.argv;
const { headers, body } = JSON.parse(given ?? '{"headers":{},"body":""}') as {
  headers: Record<string, string>;
  body: string;
};

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.writeHead(200, headers);
    response.end(body);
  });
});
server.listen(Number(port), '127.0.0.1');
