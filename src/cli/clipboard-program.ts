/** Talks to a program that reads or writes the clipboard. */
import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { addAbortSignal } from 'node:stream';
import { ClipboardError } from './clipboard-error.ts';

type Program = readonly [name: string, ...args: string[]];

/** A room takes no more text. */
export const longestText = 1_048_576;

/** Such as powershell.exe may take seconds to start. */
const answerWithinMs = 10_000;

export interface Patience {
  /** Ends the program. */
  signal: AbortSignal;
  withinMs?: number;
}

export function readWith([name, ...args]: Program, patience: Patience): Promise<string> {
  return inTime(name, patience, async (signal) => {
    const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'pipe'], signal, killSignal: 'SIGKILL' });
    // Then there is nothing to read.
    child.on('error', () => undefined);
    // Ended by themselves, since a child of the program may hold them open.
    for (const stream of [child.stdout, child.stderr]) addAbortSignal(signal, stream);
    const [bytes, complaint] = await Promise.all([
      firstBytes(child.stdout),
      child.stderr.setEncoding('utf8').toArray(),
    ]);
    // Every such program fails on a clipboard that is empty or holds a picture; only this is a failure of its own.
    if (bytes.length === 0 && /display|connect/i.test(complaint.join('')))
      throw new ClipboardError(`The clipboard cannot be reached by ${name}.`);
    return textOf(bytes);
  });
}

export function writeWith([name, ...args]: Program, text: string, patience: Patience): Promise<void> {
  return inTime(name, patience, async (signal) => {
    // Some of these programs stay to serve the clipboard: in a group of their own, so that Ctrl-C does not end them,
    // and with nothing of ours that would be open as long as they live.
    const stdio: StdioOptions = ['pipe', 'ignore', 'ignore'];
    const child = spawn(name, args, { stdio, detached: true, signal, killSignal: 'SIGKILL' });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(text);
    const [code] = await once(child, 'exit', { signal });
    child.unref();
    if (code !== 0) throw new ClipboardError(`The clipboard cannot be written by ${name}, which ended with ${code}.`);
  });
}

/** A program may hang for ever, as where the one that holds what was copied does. */
async function inTime<T>(
  name: string,
  { signal, withinMs = answerWithinMs }: Patience,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const tooLate = AbortSignal.timeout(withinMs);
  try {
    return await work(AbortSignal.any([signal, tooLate]));
  } catch (error) {
    signal.throwIfAborted();
    throw tooLate.aborted ? new ClipboardError(`The clipboard cannot be reached: ${name} does not answer.`) : error;
  }
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
