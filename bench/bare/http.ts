/** What Node itself can do: takes the body, answers the same bytes, and nothing else. */
const { createServer } = process.getBuiltinModule('node:http');

const answer = Buffer.from(JSON.stringify({ content: 'x'.repeat(100), timestamp: new Date(0).toISOString() }));

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': answer.length });
    response.end(answer);
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1');
