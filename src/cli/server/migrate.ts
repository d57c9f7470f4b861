/** `poproom migrate`: moves all data from one engine to another, and compares both sides at the end. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../config.ts';
import { type EnginePlace, isSameStore, readFilesPlace, readStorePlace, type StorePlace } from '../../engine/open.ts';
import { copySecret, secretIn } from '../../engine/secret.ts';
import {
  type MigrationEnd,
  type MigrationReport,
  migrate as move,
  openEnd,
  type Progress,
} from '../../migration/migrate.ts';
import type { Input } from '../command.ts';
import { ExitError, exitCode, UsageError } from '../errors.ts';
import { countOf, formatBytes, print } from '../output.ts';

export async function migrate(input: Input): Promise<void> {
  const places = readPlaces(input);
  const config = readConfig();
  await using ends = new AsyncDisposableStack();
  const open = async (place: EnginePlace) => ends.adopt(await openEnd(place, config), (end) => end.close());
  const from = await open(places.from);
  const to = await open(places.to);
  const pins = transferSecret(places.from.store, places.to.store, config.secret);
  const report = await moveUntilStopped({ from, to });
  if (report.differences.count > 0) process.exitCode = 1;
  print(input, { ...report, pins }, `${summaryOf(report)}\n${pins}`);
  if (report.differences.count > 0 && !input.isSet('json')) reportDifferences(report.differences);
}

/** Ctrl-C stops it between two steps. */
async function moveUntilStopped(ends: Record<'from' | 'to', MigrationEnd>): Promise<MigrationReport> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const line = createMigrationProgress();
  try {
    return await move({ ...ends, clock: Date.now, signal: stopping.signal, progress: line.show });
  } catch (error) {
    line.clear();
    if (stopping.signal.aborted) {
      console.error('Interrupted. Data that was moved is kept; run the same command again to continue.');
      throw new ExitError(exitCode.interrupted);
    }
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

/** Messages do not repeat URLs, which may contain a password. */
function readPlaces({ args, value }: Input): Record<'from' | 'to', EnginePlace> {
  const [from, to] = [value('from'), value('to')];
  if (args.length > 0) throw new UsageError('"poproom migrate" takes only options; see poproom migrate --help.');
  if (!from || !to) throw new UsageError('--from and --to are required; see poproom migrate --help.');
  const places = { from: readPlace('--from', from, value('from-files')), to: readPlace('--to', to, value('to-files')) };
  assertHasData(places.from);
  assertFolders(places.to);
  if (isSameStore(places.from.store, places.to.store)) throw new UsageError('--from and --to are the same.');
  return places;
}

function readPlace(option: '--from' | '--to', store: string, files: string | undefined): EnginePlace {
  const place = withOptionName(option, () => readStorePlace(store));
  if (files !== undefined)
    return { store: place, files: withOptionName(`${option}-files`, () => readFilesPlace(files)) };
  if ('folder' in place) return { store: place, files: { folder: join(place.folder, 'files') } };
  throw new UsageError(`Redis does not store files; set ${option}-files to disk:FOLDER or s3://BUCKET.`);
}

function withOptionName<T>(option: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`${option} ${(error as Error).message}.`);
  }
}

/** A mistyped folder must not be created and then found to be empty. */
function assertHasData({ store, files }: EnginePlace): void {
  if ('folder' in store && !existsSync(join(store.folder, 'poproom.db')))
    throw new UsageError(`There is no Poproom data in ${store.folder}.`);
  if ('folder' in files && !existsSync(files.folder))
    throw new UsageError(`The folder ${files.folder} does not exist; set --from-files to where the files are.`);
}

function assertFolders({ store, files }: EnginePlace): void {
  for (const place of [store, files]) {
    if (!('folder' in place) || !existsSync(place.folder) || statSync(place.folder).isDirectory()) continue;
    throw new UsageError(`${place.folder} is not a folder.`);
  }
}

/**
 * PINs are stored as hashes under the secret, so the target needs the same secret, which is never shown. Copies it if
 * both sides keep it in a file. Returns what the operator has to do, as a sentence.
 */
function transferSecret(from: StorePlace, to: StorePlace, given: string | undefined): string {
  if (given !== undefined) return 'To keep PINs valid, set the current POPROOM_SECRET on the new server, too.';
  if (!('folder' in from) || !existsSync(secretIn(from.folder)))
    return 'To keep PINs valid, set the POPROOM_SECRET of the old servers on the new server, too.';
  if (!('folder' in to))
    return `To keep PINs valid, set POPROOM_SECRET on every node to the content of ${secretIn(from.folder)}.`;
  if (copySecret(from.folder, to.folder) === 'same')
    return `PINs stay valid: ${secretIn(to.folder)} has the same secret.`;
  throw new UsageError(
    `${secretIn(to.folder)} differs from the secret of ${from.folder}, so PINs would become invalid; choose an empty folder.`,
  );
}

/** One line that is rewritten on a terminal, a line every 5 seconds elsewhere. */
function createMigrationProgress() {
  const out = process.stderr;
  const everyMs = out.isTTY ? 100 : 5000;
  let shownAt = out.isTTY ? Number.NEGATIVE_INFINITY : performance.now();
  return {
    show({ phase, rooms, totalRooms, bytes }: Progress) {
      const isLast = out.isTTY && rooms === totalRooms;
      if (performance.now() - shownAt < everyMs && !isLast) return;
      shownAt = performance.now();
      const sentence = `${phase}: ${rooms} of ${totalRooms} rooms, ${formatBytes(bytes)} of files`;
      out.write(out.isTTY ? `\r\x1b[K${sentence}` : `${sentence}\n`);
    },
    clear() {
      if (out.isTTY) out.write('\r\x1b[K');
    },
  };
}
