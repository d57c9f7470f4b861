/** The clipboard of this machine, through the first suitable program that is installed. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { ClipboardError } from './clipboard-error.ts';
import { readWith, writeWith } from './clipboard-program.ts';
import type { Environment } from './environment.ts';

export interface Clipboard {
  /** Returns an empty string if the clipboard is empty or does not have text. */
  read(): Promise<string>;
  write(text: string): Promise<void>;
}

interface Programs {
  read: readonly [program: string, ...args: string[]];
  write: readonly [program: string, ...args: string[]];
}

const mac: Programs = { read: ['pbpaste'], write: ['pbcopy'] };
const wayland: Programs = { read: ['wl-paste', '--no-newline', '--type', 'text'], write: ['wl-copy'] };
const xclip: Programs = {
  read: ['xclip', '-selection', 'clipboard', '-out'],
  write: ['xclip', '-selection', 'clipboard', '-in'],
};
const xsel: Programs = { read: ['xsel', '--clipboard', '--output'], write: ['xsel', '--clipboard', '--input'] };
/** Not clip.exe, which does not support UTF-8. */
const powershell: Programs = {
  read: runScript('[Console]::OutputEncoding=[Text.Encoding]::UTF8; [Console]::Out.Write((Get-Clipboard -Raw))'),
  write: runScript('[Console]::InputEncoding=[Text.Encoding]::UTF8; Set-Clipboard -Value ([Console]::In.ReadToEnd())'),
};

function runScript(script: string): Programs['read'] {
  return ['powershell.exe', '-NoProfile', '-NonInteractive', '-Command', script];
}

/** Returns a function that opens the clipboard until its signal aborts. */
export function findClipboard(environment: Environment): (signal: AbortSignal) => Clipboard {
  const programs = candidates(environment).find(({ read, write }) =>
    [read, write].every(([name]) => isInstalled(environment, name)),
  );
  if (!programs) throw new ClipboardError(whatToInstall(environment));
  return (signal) => ({
    read: () => readWith(programs.read, { signal }),
    write: (text) => writeWith(programs.write, text, { signal }),
  });
}

function candidates({ desktop }: Environment): Programs[] {
  if (process.platform === 'darwin') return [mac];
  if (process.platform === 'win32') return [powershell];
  return [
    ...(desktop.wayland ? [wayland] : []),
    ...(desktop.x11 ? [xclip, xsel] : []),
    ...(desktop.wsl ? [powershell] : []),
  ];
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
