/** The options of `poproom migrate`: from where to where. No message repeats an address, which may hold a password. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type EnginePlace, isSameStore, readFilesPlace, readStorePlace } from '../engine-place.ts';
import { UsageError } from './usage-error.ts';

export interface MigrationOptions {
  from: EnginePlace;
  to: EnginePlace;
}

export function readOptions(args: string[]): MigrationOptions {
  const { values, positionals } = parse(args);
  if (positionals.length > 0) throw new UsageError('"poproom migrate" takes options only; see its --help.');
  if (!values.from || !values.to) throw new UsageError('Say --from where and --to where; see poproom migrate --help.');
  const from = readPlace('--from', values.from, values['from-files']);
  const to = readPlace('--to', values.to, values['to-files']);
  mustHaveData(from);
  mustBeFolders(to);
  if (isSameStore(from.store, to.store)) throw new UsageError('--from and --to are the same.');
  return { from, to };
}

const text = { type: 'string' } as const;
const options = { from: text, to: text, 'from-files': text, 'to-files': text };

function parse(args: string[]) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    // What follows the first sentence is advice for programmers.
    throw new UsageError(`${(error as Error).message.split(/[.\n]/, 1)[0]}; see poproom migrate --help.`);
  }
}

function readPlace(option: '--from' | '--to', store: string, files: string | undefined): EnginePlace {
  const place = naming(option, () => readStorePlace(store));
  if (files !== undefined) return { store: place, files: naming(`${option}-files`, () => readFilesPlace(files)) };
  if ('folder' in place) return { store: place, files: { folder: join(place.folder, 'files') } };
  throw new UsageError(`Redis keeps no files: say where they are with ${option}-files disk:FOLDER or s3://BUCKET.`);
}

function naming<T>(option: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`${option} ${(error as Error).message}.`);
  }
}

/** A folder that was mistyped must not be made, and then be found to be empty. */
function mustHaveData({ store, files }: EnginePlace): void {
  if ('folder' in store && !existsSync(join(store.folder, 'poproom.db'))) {
    throw new UsageError(`There is no Poproom data in ${store.folder}.`);
  }
  if ('folder' in files && !existsSync(files.folder)) {
    throw new UsageError(`There is no folder ${files.folder}; say with --from-files where the files are.`);
  }
}

function mustBeFolders({ store, files }: EnginePlace): void {
  for (const place of [store, files]) {
    if (!('folder' in place) || !existsSync(place.folder) || statSync(place.folder).isDirectory()) continue;
    throw new UsageError(`${place.folder} is not a folder.`);
  }
}
