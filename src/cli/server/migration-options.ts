/** Parses the options of `poproom migrate`. Messages do not repeat URLs, which may contain a password. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type EnginePlace, isSameStore, readFilesPlace, readStorePlace } from '../../engine/location.ts';
import type { Input } from '../command.ts';
import { UsageError } from '../usage-error.ts';

export interface MigrationOptions {
  from: EnginePlace;
  to: EnginePlace;
}

export function readOptions({ args, value }: Input): MigrationOptions {
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
  if ('folder' in store && !existsSync(join(store.folder, 'poproom.db'))) {
    throw new UsageError(`There is no Poproom data in ${store.folder}.`);
  }
  if ('folder' in files && !existsSync(files.folder)) {
    throw new UsageError(`The folder ${files.folder} does not exist; set --from-files to where the files are.`);
  }
}

function assertFolders({ store, files }: EnginePlace): void {
  for (const place of [store, files]) {
    if (!('folder' in place) || !existsSync(place.folder) || statSync(place.folder).isDirectory()) continue;
    throw new UsageError(`${place.folder} is not a folder.`);
  }
}
