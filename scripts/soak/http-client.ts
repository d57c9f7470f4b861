/** Requests on keep-alive connections. This needs much less CPU than `fetch`, so that the server has most of it. */
import { Agent, type IncomingMessage, request } from 'node:http';

export interface SoakResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of all shapes
  json(): any;
}

export interface RequestOptions {
  json?: unknown;
  body?: Buffer;
  pin?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export function createHttpClient(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  /** Event streams need their own connections. */
  const streams = new Agent();

  async function send(method: string, path: string, options: RequestOptions = {}): Promise<SoakResponse> {
    const body = options.json === undefined ? options.body : Buffer.from(JSON.stringify(options.json));
    const target = { method, path, port, host: '127.0.0.1', agent: options.signal ? streams : agent };
    const response = await responseTo({ ...target, headers: headersOf(options), signal: options.signal }, body);
    const text = await textOf(response);
    return { status: response.statusCode ?? 0, json: () => JSON.parse(text) };
  }

  function close(): void {
    agent.destroy();
    streams.destroy();
  }

  return { send, close };
}

function headersOf({ json, pin, headers }: RequestOptions): Record<string, string> {
  return {
    ...(json !== undefined && { 'content-type': 'application/json' }),
    ...(pin !== undefined && { 'x-room-pin': pin }),
    ...headers,
  };
}

function responseTo(
  target: Parameters<typeof request>[1] & object,
  body: Buffer | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(target, resolve).on('error', reject).end(body);
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
