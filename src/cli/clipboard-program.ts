/** Talks to a program that reads or writes the clipboard. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ClipboardError } from './clipboard-error.ts';

type Program = readonly [name: string, ...args: string[]];

/** A room takes no more text. */
export const longestText = 1_048_576;

export async function readWith([name, ...args]: Program): Promise<string> {
  const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  // Then there is nothing to read.
  child.on('error', () => undefined);
  const complaint = child.stderr.setEncoding('utf8').toArray();
  const bytes = await firstBytes(child.stdout);
  const said = (await complaint).join('');
  // Every such program fails on a clipboard that is empty or holds a picture; only this is a failure of its own.
  if (bytes.length === 0 && /display|connect/i.test(said))
    throw new ClipboardError(`The clipboard cannot be reached by ${name}.`);
  return textOf(bytes);
}

export async function writeWith([name, ...args]: Program, text: string): Promise<void> {
  // Some of these programs stay to serve the clipboard: in a group of their own, so that Ctrl-C does not end them, and
  // with nothing of ours that would be open as long as they live.
  const child = spawn(name, args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  child.stdin.on('error', () => undefined);
  child.stdin.end(text);
  const [code] = await once(child, 'exit');
  child.unref();
  if (code !== 0) throw new ClipboardError(`The clipboard cannot be written by ${name}, which ended with ${code}.`);
}

async function firstBytes(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > longestText) break;
  }
  // One more tells that it is too long, and it is the same on every look.
  return Buffer.concat(chunks).subarray(0, longestText + 1);
}

function textOf(bytes: Buffer): string {
  if (bytes.length > longestText) return bytes.toString('latin1');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return '';
  }
}
