/** Whether the page in dist/web is up to date with its sources. */
import { globSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Folders count too: the removal of a file changes nothing else. */
const sources = [
  'web',
  'web/**',
  'src/{client,protocol,text,zip}',
  'src/{client,protocol,text,zip}/**',
  'src/core/files/local-name.ts',
  'scripts/build*.ts',
];

export async function pageIsFresh(root: string): Promise<boolean> {
  const builtAt = await changedAt(join(root, 'dist/web/index.html'));
  const names = ['package-lock.json', ...globSync(sources, { cwd: root })];
  const changes = await Promise.all(names.map((name) => changedAt(join(root, name))));
  return changes.every((at) => at < builtAt);
}

/** 0 for what is not there: a page that was never built is older than anything. */
async function changedAt(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
