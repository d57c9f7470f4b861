/** A persistent connection that sends arbitrary bytes and parses the responses. */
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface FuzzResponse {
  status: number;
  /** By lowercase name. */
  headers: Map<string, string>;
  body: Buffer;
}

export interface Connection {
  /** Sends one request and returns its response, or only the head of an endless one. One request at a time. */
  send(bytes: Uint8Array, isHead?: boolean): Promise<FuzzResponse>;
  close(): void;
}

/** If the server has closed the connection, the next request opens another. */
export function openConnection(t: TestContext, port: number): Connection {
  let socket: Socket | undefined;
  t.after(() => socket?.destroy());
  return {
    async send(bytes, isHead = false) {
      if (!socket?.writable) {
        socket = connect({ port, host: '127.0.0.1', noDelay: true });
        socket.on('error', () => undefined);
      }
      const response = await roundTrip(socket, bytes, isHead);
      if (!response.headers.has('content-length') && ![204, 304].includes(response.status)) socket.destroy();
      if (response.headers.get('connection')?.endsWith('close')) socket.destroy();
      return response;
    },
    close: () => void socket?.destroy(),
  };
}

function roundTrip(socket: Socket, bytes: Uint8Array, isHead: boolean): Promise<FuzzResponse> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    const done = (settle: () => void) => {
      socket.off('data', onData).off('close', onClose);
      settle();
    };
    const onData = (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const response = parse(received, isHead);
      if (response) done(() => resolve(response));
    };
    const onClose = () => {
      // The server aborts an archive if another request removes one of its files.
      const head = parse(received, true);
      if (head?.headers.get('content-type') === 'application/zip') done(() => resolve(head));
      else done(() => reject(new Error(`The connection closed without a response: ${received}`)));
    };
    socket.on('data', onData).on('close', onClose);
    socket.write(bytes);
  });
}

function parse(bytes: Buffer, isHead: boolean): FuzzResponse | undefined {
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
