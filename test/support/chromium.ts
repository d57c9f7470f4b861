/** Finds Chromium: POPROOM_CHROMIUM, the PATH, or /usr/bin. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The same engine without windows. Our tests take half as long in it. */
const shell = 'chromium-headless-shell';
const names = [shell, 'chromium', 'chromium-browser', 'google-chrome'];

export const chromiumMissing =
  'The browser tests need Chromium: on Debian, "sudo apt-get install chromium-headless-shell"; or set POPROOM_CHROMIUM to the path of a browser.';

export function findChromium(): string | undefined {
  const named = process.env.POPROOM_CHROMIUM;
  if (named && !existsSync(named)) throw new Error(`POPROOM_CHROMIUM is set to ${named}, which does not exist.`);
  return named || [...pathCandidates(), '/usr/bin/chromium'].find((path) => existsSync(path));
}

/** One with everything that the shell lacks, such as a viewer for PDF files. Undefined if only the shell is installed. */
export const findFullChromium = (): string | undefined =>
  [process.env.POPROOM_CHROMIUM ?? '', ...pathCandidates(), '/usr/bin/chromium'].find(
    (path) => !path.endsWith(shell) && existsSync(path),
  );

/** Whether the browser is the configured one or the headless shell, which is faster. */
export function hasPreferredChromium(): boolean {
  const found = findChromium();
  return found !== undefined && (found === process.env.POPROOM_CHROMIUM || found.endsWith(shell));
}

function pathCandidates(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name)));
}
