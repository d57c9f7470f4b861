/** How `poproom fetch` treats a file that already exists: `--existing` and `--force`. */
import { basename, dirname, join } from 'node:path';
import { numbered } from '../../core/files/local-name.ts';
import type { Input } from '../command.ts';
import { FileError } from '../file-error.ts';
import { printable } from '../printable.ts';
import { UsageError } from '../usage-error.ts';
import { createOnly, isDevice, type Publish, replaceExisting } from './atomic-write.ts';
import { assertNotExisting, exists } from './destination.ts';

export const existingChoices = ['fail', 'skip', 'rename', 'overwrite'] as const;
export type ExistingChoice = (typeof existingChoices)[number];

export function readExistingChoice(input: Input): ExistingChoice {
  const text = input.value('existing');
  if (text === undefined) return input.isSet('force') ? 'overwrite' : 'fail';
  const choice = existingChoices.find((candidate) => candidate === text);
  if (!choice) throw new UsageError(`"${text}" is not a choice for --existing; use skip, rename, overwrite or fail.`);
  if (input.isSet('force') && choice !== 'overwrite') throw new UsageError('Use either --force or --existing.');
  return choice;
}

/** Returns the items to download. Fails before any download if one exists and the choice is `fail`. */
export async function withoutExisting<T extends { path: string }>(
  items: readonly T[],
  choice: ExistingChoice,
): Promise<readonly T[]> {
  if (choice === 'fail') await assertNotExisting(items);
  if (choice !== 'skip') return items;
  const kept: T[] = [];
  for (const item of items) {
    if (!(await exists(item.path)) || (await isDevice(item.path))) kept.push(item);
    else console.error(`Skipped ${printable(item.path)}: it already exists.`);
  }
  return kept;
}

/** `onRenamed` is called with the path that the file got instead. */
export function publishFor(choice: ExistingChoice, onRenamed: (path: string) => void): Publish {
  if (choice === 'overwrite') return replaceExisting;
  return choice === 'rename' ? createNumbered(onRenamed) : createOnly;
}

const maxNumber = 9999;

/** Such as "photo (2).jpg". Tries again if another program takes the name first. */
function createNumbered(onRenamed: (path: string) => void): Publish {
  return async (unfinished, path) => {
    for (let number = 1; number <= maxNumber; number++) {
      const name = number === 1 ? basename(path) : numbered(basename(path), ` (${number})`);
      const free = join(dirname(path), name);
      try {
        await createOnly(unfinished, free);
        if (number > 1) onRenamed(free);
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
    throw new FileError(`${path} exists ${maxNumber} times; remove some of these files.`);
  };
}
