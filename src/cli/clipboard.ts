/** The clipboard of this machine, through the first suitable program that is installed. */
import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import type { Environment } from './environment.ts';
import { ClipboardError } from './errors.ts';

export type Clipboard = ReturnType<ReturnType<typeof findClipboard>>;

export type Program = readonly [name: string, ...args: string[]];
type Programs = Record<'read' | 'write', Program>;

const mac: Programs = { read: ['pbpaste'], write: ['pbcopy'] };
const wayland: Programs = { read: ['wl-paste', '--no-newline', '--type', 'text'], write: ['wl-copy'] };
const xclip: Programs = {
  read: ['xclip', '-selection', 'clipboard', '-out'],
  write: ['xclip', '-selection', 'clipboard', '-in'],
};
const xsel: Programs = { read: ['xsel', '--clipboard', '--output'], write: ['xsel', '--clipboard', '--input'] };
const runScript = (script: string): Program => ['powershell.exe', '-NoProfile', '-NonInteractive', '-Command', script];
/** Not clip.exe, which does not support UTF-8. */
const powershell: Programs = {
  read: runScript('[Console]::OutputEncoding=[Text.Encoding]::UTF8; [Console]::Out.Write((Get-Clipboard -Raw))'),
  write: runScript('[Console]::InputEncoding=[Text.Encoding]::UTF8; Set-Clipboard -Value ([Console]::In.ReadToEnd())'),
};

/** Returns a function that opens the clipboard until its signal aborts. */
export function findClipboard(environment: Environment) {
  const programs = candidates(environment).find(({ read, write }) =>
    [read, write].every(([name]) => isInstalled(environment, name)),
  );
  if (!programs) throw new ClipboardError(whatToInstall(environment));
  const { read, write } = programs;
  return (signal: AbortSignal) => ({
    /** Returns an empty string if the clipboard is empty or does not have text. */
    read: () => readWith(read, { signal }),
    write: (text: string) => writeWith(write, text, { signal }),
  });
}

function candidates({ desktop }: Environment): Programs[] {
  if (process.platform === 'darwin') return [mac];
  if (process.platform === 'win32') return [powershell];
  const { wayland: hasWayland, x11, wsl } = desktop;
  return [...(hasWayland ? [wayland] : []), ...(x11 ? [xclip, xsel] : []), ...(wsl ? [powershell] : [])];
}

export function isInstalled({ path }: Environment, program: string): boolean {
  return path.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function whatToInstall({ desktop }: Environment): string {
  if (desktop.wayland) return 'No clipboard program found; install wl-clipboard.';
  if (desktop.x11) return 'No clipboard program found; install xclip or xsel.';
  if (process.platform === 'linux')
    return 'No clipboard: this is not a graphical session (WAYLAND_DISPLAY or DISPLAY is not set); in one, install wl-clipboard or xclip.';
  return 'No clipboard program found; pbcopy, wl-clipboard, xclip, xsel or PowerShell is required.';
}

/** In bytes; the default limit for the text of a room. */
export const maxTextBytes = 1_048_576;

/** powershell.exe, for one, may take seconds to start. */
const timeoutMs = 10_000;

/** The signal kills the program. */
type RunOptions = { signal: AbortSignal; withinMs?: number };

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
async function withTimeout<T>(name: string, options: RunOptions, work: (signal: AbortSignal) => Promise<T>) {
  const { signal, withinMs = timeoutMs } = options;
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
