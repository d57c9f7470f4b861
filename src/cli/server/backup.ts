/** `poproom backup`: backs up the embedded engine into one file, and restores it. */
import { type BackupFolders, type BackupReport, backUp, restore } from '../../backup/backup.ts';
import { BackupError } from '../../backup/tar.ts';
import { type Config, readConfig } from '../../config.ts';
import { PoproomError } from '../../core/errors.ts';
import { filesPlaceOf } from '../../engine/open.ts';
import type { Input } from '../command.ts';
import { ExitError, exitCode, UsageError, withFileErrors } from '../errors.ts';
import { countOf, formatBytes, print } from '../output.ts';
import { createProgress, type Progress } from '../progress.ts';

export async function backup(input: Input): Promise<void> {
  const isRestore = input.args[0] === 'restore';
  const [file, ...more] = isRestore ? input.args.slice(1) : input.args;
  if (file === undefined || more.length > 0)
    throw new UsageError('Give one file, such as "poproom backup poproom.tar"; see poproom backup --help.');
  const replace = input.isSet('replace');
  if (replace && !isRestore) throw new UsageError('--replace is for "poproom backup restore".');
  const config = readConfig();
  const folders = foldersOf(config);
  const report = await withProgress(isRestore ? 'restoring' : 'backing up', (watch) =>
    withFileErrors(file, () =>
      isRestore
        ? restore({ ...folders, ...watch, source: file, replace })
        : backUp({ ...folders, ...watch, target: file }),
    ),
  );
  const restored = `Restored ${contents(report)} into ${config.dataDir}.`;
  print(input, report, isRestore ? restored : backedUp(report, file, config));
}

/** With Redis or S3, their own tools make consistent copies. */
function foldersOf(config: Config): BackupFolders {
  const place = filesPlaceOf(config);
  if (config.store === 'sqlite:' && 'folder' in place) return { data: config.dataDir, files: place.folder };
  throw new UsageError(
    'This server keeps its data in Redis or S3; back up Redis with "redis-cli --rdb" and the bucket with "aws s3 sync", see docs/operations.md.',
  );
}

type Watch = { signal: AbortSignal; onStart: (bytes: number) => void; onBytes: (bytes: number) => void };

/** Ctrl-C stops it between two files, and leaves nothing behind. */
async function withProgress(name: string, work: (watch: Watch) => Promise<BackupReport>): Promise<BackupReport> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  let progress: Progress | undefined;
  const onStart = (bytes: number) => {
    progress = createProgress(name, bytes);
    progress.show(0);
  };
  try {
    return await work({ signal: stopping.signal, onStart, onBytes: (bytes) => progress?.show(bytes) });
  } catch (error) {
    if (stopping.signal.aborted) throw new ExitError(exitCode.interrupted);
    throw error instanceof BackupError ? new PoproomError('UNAVAILABLE', error.message, { cause: error }) : error;
  } finally {
    progress?.[Symbol.dispose]();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

const contents = ({ rooms, files, bytes, keys }: BackupReport) =>
  `${countOf(rooms, 'room')}, ${countOf(files, 'file')} (${formatBytes(bytes)}) and ${countOf(keys, 'key')}`;

function backedUp(report: BackupReport, file: string, { secret }: Config): string {
  const keep =
    secret === undefined
      ? 'It contains the secret and all texts; keep it in a safe place.'
      : 'It does not contain POPROOM_SECRET, without which no PIN works; keep both in a safe place.';
  const left = report.missing > 0 ? [`Left out ${countOf(report.missing, 'file')} without bytes.`] : [];
  return [`Backed up ${contents(report)} to ${file}.`, ...left, keep].join('\n');
}
