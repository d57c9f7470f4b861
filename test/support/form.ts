/** Handwritten forms, which can be malformed in any way. */

export const boundary = 'xyzzy';
export const formType = `multipart/form-data; boundary=${boundary}`;

export interface Part {
  /** The Content-Disposition after `form-data; `. */
  disposition: string;
  headers?: string[];
  body: string | Uint8Array;
}

export function field(name: string, value: string): Part {
  return { disposition: `name="${name}"`, body: value };
}

export function filePart(body: string | Uint8Array, name = 'a.txt', type = 'text/plain'): Part {
  return { disposition: `name="file"; filename="${name}"`, headers: [`Content-Type: ${type}`], body };
}

export function form(...parts: Part[]): Buffer {
  return Buffer.concat([...parts.flatMap((part) => [opening(part), Buffer.from(part.body), crlf]), closing]);
}

/** All of a part but its body. */
export function opening({ disposition, headers = [] }: Omit<Part, 'body'>): Buffer {
  const lines = [`--${boundary}`, `Content-Disposition: form-data; ${disposition}`, ...headers, '', ''];
  return Buffer.from(lines.join('\r\n'));
}

const crlf = Buffer.from('\r\n');
export const closing = Buffer.from(`--${boundary}--\r\n`);
