/** The clipboard of this machine, by whichever program the system has for it. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { ClipboardError } from './clipboard-error.ts';
import { readWith, writeWith } from './clipboard-program.ts';
import type { Environment } from './environment.ts';

export interface Clipboard {
  /** The empty text where there is none, or something else than text. */
  read(): Promise<string>;
  write(text: string): Promise<void>;
}

interface Way {
  read: readonly [program: string, ...args: string[]];
  write: readonly [program: string, ...args: string[]];
}

const mac: Way = { read: ['pbpaste'], write: ['pbcopy'] };
const wayland: Way = { read: ['wl-paste', '--no-newline', '--type', 'text'], write: ['wl-copy'] };
const xclip: Way = {
  read: ['xclip', '-selection', 'clipboard', '-out'],
  write: ['xclip', '-selection', 'clipboard', '-in'],
};
const xsel: Way = { read: ['xsel', '--clipboard', '--output'], write: ['xsel', '--clipboard', '--input'] };
/** Not clip.exe, which knows no UTF-8. */
const powershell: Way = {
  read: windows('[Console]::OutputEncoding=[Text.Encoding]::UTF8; [Console]::Out.Write((Get-Clipboard -Raw))'),
  write: windows('[Console]::InputEncoding=[Text.Encoding]::UTF8; Set-Clipboard -Value ([Console]::In.ReadToEnd())'),
};

function windows(script: string): Way['read'] {
  return ['powershell.exe', '-NoProfile', '-NonInteractive', '-Command', script];
}

/** Answers how to open it, for as long as a signal does not end it. */
export function findClipboard(environment: Environment): (signal: AbortSignal) => Clipboard {
  const way = waysOf(environment).find(({ read, write }) =>
    [read, write].every(([name]) => isThere(environment, name)),
  );
  if (!way) throw new ClipboardError(whatToInstall(environment));
  return (signal) => ({
    read: () => readWith(way.read, { signal }),
    write: (text) => writeWith(way.write, text, { signal }),
  });
}

function waysOf({ windows }: Environment): Way[] {
  if (process.platform === 'darwin') return [mac];
  if (process.platform === 'win32') return [powershell];
  return [
    ...(windows.wayland ? [wayland] : []),
    ...(windows.x11 ? [xclip, xsel] : []),
    ...(windows.wsl ? [powershell] : []),
  ];
}

function isThere({ path }: Environment, program: string): boolean {
  return path.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function whatToInstall({ windows }: Environment): string {
  if (windows.wayland) return 'There is no program for the clipboard here: install wl-clipboard.';
  if (windows.x11) return 'There is no program for the clipboard here: install xclip or xsel.';
  if (process.platform === 'linux')
    return 'There is no clipboard here, for lack of a graphical session (WAYLAND_DISPLAY or DISPLAY); with one, install wl-clipboard or xclip.';
  return 'There is no program for the clipboard here: pbcopy, wl-clipboard, xclip, xsel or powershell is needed.';
}
