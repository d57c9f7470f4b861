/** A connection that is reused at full speed: it sends any bytes and reads well-formed responses. */
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface RawAnswer {
  status: number;
  /** By their names in small letters. */
  headers: Map<string, string>;
  body: Buffer;
}

export interface Connection {
  /** Sends one request and answers its response; of one without end, its head. One at a time. */
  ask(bytes: Uint8Array, isHead?: boolean): Promise<RawAnswer>;
  close(): void;
}

/** Where the server has ended the connection, the next request opens another. */
export function openConnection(t: TestContext, port: number): Connection {
  let socket: Socket | undefined;
  t.after(() => socket?.destroy());
  return {
    async ask(bytes, isHead = false) {
      if (!socket?.writable) {
        socket = connect({ port, host: '127.0.0.1', noDelay: true });
        socket.on('error', () => undefined);
      }
      const answer = await exchange(socket, bytes, isHead);
      if (!answer.headers.has('content-length') && ![204, 304].includes(answer.status)) socket.destroy();
      if (answer.headers.get('connection') === 'close') socket.destroy();
      return answer;
    },
    close: () => void socket?.destroy(),
  };
}

function exchange(socket: Socket, bytes: Uint8Array, isHead: boolean): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const done = (settle: () => void) => {
      socket.off('data', take).off('close', fail);
      settle();
    };
    const take = (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const answer = parse(received, isHead);
      if (answer) done(() => resolve(answer));
    };
    const fail = () => done(() => reject(new Error(`The connection ended without an answer: ${received}`)));
    socket.on('data', take).on('close', fail);
    socket.write(bytes);
  });
}

function parse(bytes: Buffer, isHead: boolean): RawAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = Number(first.split(' ')[1]);
  if (status === 100) return parse(bytes.subarray(end + 4), isHead);
  const headers = new Map(lines.map(headerOf));
  const length = isHead || status === 304 ? 0 : Number(headers.get('content-length') ?? 0);
  const body = bytes.subarray(end + 4, end + 4 + length);
  return body.length < length ? undefined : { status, headers, body };
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
