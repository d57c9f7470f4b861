/** Standard output, for a command that does nothing else than hand something over. */
import { Ended } from './failure.ts';

/** Waits until it is taken. That nobody reads on ends the command, and is no failure. */
export function writeStdout(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => {
      if (!error) resolve();
      else reject((error as NodeJS.ErrnoException).code === 'EPIPE' ? new Ended(0) : error);
    });
  });
}
