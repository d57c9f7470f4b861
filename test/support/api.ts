/** An API client that compares every response with the OpenAPI document. */
import { checkConformance } from './conformance.ts';
import { createSecrets, labelsIn } from './secrets.ts';

export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body. Throws if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of all shapes
  readonly json: any;
  /** The code of an error response. */
  readonly code: string | undefined;
}

export interface RequestOptions {
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  body?: RequestInit['body'];
  pin?: string;
  /** The IP address of the client, sent as a trusted proxy does. */
  from?: string;
}

/** Records in `secrets` the data that the server must not log. */
export function createApi(base: () => string, secrets = createSecrets()) {
  async function call(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    const { json, body, pin, from, headers = {} } = options;
    secrets.record(path, options);
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
    const raw = await fetch(path.startsWith('http') ? path : base() + path, init);
    const response = apiResponseOf(raw.status, raw.headers, await raw.text());
    secrets.recordResponse(path, response);
    if (path === '/metrics') secrets.assertAbsentFrom(labelsIn(response.text), 'the metrics');
    await checkConformance(method, path, response);
    return response;
  }

  return {
    call,
    get: (path: string, options?: RequestOptions) => call('GET', path, options),
    post: (path: string, options?: RequestOptions) => call('POST', path, options),
    patch: (path: string, options?: RequestOptions) => call('PATCH', path, options),
    delete: (path: string, options?: RequestOptions) => call('DELETE', path, options),

    /** Creates a room and returns its code. */
    async room(
      json: { pin?: string; expiresIn?: number; history?: boolean; name?: string; encryption?: object } = {},
      options: RequestOptions = {},
    ): Promise<string> {
      const { json: created } = await call('POST', '/api/rooms', { json, ...options });
      return created.roomId;
    },

    /** Uploads bytes as a raw body. */
    upload: (room: string, name: string, body: RequestInit['body'], options: RequestOptions = {}) =>
      call('POST', `/api/rooms/${room}/upload`, {
        body,
        ...options,
        headers: {
          'content-type': 'application/octet-stream',
          'x-file-name': encodeURIComponent(name),
          ...options.headers,
        },
      }),
  };
}

export function apiResponseOf(status: number, headers: Headers, text: string): ApiResponse {
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
