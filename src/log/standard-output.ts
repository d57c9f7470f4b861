/** Standard output as a descriptor on which a write fails where it would have to wait for the reader. */
import { constants, openSync } from 'node:fs';

export interface StandardOutput {
  fd: number;
  isTerminal: boolean;
  /** A write that blocks would keep Node from ending: it waits for its threads. */
  mayBlock: boolean;
}

export function openStandardOutput(): StandardOutput {
  // Node has made pipes and sockets non-blocking as soon as its stream of them exists; files never wait for a reader.
  if (!process.stdout.isTTY) return { fd: 1, isTerminal: false, mayBlock: false };
  const fd = reopenTerminal();
  return { fd: fd ?? 1, isTerminal: true, mayBlock: fd === undefined };
}

/** Opened once more, because the flags of descriptor 1 belong to the shell, too. */
function reopenTerminal(): number | undefined {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
  try {
    return openSync('/proc/self/fd/1', O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    // Another system than Linux, or the terminal of another user.
    return undefined;
  }
}
