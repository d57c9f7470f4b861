/** The files in the body of an upload, raw or in a form: their names and first bytes. */

export interface SentFile {
  /** Undefined for a raw body. */
  name: string | undefined;
  /** The readable start of its first line. */
  beginning: string;
}

/** A leaked file would leak its beginning too, and the file is near the start of a form. */
const maxBytes = 64 * 1024;

/** Only for strings and byte arrays. A stream or a `FormData` gives no files. */
export function filesIn(path: string, type: string | undefined, body: unknown): SentFile[] {
  if (!/\/upload(\?|$)/.test(path)) return [];
  const text = textOf(body);
  if (!type?.startsWith('multipart/')) return [{ name: undefined, beginning: readable(text) }];
  const parts = text.matchAll(/filename="([^"]*)".*?\r\n\r\n([^\r]*)/gs);
  return Array.from(parts, ([, name, bytes = '']) => ({ name, beginning: readable(bytes) }));
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body.slice(0, maxBytes);
  return body instanceof Uint8Array ? Buffer.from(body.subarray(0, maxBytes)).toString() : '';
}

/** Up to the first invisible or invalid character. */
const readable = (text: string) => /^[^\p{C}\uFFFD]*/u.exec(text)?.[0] ?? '';
