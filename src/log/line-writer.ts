/**
 * Writes lines to a file descriptor without ever waiting for it. Lines that cannot be written yet are kept up to a
 * bound; further ones are dropped and counted.
 */
import { writeSync, write as writeTo } from 'node:fs';

export interface LineWriterOptions {
  fd: number;
  /** For so long a line may wait for others. */
  batchMs: number;
  /** Called when lines can be written again, with the number that were dropped; it may write a line about them. */
  onGap(dropped: number): void;
}

export interface LineWriter {
  write(line: string): void;
  /** Resolves when all lines are written, when they cannot be, or when the time is up. */
  close(withinMs: number): Promise<void>;
  /** The last attempt of a process that ends: it may not wait for anything. */
  writeNow(): void;
  /** Whether the system holds on to a write: then Node cannot end either, since it waits for its threads. */
  isBlocked(): boolean;
  /** How many lines were dropped since the start. */
  dropped(): number;
}

/** A write for each line would cost more than the rest of a small request. */
const batchLength = 15 * 1024;
const maxKeptLength = 512 * 1024;
const firstRetryMs = 5;
const maxRetryMs = 1000;
/** A write that takes longer is not slow: it hangs. */
const hangsAfterMs = 500;

export function createLineWriter({ fd, batchMs, onGap }: LineWriterOptions): LineWriter {
  let waiting = '';
  /** Taken from `waiting`, and not written in full yet. */
  let sending: Buffer | undefined;
  let isWriting = false;
  let timer: NodeJS.Timeout | undefined;
  let retryMs = firstRetryMs;
  let droppedSinceGap = 0;
  let droppedInAll = 0;
  let isReportingGap = false;
  /** Once it is closed, nothing but `writeNow` writes. */
  let state: 'open' | 'closing' | 'closed' = 'open';
  let onClosed: () => void = () => undefined;

  function write(line: string): void {
    // Once a line is dropped, so are all that follow until something is written: the gap is in one place.
    const isFull = droppedSinceGap > 0 || waiting.length + (sending?.length ?? 0) + line.length > maxKeptLength;
    if (isFull && !isReportingGap) {
      droppedSinceGap += 1;
      droppedInAll += 1;
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
    if (error) onRefused(error);
    else onAccepted(bytes);
  }

  function onAccepted(bytes: number): void {
    retryMs = firstRetryMs;
    advance(bytes);
    if (!sending) reportGap();
    send();
  }

  function advance(bytes: number): void {
    if (sending) sending = bytes < sending.length ? sending.subarray(bytes) : undefined;
  }

  function onRefused({ code }: NodeJS.ErrnoException): void {
    // A slow reader may still take the last lines; one that is gone, or a full disk, will not.
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

    close(withinMs) {
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

    writeNow() {
      if (isWriting) return;
      takeWaiting();
      try {
        if (sending) advance(writeSync(fd, sending));
      } catch {
        // Nobody is left who could be told.
      }
    },

    isBlocked: () => isWriting,
    dropped: () => droppedInAll,
  };
}
