/** How much of a file has gone or come: one line on a terminal that is rewritten, nothing elsewhere. */
import { stripVTControlCharacters } from 'node:util';
import { inBytes } from './byte-count.ts';
import { readEnvironment } from './environment.ts';
import { printable } from './printable.ts';
import { widthOf, withinWidth } from './text-width.ts';

const everyMs = 100;
const widestBar = 30;
const standardColumns = 80;

export interface Progress {
  show(bytes: number): void;
  /** The line stays, and says that all is there. */
  done(): void;
  /** Makes way for what is said instead. */
  clear(): void;
}

export function createProgress(name: string, total: number, out: NodeJS.WriteStream = process.stderr): Progress {
  if (!out.isTTY) return { show() {}, done() {}, clear() {} };
  const { wantsColor } = readEnvironment();
  const startedAt = performance.now();
  let soFar = 0;
  let shown = '';
  // By the clock, not by the bytes: a transfer that stalls shows it, and one that is refused at once does not flash.
  const drawing = setInterval(draw, everyMs);

  function draw(): void {
    const speed = (soFar / Math.max(1, performance.now() - startedAt)) * 1000;
    // The last column stays free: some terminals go to the next line when it is filled.
    const columns = (out.columns || standardColumns) - 1;
    replace(lineOf({ name: printable(name), share: total === 0 ? 1 : soFar / total, speed, columns, wantsColor }));
  }

  /** By spaces, which the plainest terminal understands. */
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
  /** Bytes a second. */
  speed: number;
  columns: number;
  wantsColor: boolean;
}

/** Where it is narrow the bar gives way first, then the speed, then the name. */
function lineOf({ name, share, speed, columns, wantsColor }: Line): string {
  const percent = `${Math.floor(Math.min(1, share) * 100)}%`.padStart(4);
  const figures = `${percent}  ${`${inBytes(speed)}/s`.padEnd(11)}`;
  if (columns < figures.length + 10) return withinWidth(`${percent.trim()} ${name}`, columns);
  const said = withinWidth(name, Math.max(8, columns - figures.length - widestBar - 4));
  const bar = barOf(share, Math.min(widestBar, columns - widthOf(said) - figures.length - 4), wantsColor);
  return [said, bar, figures].filter(Boolean).join('  ').trimEnd();
}

function barOf(share: number, width: number, wantsColor: boolean): string {
  if (width < 5) return '';
  const filled = Math.floor(Math.min(1, share) * width);
  const [done, left] = ['━'.repeat(filled), '─'.repeat(width - filled)];
  return wantsColor ? `\x1b[32m${done}\x1b[0m${left}` : `${done}${left}`;
}

const visibleWidth = (line: string) => widthOf(stripVTControlCharacters(line));
