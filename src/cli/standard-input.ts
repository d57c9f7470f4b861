/** Reads a text from standard input. */
import { fstatSync, readFileSync } from 'node:fs';
import { PoproomError } from '../client/index.ts';
import { UsageError } from './usage-error.ts';

/** No server accepts more. Without a limit, a device such as /dev/zero would never end. */
const maxBytes = 64 * 1024 ** 2;

/** Whether standard input is a pipe, a file or a socket, not a terminal or nothing. */
export function isPiped(): boolean {
  const input = fstatSync(0);
  return input.isFIFO() || input.isFile() || input.isSocket();
}

/**
 * Whether another program has read a part of the file that is standard input, as the `read` of a shell loop does. The rest
 * of the file is then for that program. Only Linux shows the position in a file, and a pipe has none.
 */
export function isPartlyRead(): boolean {
  try {
    return fstatSync(0).isFile() && !/^pos:\s+0$/m.test(readFileSync('/proc/self/fdinfo/0', 'utf8'));
  } catch {
    return false;
  }
}

export async function readInputText(): Promise<string> {
  if (fstatSync(0).isDirectory()) throw new UsageError('Standard input is a folder.');
  const bytes = await readBytes();
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError('Standard input is not UTF-8 text; use "poproom send" for other files.');
  }
}

async function readBytes(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > maxBytes) throw new PoproomError('CONTENT_TOO_LARGE', 'A text may have at most 64 MiB.');
  }
  return Buffer.concat(chunks);
}
