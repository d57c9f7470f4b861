/** What comes on standard input. */
import { fstatSync } from 'node:fs';
import { PoproomError } from '../client/index.ts';
import { UsageError } from './usage-error.ts';

/** No server takes more; a device such as /dev/zero would go on for ever. */
const mostBytes = 64 * 1024 ** 2;

/** Whether another program or a file is behind it, and not a person or nothing. */
export function isPiped(): boolean {
  const input = fstatSync(0);
  return input.isFIFO() || input.isFile() || input.isSocket();
}

export async function readInputText(): Promise<string> {
  if (fstatSync(0).isDirectory()) throw new UsageError('Standard input is a folder.');
  const bytes = await readBytes();
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError('Standard input is no text in UTF-8; "poproom send" takes files of any kind.');
  }
}

async function readBytes(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > mostBytes) throw new PoproomError('CONTENT_TOO_LARGE', 'A text may be at most 64 MiB.');
  }
  return Buffer.concat(chunks);
}
