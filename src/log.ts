/** The log: JSON lines by pino, formatted on a terminal. It drops lines rather than block the server. */
import type { Log } from './core/ports.ts';
import { createLineWriter } from './log/line-writer.ts';
import { openStandardOutput } from './log/standard-output.ts';

export interface OpenLog extends Log {
  /** Loads the formatter. Earlier lines are buffered, so that the first response does not wait for it. */
  open(): Promise<void>;
  /** Prints text for people at the terminal, in addition to log lines. */
  print(text: string): void;
  /** Writes as much as possible within this time. */
  close(withinMs: number): Promise<void>;
  /** The number of lost lines since the start. */
  lostLines(): number;
  /** Whether a write hangs in the system. `process.exit` would then hang too. */
  isBlocked(): boolean;
}

type Level = keyof Log;

const maxEarlyLines = 1000;

export function createLog(level: string): OpenLog {
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
    async open() {
      const { pino, stdTimeFunctions } = await import('pino');
      const format = output.isTerminal ? await loadPretty() : (line: string) => line;
      sink = pino(
        { level, base: null, timestamp: stdTimeFunctions.isoTime, formatters: { level: levelName } },
        { write: (line) => writer.write(format(line)) },
      );
      for (const [of, fields, message] of early.splice(0)) sink[of](fields, message);
      if (lostEarly > 0) reportLost(lostEarly);
    },
    print: writer.write,
    close: writer.close,
    lostLines: () => lostEarly + writer.dropped(),
    isBlocked: writer.isBlocked,
  };
}

/** Names instead of pino's numbers. */
const levelName = (level: string) => ({ level });

async function loadPretty(): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  return prettyFactory({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss', singleLine: true });
}
