/** The progress bar of a transfer: one line on a terminal, nothing elsewhere. */
import { stripVTControlCharacters } from 'node:util';
import { formatBytes } from './counts.ts';
import { formatDuration } from './duration.ts';
import { readEnvironment } from './environment.ts';
import { printable } from './printable.ts';
import { textWidth, truncate } from './text-width.ts';
import { createTransferRate } from './transfer-rate.ts';

const everyMs = 100;
const widestBar = 30;
const standardColumns = 80;

export interface Progress {
  /** The first number is where the transfer starts. */
  show(bytes: number): void;
  /** Shows 100 % and the average speed, and keeps the line. */
  done(): void;
  /** Removes the line. */
  clear(): void;
}

export function createProgress(name: string, total: number, out: NodeJS.WriteStream = process.stderr): Progress {
  if (!out.isTTY) return { show() {}, done() {}, clear() {} };
  const { wantsColor } = readEnvironment();
  const rate = createTransferRate(total);
  let shown = '';
  // Drawn on a timer, so that a stalled transfer is visible and one that is rejected immediately does not flicker.
  const drawing = setInterval(() => draw(rate.current()), everyMs);

  function draw(figures: { bytes: number; speed: number; secondsLeft: number | undefined }): void {
    // The last column stays empty, because some terminals wrap when it is filled.
    const columns = (out.columns || standardColumns) - 1;
    const share = total === 0 ? 1 : figures.bytes / total;
    replace(lineOf({ name: printable(name), share, ...figures, columns, wantsColor }));
  }

  /** Overwrites with spaces, which every terminal supports. */
  function replace(line: string): void {
    const left = ' '.repeat(Math.max(0, visibleWidth(shown) - visibleWidth(line)));
    out.write(`\r${line}${left}`);
    shown = line;
  }

  return {
    show: rate.record,
    done() {
      clearInterval(drawing);
      draw({ bytes: total, speed: rate.average(), secondsLeft: undefined });
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
  /** Undefined if it is unknown, or nothing is left. */
  secondsLeft: number | undefined;
  columns: number;
  wantsColor: boolean;
}

/** On a narrow terminal, drops the bar first, then the time left, then the speed, then shortens the name. */
function lineOf({ name, share, speed, secondsLeft, columns, wantsColor }: Line): string {
  const percent = `${Math.floor(Math.min(1, share) * 100)}%`.padStart(4);
  const withSpeed = `${percent}  ${`${formatBytes(speed)}/s`.padEnd(11)}`;
  const timeLeft = secondsLeft === undefined ? '' : `${formatSeconds(secondsLeft)} left`;
  const withTime = `${withSpeed}  ${timeLeft}`.padEnd(withSpeed.length + 15);
  const figures = [withTime, withSpeed].find(({ length }) => columns >= length + 10);
  if (figures === undefined) return truncate(`${percent.trim()} ${name}`, columns);
  const label = truncate(name, Math.max(8, columns - figures.length - widestBar - 4));
  const bar = barOf(share, Math.min(widestBar, columns - textWidth(label) - figures.length - 4), wantsColor);
  return [label, bar, figures].filter(Boolean).join('  ').trimEnd();
}

/** Such as "12 s", "3 min" or "2 h 5 min". */
const formatSeconds = (seconds: number) =>
  seconds < 60 ? `${Math.ceil(seconds)} s` : formatDuration(Math.ceil(seconds) * 1000);

function barOf(share: number, width: number, wantsColor: boolean): string {
  if (width < 5) return '';
  const filled = Math.floor(Math.min(1, share) * width);
  const [done, left] = ['━'.repeat(filled), '─'.repeat(width - filled)];
  return wantsColor ? `\x1b[32m${done}\x1b[0m${left}` : `${done}${left}`;
}

const visibleWidth = (line: string) => textWidth(stripVTControlCharacters(line));
