/** Runs a program that reads or writes the clipboard. */
import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { addAbortSignal } from 'node:stream';
import { ClipboardError } from './clipboard-error.ts';

type Program = readonly [name: string, ...args: string[]];

/** In bytes; the default limit for the text of a room. */
export const maxTextBytes = 1_048_576;

/** powershell.exe, for one, may take seconds to start. */
const timeoutMs = 10_000;

export interface RunOptions {
  /** Kills the program. */
  signal: AbortSignal;
  withinMs?: number;
}

export function readWith([name, ...args]: Program, options: RunOptions): Promise<string> {
  return withTimeout(name, options, async (signal) => {
    const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'pipe'], signal, killSignal: 'SIGKILL' });
    // Without a process, the streams end without data.
    child.on('error', () => undefined);
    // Aborted separately, because a child of the program may keep them open.
    for (const stream of [child.stdout, child.stderr]) addAbortSignal(signal, stream);
    const [bytes, errors] = await Promise.all([firstBytes(child.stdout), child.stderr.setEncoding('utf8').toArray()]);
    // These programs also fail if the clipboard is empty or has an image. Only a missing display is a real failure.
    if (bytes.length === 0 && /display|connect/i.test(errors.join('')))
      throw new ClipboardError(`${name} cannot access the clipboard; check DISPLAY or WAYLAND_DISPLAY.`);
    return textOf(bytes);
  });
}

export function writeWith([name, ...args]: Program, text: string, options: RunOptions): Promise<void> {
  return withTimeout(name, options, async (signal) => {
    // Some of these programs keep running to serve the clipboard. They get their own process group, so that Ctrl-C does
    // not end them, and do not inherit our output, which they would keep open.
    const stdio: StdioOptions = ['pipe', 'ignore', 'ignore'];
    const child = spawn(name, args, { stdio, detached: true, signal, killSignal: 'SIGKILL' });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(text);
    const [code] = await once(child, 'exit', { signal });
    child.unref();
    if (code !== 0) throw new ClipboardError(`Cannot write to the clipboard: ${name} failed with exit code ${code}.`);
  });
}

/** A program may hang, for example if the application that owns the clipboard does. */
async function withTimeout<T>(
  name: string,
  { signal, withinMs = timeoutMs }: RunOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(withinMs);
  try {
    return await work(AbortSignal.any([signal, timeout]));
  } catch (error) {
    signal.throwIfAborted();
    throw timeout.aborted ? new ClipboardError(`Cannot access the clipboard: ${name} does not respond.`) : error;
  }
}

async function firstBytes(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxTextBytes) break;
  }
  // One byte over the limit marks the text as too long. A fixed length makes each read return the same text.
  return Buffer.concat(chunks).subarray(0, maxTextBytes + 1);
}

function textOf(bytes: Buffer): string {
  if (bytes.length > maxTextBytes) return bytes.toString('latin1');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return '';
  }
}
