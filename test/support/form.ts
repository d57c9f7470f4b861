/** Builds multipart forms by hand, so that tests can send malformed ones. */

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
  return Buffer.concat([...parts.flatMap((part) => [partHead(part), Buffer.from(part.body), crlf]), closingBoundary]);
}

/** The boundary and the headers of a part, without its body. */
export function partHead({ disposition, headers = [] }: Omit<Part, 'body'>): Buffer {
  const lines = [`--${boundary}`, `Content-Disposition: form-data; ${disposition}`, ...headers, '', ''];
  return Buffer.from(lines.join('\r\n'));
}

const crlf = Buffer.from('\r\n');
export const closingBoundary = Buffer.from(`--${boundary}--\r\n`);
