/**
 * Runs test files one after another in this process, each as a suite of its own. They share the loaded and compiled
 * modules, which are a quarter of the work of a small file.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { WorkerOptions } from 'node:worker_threads';

useBuiltThread();

/** Some tests wait for a timer that does not keep the process alive. */
const keepAlive = setInterval(() => undefined, 60_000);
for (const file of process.argv.slice(2)) {
  await describe(file, async () => {
    await import(pathToFileURL(resolve(file)).href);
  });
}
clearInterval(keepAlive);

/**
 * Starts the writer threads of SQLite from the file that `npm test` has just built. Loading its modules from source
 * takes 30 ms of CPU time more, for each store that a test opens.
 */
function useBuiltThread(): void {
  const built = resolve('dist/writer-thread.js');
  if (!existsSync(built)) return;
  const threads = process.getBuiltinModule('node:worker_threads');
  threads.Worker = class extends threads.Worker {
    constructor(file: string | URL, options?: WorkerOptions) {
      super(String(file).endsWith('/src/store/sqlite/writer-thread.ts') ? built : file, options);
    }
  };
}
