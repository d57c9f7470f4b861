/** The progress bar of a transfer: one line on a terminal, nothing elsewhere. */
import { stripVTControlCharacters } from 'node:util';
import { readEnvironment } from './environment.ts';
import { formatBytes, formatDuration, printable } from './output.ts';
import { textWidth, truncate } from './text-width.ts';

const drawEveryMs = 100;
const widestBar = 30;
const standardColumns = 80;

export type Progress = ReturnType<typeof createProgress>;

export function createProgress(name: string, total: number) {
  const out = process.stderr;
  if (!out.isTTY) return { show(_bytes: number) {}, done() {}, [Symbol.dispose]() {} };
  const { wantsColor } = readEnvironment();
  const rate = createTransferRate(total);
  let shown = '';
  // Drawn on a timer, so that a stalled transfer is visible and one that is rejected immediately does not flicker.
  const drawing = setInterval(() => draw(rate.current()), drawEveryMs);

  function draw(figures: ReturnType<typeof rate.current>): void {
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
    /** The first number is where the transfer starts. */
    show: rate.record,
    /** Shows 100 % and the average speed, and keeps the line. */
    done() {
      clearInterval(drawing);
      draw({ bytes: total, speed: rate.average(), secondsLeft: undefined });
      out.write('\n');
      shown = '';
    },
    /** Erases the line of a transfer that is not done. */
    [Symbol.dispose]() {
      clearInterval(drawing);
      if (shown === '') return;
      replace('');
      out.write('\r');
    },
  };
}

interface Line extends Omit<ReturnType<TransferRate['current']>, 'bytes'> {
  name: string;
  /** From 0 to 1. */
  share: number;
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

const windowMs = 5000;
/** Samples that follow sooner replace each other. */
const sampleEveryMs = 100;

export type TransferRate = ReturnType<typeof createTransferRate>;

type Sample = { at: number; bytes: number };

/** Measures the speed of a transfer over the last seconds, in bytes per second, and estimates the time left. */
export function createTransferRate(total: number, now = () => performance.now()) {
  let start: Sample = { at: now(), bytes: 0 };
  let samples: Sample[] = [];

  /** The samples of the last seconds, and the one before them. */
  function recent(until: number): Sample[] {
    const firstInside = samples.findIndex(({ at }) => at > until - windowMs);
    return firstInside === -1 ? samples.slice(-1) : samples.slice(Math.max(0, firstInside - 1));
  }

  return {
    /** The first number is where the transfer starts, which is not 0 if it is continued. */
    record(bytes: number) {
      const sample = { at: now(), bytes };
      if (samples.length === 0) start = sample;
      const before = samples.at(-2);
      if (before && sample.at - before.at < sampleEveryMs) samples.pop();
      samples = [...recent(sample.at), sample];
    },
    /** `secondsLeft` is undefined if it is unknown. */
    current() {
      const last = samples.at(-1) ?? { bytes: 0, at: now() };
      const { bytes, at } = last;
      // Large parts arrive seconds apart, so a pause counts only if it is longer than the window.
      const until = now() - at > windowMs ? now() : at;
      const [oldest = last] = recent(until);
      const speed = perSecond(bytes - oldest.bytes, until - oldest.at);
      const secondsLeft = speed > 0 ? Math.max(1, (total - bytes) / speed - (now() - at) / 1000) : undefined;
      return { bytes, speed, secondsLeft };
    },
    average() {
      return perSecond(total - start.bytes, now() - start.at);
    },
  };
}

const perSecond = (bytes: number, ms: number) => (bytes / Math.max(1, ms)) * 1000;
