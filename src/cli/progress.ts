/** The progress bar of a transfer: one line on a terminal, nothing elsewhere. */
import { stripVTControlCharacters } from 'node:util';
import { formatBytes } from './counts.ts';
import { readEnvironment } from './environment.ts';
import { printable } from './printable.ts';
import { textWidth, truncate } from './text-width.ts';

const everyMs = 100;
const widestBar = 30;
const standardColumns = 80;

export interface Progress {
  show(bytes: number): void;
  /** Shows 100 % and keeps the line. */
  done(): void;
  /** Removes the line. */
  clear(): void;
}

export function createProgress(name: string, total: number, out: NodeJS.WriteStream = process.stderr): Progress {
  if (!out.isTTY) return { show() {}, done() {}, clear() {} };
  const { wantsColor } = readEnvironment();
  const startedAt = performance.now();
  let soFar = 0;
  let shown = '';
  // Drawn on a timer, so that a stalled transfer is visible and one that is rejected immediately does not flicker.
  const drawing = setInterval(draw, everyMs);

  function draw(): void {
    const speed = (soFar / Math.max(1, performance.now() - startedAt)) * 1000;
    // The last column stays empty, because some terminals wrap when it is filled.
    const columns = (out.columns || standardColumns) - 1;
    replace(lineOf({ name: printable(name), share: total === 0 ? 1 : soFar / total, speed, columns, wantsColor }));
  }

  /** Overwrites with spaces, which every terminal supports. */
  function replace(line: string): void {
    const left = ' '.repeat(Math.max(0, visibleWidth(shown) - visibleWidth(line)));
    out.write(`\r${line}${left}`);
    shown = line;
  }

  return {
    show(bytes) {
      soFar = bytes;
    },
    done() {
      clearInterval(drawing);
      soFar = total;
      draw();
      out.write('\n');
    },
    clear() {
      clearInterval(drawing);
      if (shown === '') return;
      replace('');
      out.write('\r');
    },
  };
}

interface Line {
  name: string;
  /** From 0 to 1. */
  share: number;
  /** Bytes per second. */
  speed: number;
  columns: number;
  wantsColor: boolean;
}

/** On a narrow terminal, drops the bar first, then the speed, then shortens the name. */
function lineOf({ name, share, speed, columns, wantsColor }: Line): string {
  const percent = `${Math.floor(Math.min(1, share) * 100)}%`.padStart(4);
  const figures = `${percent}  ${`${formatBytes(speed)}/s`.padEnd(11)}`;
  if (columns < figures.length + 10) return truncate(`${percent.trim()} ${name}`, columns);
  const label = truncate(name, Math.max(8, columns - figures.length - widestBar - 4));
  const bar = barOf(share, Math.min(widestBar, columns - textWidth(label) - figures.length - 4), wantsColor);
  return [label, bar, figures].filter(Boolean).join('  ').trimEnd();
}

function barOf(share: number, width: number, wantsColor: boolean): string {
  if (width < 5) return '';
  const filled = Math.floor(Math.min(1, share) * width);
  const [done, left] = ['━'.repeat(filled), '─'.repeat(width - filled)];
  return wantsColor ? `\x1b[32m${done}\x1b[0m${left}` : `${done}${left}`;
}

const visibleWidth = (line: string) => textWidth(stripVTControlCharacters(line));
