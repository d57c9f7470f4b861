/** Standard output as a non-blocking descriptor. */
import { constants, openSync } from 'node:fs';

export interface StandardOutput {
  fd: number;
  isTerminal: boolean;
  /** A blocked write would keep Node from exiting, because it waits for its threads. */
  mayBlock: boolean;
}

export function openStandardOutput(): StandardOutput {
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
