/** Writes to standard output with backpressure. */
import { ExitError } from './failure.ts';

/** Resolves when the bytes are written. If the reader is gone (EPIPE), the command ends successfully. */
export function writeStdout(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => {
      if (!error) resolve();
      else reject((error as NodeJS.ErrnoException).code === 'EPIPE' ? new ExitError(0) : error);
    });
  });
}
