/** A request before it is sent: the codes of rooms, the ids of files and the versions of texts are filled in at the last moment. */

export interface Draft {
  /** A description for the message of a failure. */
  about: string;
  method: string;
  /** With `{roomId}`, `{fileId}` and `{version}`. */
  path: string;
  query: [string, string][];
  headers: [string, string][];
  /** A JSON object by its fields, whose values are texts that need not be JSON; or any bytes; or none. */
  body: Map<string, string> | Buffer | undefined;
  inChunks: boolean;
  /** Whether its room has a PIN, and which of the rooms it is. */
  locked: boolean;
  roomNumber: number;
}

export const pin = '0427';

export function bodyBytes({ body }: Draft): Buffer | undefined {
  if (!(body instanceof Map)) return body;
  const fields = [...body].map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return Buffer.from(`{${fields.join(',')}}`);
}

export interface Place {
  room: string;
  file: string;
  /** Of a checkpoint. */
  version: string;
}

/** The path alone, as it is on the wire. */
export function pathOf({ path }: Draft, { room, file, version }: Place): string {
  return path.replace('{roomId}', room).replace('{fileId}', file).replace('{version}', version);
}

export function toBytes(draft: Draft, place: Place): Buffer {
  const query = draft.query.map(([name, value]) => `${name}=${value}`).join('&');
  const target = pathOf(draft, place) + (query && `?${query}`);
  const body = bodyBytes(draft);
  const lines = [['Host', 'localhost'], ...draft.headers, ...framing(body, draft.inChunks)];
  const head = `${draft.method} ${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), ...payload(body, draft.inChunks)]);
}

function framing(body: Buffer | undefined, inChunks: boolean): [string, string][] {
  if (!body) return [];
  return [inChunks ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', String(body.length)]];
}

function payload(body: Buffer | undefined, inChunks: boolean): Buffer[] {
  if (!body || !inChunks) return body ? [body] : [];
  const whole = body.length > 0 ? [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')] : [];
  return [...whole, Buffer.from('0\r\n\r\n')];
}
