/** The progress of a migration: one line that is rewritten on a terminal, a line every 5 seconds elsewhere. */
import type { Progress } from '../../migration/migrate.ts';
import { formatBytes } from '../counts.ts';

const terminalEveryMs = 100;
const elsewhereEveryMs = 5000;

export interface MigrationProgress {
  show(progress: Progress): void;
  /** Removes the line. */
  clear(): void;
}

export function createMigrationProgress(out: NodeJS.WriteStream): MigrationProgress {
  const everyMs = out.isTTY ? terminalEveryMs : elsewhereEveryMs;
  let shownAt = out.isTTY ? Number.NEGATIVE_INFINITY : performance.now();
  return {
    show(progress) {
      const isLast = out.isTTY && progress.rooms === progress.totalRooms;
      if (performance.now() - shownAt < everyMs && !isLast) return;
      shownAt = performance.now();
      out.write(out.isTTY ? `\r\x1b[K${sentence(progress)}` : `${sentence(progress)}\n`);
    },
    clear() {
      if (out.isTTY) out.write('\r\x1b[K');
    },
  };
}

function sentence({ phase, rooms, totalRooms, bytes }: Progress): string {
  return `${phase}: ${rooms} of ${totalRooms} rooms, ${formatBytes(bytes)} of files`;
}
