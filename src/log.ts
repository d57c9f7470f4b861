/** The log: JSON lines by pino, formatted on a terminal. It drops lines rather than block the server. */
import { constants, openSync, writeSync, write as writeTo } from 'node:fs';
import type { Log } from './core/ports/basics.ts';

export type OpenLog = ReturnType<typeof createLog>;

type Level = keyof Log;

const maxEarlyLines = 1000;

export function createLog(level: string) {
  const early: [Level, object, string][] = [];
  let lostEarly = 0;
  let sink: Log | undefined;
  const output = openStandardOutput();
  const writer = createLineWriter({ fd: output.fd, batchMs: output.isTerminal ? 10 : 250, onGap: reportLost });
  if (!output.mayBlock) process.on('exit', writer.writeNow);

  function reportLost(lost: number): void {
    sink?.warn({ lost }, 'log lines were lost: the log could not be written');
  }

  const write = (of: Level) => (fields: object, message: string) => {
    if (sink) sink[of](fields, message);
    else if (early.length < maxEarlyLines) early.push([of, fields, message]);
    else lostEarly += 1;
  };

  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    /** Loads the formatter. Earlier lines are buffered, so that the first response does not wait for it. */
    async open(): Promise<void> {
      const { pino, stdTimeFunctions } = await import('pino');
      const format = output.isTerminal ? await loadPretty() : (line: string) => line;
      sink = pino(
        { level, base: null, timestamp: stdTimeFunctions.isoTime, formatters: { level: levelName } },
        { write: (line) => writer.write(format(line)) },
      );
      for (const [of, fields, message] of early.splice(0)) sink[of](fields, message);
      if (lostEarly > 0) reportLost(lostEarly);
    },
    /** Prints text for people at the terminal, in addition to log lines. */
    print: writer.write,
    close: writer.close,
    /** The number of lost lines since the start. */
    lostLines: () => lostEarly + writer.dropped(),
    /** Whether a write hangs in the system. `process.exit` would then hang too. */
    isBlocked: writer.isBlocked,
  };
}

/** Names instead of pino's numbers. */
const levelName = (level: string) => ({ level });

async function loadPretty(): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  return prettyFactory({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss', singleLine: true });
}

interface LineWriterOptions {
  fd: number;
  /** How long a line may wait for others. */
  batchMs: number;
  /** Called when lines can be written again, with the number of dropped ones. It may write a line about them. */
  onGap(dropped: number): void;
}

/** One write per line would cost more than the rest of a small request. */
const batchLength = 15 * 1024;
const maxKeptLength = 512 * 1024;
const firstRetryMs = 5;
const maxRetryMs = 1000;
/** A write that takes longer hangs. */
const hangsAfterMs = 500;

/**
 * Writes lines to a file descriptor without blocking. Lines that cannot be written yet are buffered up to a limit;
 * further ones are dropped and counted.
 */
function createLineWriter({ fd, batchMs, onGap }: LineWriterOptions) {
  let waiting = '';
  /** Taken from `waiting`, not completely written yet. */
  let sending: Buffer | undefined;
  let isWriting = false;
  let timer: NodeJS.Timeout | undefined;
  let retryMs = firstRetryMs;
  let droppedSinceGap = 0;
  let droppedTotal = 0;
  let isReportingGap = false;
  /** After it is closed, only `writeNow` writes. */
  let state: 'open' | 'closing' | 'closed' = 'open';
  let onClosed: () => void = () => undefined;

  function write(line: string): void {
    // After a dropped line, all further ones are dropped until a write succeeds, so that there is only one gap.
    const isFull = droppedSinceGap > 0 || waiting.length + (sending?.length ?? 0) + line.length > maxKeptLength;
    if (isFull && !isReportingGap) {
      droppedSinceGap += 1;
      droppedTotal += 1;
      return;
    }
    waiting += line;
    if (sending) return;
    if (waiting.length >= batchLength) send();
    else timer ??= setTimeout(send, batchMs).unref();
  }

  function send(): void {
    clearTimeout(timer);
    timer = undefined;
    if (isWriting) return;
    if (state !== 'closed') takeWaiting();
    if (!sending || state === 'closed') return void onClosed();
    isWriting = true;
    writeTo(fd, sending, onWritten);
  }

  function takeWaiting(): void {
    if (sending || waiting === '') return;
    sending = Buffer.from(waiting);
    waiting = '';
  }

  function onWritten(error: NodeJS.ErrnoException | null, bytes: number): void {
    isWriting = false;
    if (error) return void onRefused(error);
    retryMs = firstRetryMs;
    advance(bytes);
    if (!sending) reportGap();
    send();
  }

  function advance(bytes: number): void {
    if (sending) sending = bytes < sending.length ? sending.subarray(bytes) : undefined;
  }

  function onRefused({ code }: NodeJS.ErrnoException): void {
    // A slow reader may still accept the last lines. A closed pipe or a full disk will not.
    const isLast = state === 'closed' || (state === 'closing' && code !== 'EAGAIN');
    if (isLast) onClosed();
    else timer = setTimeout(send, retryMs).unref();
    retryMs = Math.min(2 * retryMs, maxRetryMs);
  }

  function reportGap(): void {
    if (droppedSinceGap === 0) return;
    const dropped = droppedSinceGap;
    droppedSinceGap = 0;
    isReportingGap = true;
    onGap(dropped);
    isReportingGap = false;
  }

  return {
    write,

    /** Resolves when all lines are written, when writing fails, or after `withinMs`. */
    close(withinMs: number): Promise<void> {
      return new Promise((resolve) => {
        const giveUp = () => {
          state = 'closed';
          deadline = setTimeout(resolve, isWriting ? hangsAfterMs : 0);
        };
        let deadline = setTimeout(giveUp, withinMs);
        onClosed = () => {
          state = 'closed';
          clearTimeout(deadline);
          resolve();
        };
        if (state === 'open') state = 'closing';
        retryMs = firstRetryMs;
        send();
      });
    },

    /** The last, synchronous attempt of a process that exits. */
    writeNow(): void {
      if (isWriting) return;
      takeWaiting();
      try {
        if (sending) advance(writeSync(fd, sending));
      } catch {
        // There is no way left to report this.
      }
    },

    /** Node cannot exit while a write hangs in the system, because it waits for its threads. */
    isBlocked: () => isWriting,
    dropped: () => droppedTotal,
  };
}

/** A non-blocking descriptor, unless it `mayBlock`: a blocked write would keep Node from exiting. */
function openStandardOutput(): { fd: number; isTerminal: boolean; mayBlock: boolean } {
  // Node makes pipes and sockets non-blocking when it creates the stream. Files never block on a reader.
  if (!process.stdout.isTTY) return { fd: 1, isTerminal: false, mayBlock: false };
  const fd = reopenTerminal();
  return { fd: fd ?? 1, isTerminal: true, mayBlock: fd === undefined };
}

/** Opens the terminal again, because the flags of descriptor 1 are shared with the shell. */
function reopenTerminal(): number | undefined {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
  try {
    return openSync('/proc/self/fd/1', O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    // Not Linux, or the terminal of another user.
    return undefined;
  }
}
