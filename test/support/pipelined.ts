/** Sends many pipelined requests on one connection. */
import { connect } from 'node:net';

const batch = 100;

/** Sends a request `count` times, and returns the number of responses per status. */
export function sendPipelined(port: number, request: string | ((index: number) => string), count: number) {
  const requestAt = typeof request === 'string' ? () => request : request;
  return new Promise<Record<string, number>>((resolve, reject) => {
    const statuses: Record<string, number> = {};
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let sent = 0;
    let answered = 0;
    let rest = '';
    const sendBatch = () => {
      const size = Math.min(batch, count - sent);
      socket.write(Array.from({ length: size }, (_, index) => requestAt(sent + index)).join(''));
      sent += size;
    };
    socket.on('connect', sendBatch).on('error', reject);
    socket.on('close', () => reject(new Error(`The connection was closed after ${answered} responses.`)));
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      rest += chunk;
      let end = 0;
      for (const { 0: line, 1: status = '', index } of rest.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
        statuses[status] = (statuses[status] ?? 0) + 1;
        answered += 1;
        end = index + line.length;
      }
      // A status line has 13 characters before its reason, so keep 12 in case it is split between chunks.
      rest = rest.slice(end).slice(-12);
      if (answered === count) {
        socket.removeAllListeners('close').destroy();
        resolve(statuses);
      } else if (answered === sent) sendBatch();
    });
  });
}
