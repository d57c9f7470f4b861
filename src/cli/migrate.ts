/** `poproom migrate`: moves everything from one engine to another, and checks that it arrived. */
import { type Config, readConfig } from '../config.ts';
import { type MigrationReport, migrate as move } from '../core/migration.ts';
import { type OpenedEnd, openEnd } from '../migration-end.ts';
import { inBytes } from './byte-count.ts';
import { carrySecret } from './carried-secret.ts';
import { type MigrationOptions, readOptions } from './migration-options.ts';
import { createProgressLine } from './progress-line.ts';

const help = `poproom migrate: move rooms, files and API keys to another engine, or another folder

  poproom migrate --from STORE [--from-files FILES] --to STORE [--to-files FILES]

  STORE   sqlite:FOLDER, or redis://HOST:PORT as in POPROOM_STORE
  FILES   disk:FOLDER, or s3://BUCKET/PREFIX as in POPROOM_FILES; for sqlite:FOLDER it is disk:FOLDER/files when not said

  From one server to a cluster, back again, and to another disk:

  poproom migrate --from sqlite:./data --to redis://localhost:6379 --to-files s3://my-bucket/poproom
  poproom migrate --from redis://localhost:6379 --from-files s3://my-bucket/poproom --to sqlite:./data
  poproom migrate --from sqlite:./data --to sqlite:/mnt/data

Stop the servers of both ends first. What is there already is left alone and nothing is overwritten, so after an
interruption run the same command again. At the end every text and every file is compared; the exit code is 1 if
anything differs. S3 is reached with POPROOM_S3_ENDPOINT, POPROOM_S3_PATH_STYLE and the variables of AWS.
`;

export async function migrate(args: string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) return console.log(help);
  const options = readOptions(args);
  const config = readConfig();
  const from = await openEnd(options.from, config);
  try {
    const to = await openEnd(options.to, config);
    try {
      await run(options, config, { from, to });
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

type Ends = Record<'from' | 'to', OpenedEnd>;

async function run(options: MigrationOptions, config: Config, ends: Ends): Promise<void> {
  const aboutSecret = carrySecret(options.from.store, options.to.store, config.secret);
  const report = await moveUntilStopped(ends);
  if (report === 'stopped') {
    process.exitCode = 130;
    return console.error('Stopped. What was moved stays; run the same command again to go on.');
  }
  tell(report);
  console.log(aboutSecret);
}

/** Ctrl-C ends it between two steps. */
async function moveUntilStopped(ends: Ends): Promise<MigrationReport | 'stopped'> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const line = createProgressLine(process.stderr);
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

function tell({ moved, checked, differences }: MigrationReport): void {
  const { rooms, files, bytes, keys } = moved;
  console.log(`Moved ${rooms} rooms, ${files} files (${inBytes(bytes)}) and ${keys} keys.`);
  const verdict = differences.count === 0 ? 'all are the same at both ends' : `${differences.count} differ`;
  console.log(`Compared ${checked.rooms} rooms, ${checked.files} files and ${checked.keys} keys: ${verdict}.`);
  if (differences.count > 0) complain(differences);
}

function complain({ count, first }: MigrationReport['differences']): void {
  process.exitCode = 1;
  console.error('poproom: Not everything is the same at both ends; what was there was left as it is:');
  for (const sentence of first) console.error(`  ${sentence}`);
  if (count > first.length) console.error(`  and ${count - first.length} more`);
}
