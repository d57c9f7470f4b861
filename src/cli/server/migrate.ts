/** `poproom migrate`: moves everything from one engine to another, and checks that it arrived. */
import { type Config, readConfig } from '../../config.ts';
import { type OpenedEnd, openEnd } from '../../migration/endpoint.ts';
import { migrate as move } from '../../migration/migrate.ts';
import type { MigrationReport } from '../../migration/types.ts';
import { inBytes } from '../byte-count.ts';
import type { Input } from '../command.ts';
import { print } from '../output.ts';
import { carrySecret } from './carried-secret.ts';
import { type MigrationOptions, readOptions } from './migration-options.ts';
import { createMigrationProgress } from './migration-progress.ts';

export async function migrate(input: Input): Promise<void> {
  const options = readOptions(input);
  const config = readConfig();
  const from = await openEnd(options.from, config);
  try {
    const to = await openEnd(options.to, config);
    try {
      await run(input, options, config, { from, to });
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

type Ends = Record<'from' | 'to', OpenedEnd>;

async function run(input: Input, options: MigrationOptions, config: Config, ends: Ends): Promise<void> {
  const aboutSecret = carrySecret(options.from.store, options.to.store, config.secret);
  const report = await moveUntilStopped(ends);
  if (report === 'stopped') {
    process.exitCode = 130;
    return console.error('Stopped. What was moved stays; run the same command again to go on.');
  }
  if (report.differences.count > 0) process.exitCode = 1;
  print(input, { ...report, pins: aboutSecret }, `${summaryOf(report)}\n${aboutSecret}`);
  if (report.differences.count > 0 && !input.isSet('json')) complain(report.differences);
}

/** Ctrl-C ends it between two steps. */
async function moveUntilStopped(ends: Ends): Promise<MigrationReport | 'stopped'> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const line = createMigrationProgress(process.stderr);
  try {
    return await move({ ...ends, clock: Date.now, signal: stopping.signal, progress: line.show });
  } catch (error) {
    if (stopping.signal.aborted) return 'stopped';
    line.clear();
    console.error('What was moved stays; when this is mended, run the same command again to go on.');
    throw error;
  } finally {
    line.clear();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

function summaryOf({ moved, checked, differences }: MigrationReport): string {
  const { rooms, files, bytes, keys } = moved;
  const verdict = differences.count === 0 ? 'all are the same at both ends' : `${differences.count} differ`;
  return `Moved ${rooms} rooms, ${files} files (${inBytes(bytes)}) and ${keys} keys.
Compared ${checked.rooms} rooms, ${checked.files} files and ${checked.keys} keys: ${verdict}.`;
}

function complain({ count, first }: MigrationReport['differences']): void {
  console.error('poproom: Not everything is the same at both ends; what was there was left as it is:');
  for (const sentence of first) console.error(`  ${sentence}`);
  if (count > first.length) console.error(`  and ${count - first.length} more`);
}
