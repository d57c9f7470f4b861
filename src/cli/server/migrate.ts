/** `poproom migrate`: moves all data from one engine to another, and compares both sides at the end. */
import { type Config, readConfig } from '../../config.ts';
import { type OpenedEnd, openEnd } from '../../migration/endpoint.ts';
import { type MigrationReport, migrate as move } from '../../migration/migrate.ts';
import type { Input } from '../command.ts';
import { countOf, formatBytes } from '../counts.ts';
import { print } from '../output.ts';
import { type MigrationOptions, readOptions } from './migration-options.ts';
import { createMigrationProgress } from './migration-progress.ts';
import { transferSecret } from './transfer-secret.ts';

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
  const pins = transferSecret(options.from.store, options.to.store, config.secret);
  const report = await moveUntilStopped(ends);
  if (report === 'stopped') {
    process.exitCode = 130;
    return console.error('Interrupted. Data that was moved is kept; run the same command again to continue.');
  }
  if (report.differences.count > 0) process.exitCode = 1;
  print(input, { ...report, pins }, `${summaryOf(report)}\n${pins}`);
  if (report.differences.count > 0 && !input.isSet('json')) reportDifferences(report.differences);
}

/** Ctrl-C stops it between two steps. */
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
    console.error('Data that was moved is kept. Fix the problem below and run the same command again to continue.');
    throw error;
  } finally {
    line.clear();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

function summaryOf({ moved, checked, differences }: MigrationReport): string {
  const { rooms, files, bytes, keys } = moved;
  const verdict = differences.count === 0 ? 'no differences' : countOf(differences.count, 'difference');
  const movedFiles = `${countOf(files, 'file')} (${formatBytes(bytes)})`;
  const checkedFiles = countOf(checked.files, 'file');
  return `Moved ${countOf(rooms, 'room')}, ${movedFiles} and ${countOf(keys, 'key')}.
Compared ${countOf(checked.rooms, 'room')}, ${checkedFiles} and ${countOf(checked.keys, 'key')}: ${verdict}.`;
}

function reportDifferences({ count, first }: MigrationReport['differences']): void {
  console.error('poproom: Source and target differ; existing data at the target was not changed:');
  for (const sentence of first) console.error(`  ${sentence}`);
  if (count > first.length) console.error(`  and ${count - first.length} more`);
}
