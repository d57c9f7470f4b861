/** `poproom clip`: keeps the clipboard of this machine and the text of a room in sync. */
import { isUtf8 } from 'node:buffer';
import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { addAbortSignal } from 'node:stream';
import { createSharedText, type PoproomError, parseLinkId, type Room, type SharedText } from '../../client/index.ts';
import { permanentRefusals } from '../../client/text/receiver.ts';
import type { Input } from '../command.ts';
import { type Environment, isInstalled, type Program, readEnvironment } from '../environment.ts';
import { ClipboardError, UsageError, untilInterrupted } from '../errors.ts';
import { formatJson, printable, printNotice } from '../output.ts';
import { firstBytes } from '../prompt.ts';
import { withRoom } from '../server-context.ts';
import { createRepeatable, followText, printEnd } from './watch.ts';

const pollEveryMs = 1000;

export async function clip(input: Input): Promise<void> {
  await withRoom(input, async (room) => {
    if (parseLinkId(room.code)) throw new UsageError(needsCode);
    await untilInterrupted(async (signal) => {
      const clipboard = findClipboard(readEnvironment(), signal);
      printEnd(await synchronize(input, room, clipboard, signal));
    });
  });
}

const needsCode =
  '"poproom clip" also writes to the room, and needs its code. With a link, use "poproom watch LINK --exec" and a command such as pbcopy or wl-copy.';

/** Runs until the room ends or the clipboard fails. */
async function synchronize(input: Input, room: Room, clipboard: Clipboard, signal: AbortSignal) {
  const text = createSharedText();
  const step = createClipboardSync(clipboard, text, (transfer) => report(input, transfer));
  const failed = new AbortController();
  let polling: NodeJS.Timeout | undefined;
  const steps = createRepeatable(async () => {
    clearTimeout(polling);
    if (failed.signal.aborted) return;
    await step().catch((error) => failed.abort(error));
    polling = setTimeout(() => steps.request(), pollEveryMs);
  });
  text.on('state', steps.request);
  try {
    return await followText({ room, text, signal: AbortSignal.any([signal, failed.signal]) }, steps.request);
  } finally {
    await steps.close();
    clearTimeout(polling);
    failed.signal.throwIfAborted();
  }
}

function report(input: Input, transfer: Transfer): void {
  if (input.isSet('json')) console.log(formatJson(transfer));
  else if (transfer.problem !== undefined) console.error(printable(transfer.problem));
  else printNotice(transfer.to === 'room' ? 'Clipboard → room' : 'Room → clipboard');
}

/** A problem is shown to the user. */
type Transfer = { to: 'room' | 'clipboard'; version: number; bytes: number; problem?: string };

/**
 * - `idle`: each step compares both sides;
 * - `sending`: the copied text is being sent to the room;
 * - `reverting`: the copied text is being removed again, because the room changed first or the server rejected it.
 */
type State = { name: 'idle' } | { name: 'sending'; copied: string } | { name: 'reverting' };

const idle: State = { name: 'idle' };

/**
 * Synchronizes the clipboard with a shared text. Returns a step, which compares both sides and starts at most one
 * transfer. The room wins over a copied text.
 */
function createClipboardSync(clipboard: Clipboard, text: SharedText, report: (transfer: Transfer) => void) {
  let state: State = idle;
  /** Both sides as of the last transfer; undefined before the first text. */
  let handled: { room: string; clipboard: string } | undefined;
  let reportedRejection: PoproomError | undefined;

  text.on('change', ({ origin }) => {
    if (origin === 'remote' && state.name === 'sending') revert();
  });

  text.on('state', () => {
    if (state.name === 'sending' && text.refusal !== reportedRejection) onRejected(state.copied, text.refusal);
    if (text.state !== 'synchronized') return;
    if (state.name === 'sending') {
      handled = { room: state.copied, clipboard: state.copied };
      reportTransfer('room', state.copied);
    }
    state = idle;
  });

  function reportTransfer(to: Transfer['to'], content: string, problem?: string, version = text.version): void {
    report({ to, version, bytes: Buffer.byteLength(content), ...(problem !== undefined && { problem }) });
  }

  /** A permanent rejection is final for this text. After any other one, the SDK sends the text again. */
  function onRejected(copied: string, refusal: PoproomError | undefined): void {
    reportedRejection = refusal;
    if (!refusal) return;
    if (permanentRefusals.includes(refusal.code)) {
      skip(copied, refusal.message);
      revert();
    } else reportTransfer('room', copied, `${notYetSent} ${refusal.message}`);
  }

  /** Reports the reason once. The same text is not sent again. */
  function skip(copied: string, reason: string): void {
    if (handled) handled = { ...handled, clipboard: copied };
    reportTransfer('room', copied, `${notSent} ${reason}`);
  }

  /** Restores the text of the room, because a merge of it with the copied text would be useless. */
  function revert(): void {
    const content = text.save()?.content;
    state = content === undefined ? idle : { name: 'reverting' };
    if (content !== undefined) text.replace(content);
  }

  async function toClipboard(): Promise<void> {
    const { value: content, version } = text;
    const existing = await clipboard.read();
    const before = handled;
    handled = { room: content, clipboard: content };
    // An empty room does not clear the clipboard at the start.
    if (existing === content || (!before && content === '')) return;
    await clipboard.write(content);
    const wasCopied =
      before && existing !== '' && !isVariantOf(existing, before.clipboard) && !isVariantOf(existing, content);
    reportTransfer('clipboard', content, wasCopied ? roomWasNewer : undefined, version);
  }

  async function toRoom(): Promise<void> {
    const copied = await clipboard.read();
    // An image or an empty clipboard does not clear the text of the room.
    if (copied === '' || isVariantOf(copied, handled?.clipboard)) return;
    // Changes of the room come first, and are unknown while offline.
    if (!text.isOnline || text.value !== handled?.room) return;
    if (Buffer.byteLength(copied) > maxTextBytes) return skip(copied, tooLong);
    if (copied === text.value) {
      handled = { room: copied, clipboard: copied };
      return;
    }
    state = { name: 'sending', copied };
    reportedRejection = text.refusal;
    text.replace(copied);
  }

  return async () => {
    if (state.name !== 'idle' || text.state === 'loading') return;
    if (text.value !== handled?.room) await toClipboard();
    else await toRoom();
  };
}

/**
 * Whether one text may be what the clipboard made of the other: some programs change line endings, or stop at a NUL.
 * Such a variant of the room's text must not be sent back to the room.
 */
const isVariantOf = (text: string, other: string | undefined) => other !== undefined && plain(text) === plain(other);

const plain = (text: string) => text.replace(/\0.*$/s, '').replaceAll('\r\n', '\n');

const notSent = 'The copied text was not sent to the room:';
const notYetSent = 'The copied text has not been sent to the room yet:';
const tooLong = 'it is larger than 1 MiB.';
const roomWasNewer = 'The text of the room was newer and replaced the copied text.';

/** The clipboard, through the first suitable program that is installed. */
type Clipboard = ReturnType<typeof findClipboard>;

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

/** The signal ends the programs that read and write. */
function findClipboard(environment: Environment, signal: AbortSignal) {
  const isUsable = ({ read, write }: Programs) => isInstalled(environment, read) && isInstalled(environment, write);
  const programs = candidates(environment).find(isUsable);
  if (!programs) throw new ClipboardError(whatToInstall(environment));
  const { read, write } = programs;
  return {
    /** Returns an empty string if the clipboard is empty or does not have text. */
    read: () => readWith(read, { signal }),
    write: (text: string) => writeWith(write, text, { signal }),
  };
}

function candidates({ desktop }: Environment): Programs[] {
  if (process.platform === 'darwin') return [mac];
  if (process.platform === 'win32') return [powershell];
  const { wayland: hasWayland, x11, wsl } = desktop;
  return [...(hasWayland ? [wayland] : []), ...(x11 ? [xclip, xsel] : []), ...(wsl ? [powershell] : [])];
}

function whatToInstall({ desktop }: Environment): string {
  if (desktop.wayland) return 'No clipboard program found; install wl-clipboard.';
  if (desktop.x11) return 'No clipboard program found; install xclip or xsel.';
  if (process.platform === 'linux')
    return 'No clipboard: this is not a graphical session (WAYLAND_DISPLAY or DISPLAY is not set); in one, install wl-clipboard or xclip.';
  return 'No clipboard program found; pbcopy, wl-clipboard, xclip, xsel or PowerShell is required.';
}

/** In bytes; the default limit for the text of a room. */
const maxTextBytes = 1_048_576;

/** powershell.exe, for one, may take seconds to start. */
const timeoutMs = 10_000;

type RunOptions = { signal: AbortSignal; withinMs?: number };

export function readWith([name, ...args]: Program, options: RunOptions): Promise<string> {
  return withTimeout(name, options, async (signal) => {
    const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'pipe'], signal, killSignal: 'SIGKILL' });
    // Without a process, the streams end without data.
    child.on('error', () => undefined);
    // Aborted separately, because a child of the program may keep them open.
    for (const stream of [child.stdout, child.stderr]) addAbortSignal(signal, stream);
    const [bytes, errors] = await Promise.all([
      firstBytes(child.stdout, maxTextBytes),
      child.stderr.setEncoding('utf8').toArray(),
    ]);
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

function textOf(bytes: Buffer): string {
  // Each read of a text that is too long returns the same part of it.
  if (bytes.length > maxTextBytes) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString() : '';
}
