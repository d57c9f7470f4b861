/** The path of Chromium on this machine: POPROOM_CHROMIUM, or a usual place. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The shell is the same engine without windows: our tests take half as long in it. */
const shell = 'chromium-headless-shell';
const names = [shell, 'chromium', 'chromium-browser', 'google-chrome'];

export const chromiumMissing =
  'The browser tests need Chromium: on Debian, "sudo apt-get install chromium-headless-shell"; or name one by POPROOM_CHROMIUM.';

export function findChromium(): string | undefined {
  const named = process.env.POPROOM_CHROMIUM;
  if (named && !existsSync(named)) throw new Error(`There is no browser at ${named}, which POPROOM_CHROMIUM names.`);
  return named || [...onThePath(), '/usr/bin/chromium'].find((path) => existsSync(path));
}

/** Whether this is the browser that was asked for, or the one that is best. */
export function hasFittingChromium(): boolean {
  const found = findChromium();
  return found !== undefined && (found === process.env.POPROOM_CHROMIUM || found.endsWith(shell));
}

function onThePath(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name)));
}
