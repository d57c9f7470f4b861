/** The log: JSON lines by pino, pretty on a terminal. */
import type { Log } from './core/ports.ts';

export interface OpenLog extends Log {
  /** Loads the writer. Lines before that are kept, so that the first answer does not wait for it. */
  open(): Promise<void>;
  close(): void;
}

type Level = keyof Log;

const mostEarlyLines = 1000;
/** A write for each line would cost more than the rest of a small request. */
const batchBytes = 15 * 1024;

export function createLog(level: string): OpenLog {
  const early: [Level, object, string][] = [];
  let sink: Log | undefined;
  let flush: () => void = () => undefined;

  const write = (of: Level) => (fields: object, message: string) => {
    if (sink) sink[of](fields, message);
    else if (early.length < mostEarlyLines) early.push([of, fields, message]);
  };

  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    async open() {
      const { pino } = await import('pino');
      const stream = process.stdout.isTTY
        ? await prettyStream()
        : pino.destination({ fd: 1, sync: false, minLength: batchBytes, periodicFlush: 250 });
      flush = () => 'flushSync' in stream && stream.flushSync();
      sink = pino({ level, base: null }, stream);
      for (const [of, fields, message] of early.splice(0)) sink[of](fields, message);
    },
    close: () => flush(),
  };
}

async function prettyStream() {
  const { default: pretty } = await import('pino-pretty');
  return pretty({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss', singleLine: true });
}
