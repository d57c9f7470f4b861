/** An API client that compares every response with the OpenAPI document. */
import { checkConformance } from './conformance.ts';
import { createSecrets } from './secrets.ts';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; fails where it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of all shapes
  readonly json: any;
  /** The code of an error answer. */
  readonly code: string | undefined;
}

export interface Sending {
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  body?: RequestInit['body'];
  pin?: string;
  /** The client to be: an address, told the way a trusted proxy does. */
  from?: string;
}

/** `secrets` keeps account of what the server must not write down anywhere. */
export function createApi(base: () => string, secrets = createSecrets()) {
  async function call(method: string, path: string, sending: Sending = {}): Promise<Answer> {
    const { json, body, pin, from, headers = {} } = sending;
    secrets.note(path, sending);
    const init: RequestInit & { duplex: 'half' } = {
      method,
      redirect: 'manual',
      duplex: 'half',
      headers: {
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(pin !== undefined && { 'x-room-pin': pin }),
        ...(from !== undefined && { 'x-forwarded-for': from }),
        ...headers,
      },
    };
    if (json !== undefined) init.body = JSON.stringify(json);
    else if (body !== undefined) init.body = body;
    const response = await fetch(path.startsWith('http') ? path : base() + path, init);
    const answer = toAnswer(response.status, response.headers, await response.text());
    secrets.noteAnswer(path, answer);
    if (path === '/metrics') secrets.assertAbsentFrom(answer.text, 'the figures');
    await checkConformance(method, path, answer);
    return answer;
  }

  return {
    call,
    get: (path: string, sending?: Sending) => call('GET', path, sending),
    post: (path: string, sending?: Sending) => call('POST', path, sending),
    patch: (path: string, sending?: Sending) => call('PATCH', path, sending),
    delete: (path: string, sending?: Sending) => call('DELETE', path, sending),

    /** Makes a room and returns its code. */
    async room(
      json: { pin?: string; expiresIn?: number; history?: boolean } = {},
      sending: Sending = {},
    ): Promise<string> {
      const { json: made } = await call('POST', '/api/rooms', { json, ...sending });
      return made.roomId;
    },

    /** Uploads bytes bare; returns the answer. */
    upload: (room: string, name: string, body: RequestInit['body'], sending: Sending = {}) =>
      call('POST', `/api/rooms/${room}/upload`, {
        body,
        ...sending,
        headers: {
          'content-type': 'application/octet-stream',
          'x-file-name': encodeURIComponent(name),
          ...sending.headers,
        },
      }),
  };
}

export function toAnswer(status: number, headers: Headers, text: string): Answer {
  return {
    status,
    headers,
    text,
    get json() {
      return JSON.parse(text);
    },
    get code() {
      return status >= 400 && text.startsWith('{') ? JSON.parse(text).error?.code : undefined;
    },
  };
}
