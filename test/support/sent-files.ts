/** The files in the body of an upload, bare or in a form: their names, and how they begin. */

export interface SentFile {
  /** Where the form names it. */
  name: string | undefined;
  /** As much of its first line as can be read. */
  beginning: string;
}

/** Whoever writes a file down writes down its beginning; and forms have their files soon. */
const enough = 64 * 1024;

/** Of a body whose bytes are at hand: not of a stream, nor of a `FormData`. */
export function filesIn(path: string, type: string | undefined, body: unknown): SentFile[] {
  if (!/\/upload(\?|$)/.test(path)) return [];
  const text = textOf(body);
  if (!type?.startsWith('multipart/')) return [{ name: undefined, beginning: readable(text) }];
  const parts = text.matchAll(/filename="([^"]*)".*?\r\n\r\n([^\r]*)/gs);
  return Array.from(parts, ([, name, bytes = '']) => ({ name, beginning: readable(bytes) }));
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body.slice(0, enough);
  return body instanceof Uint8Array ? Buffer.from(body.subarray(0, enough)).toString() : '';
}

/** Up to the first character that nobody sees, or that is not UTF-8. */
const readable = (text: string) => /^[^\p{C}\uFFFD]*/u.exec(text)?.[0] ?? '';
