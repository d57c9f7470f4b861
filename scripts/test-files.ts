/**
 * Runs test files one after another in this process, each as a suite of its own. They share the loaded and compiled
 * modules, which are a quarter of the work of a small file.
 */
import { resolve } from 'node:path';
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';

/** Some tests wait for a timer that does not keep the process alive. */
const keepAlive = setInterval(() => undefined, 60_000);
for (const file of process.argv.slice(2)) {
  await describe(file, async () => {
    await import(pathToFileURL(resolve(file)).href);
  });
}
clearInterval(keepAlive);
