/** Requests on connections that are kept: by far less work than `fetch`, so that the server is what is measured. */
import { Agent, type IncomingMessage, request } from 'node:http';

export interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of all shapes
  json(): any;
}

export interface Asking {
  json?: unknown;
  body?: Buffer;
  pin?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export function createAsker(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  /** A stream of events keeps its connection to itself. */
  const streams = new Agent();

  async function ask(method: string, path: string, asking: Asking = {}): Promise<Answered> {
    const body = asking.json === undefined ? asking.body : Buffer.from(JSON.stringify(asking.json));
    const options = { method, path, port, host: '127.0.0.1', agent: asking.signal ? streams : agent };
    const response = await respond({ ...options, headers: headersOf(asking), signal: asking.signal }, body);
    const text = await textOf(response);
    return { status: response.statusCode ?? 0, json: () => JSON.parse(text) };
  }

  function close(): void {
    agent.destroy();
    streams.destroy();
  }

  return { ask, close };
}

function headersOf({ json, pin, headers }: Asking): Record<string, string> {
  return {
    ...(json !== undefined && { 'content-type': 'application/json' }),
    ...(pin !== undefined && { 'x-room-pin': pin }),
    ...headers,
  };
}

function respond(options: Parameters<typeof request>[1] & object, body: Buffer | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(options, resolve).on('error', reject).end(body);
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
