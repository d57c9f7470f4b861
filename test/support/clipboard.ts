/** A clipboard for tests of the command line: a file, behind a program like xclip. */
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cli } from './cli.ts';
import { eventually } from './eventually.ts';

/** As xclip does, it fails on an empty clipboard, and one that writes stays to serve what it was given. */
export const xclip = `#!/bin/sh
case "$*" in
  "-selection clipboard -out") echo look >> "$HOME/looks"; test -s "$HOME/clipboard" && cat "$HOME/clipboard" ;;
  "-selection clipboard -in") cat > "$HOME/clipboard.new" && mv "$HOME/clipboard.new" "$HOME/clipboard"; sleep 2 & ;;
  *) exit 2 ;;
esac
`;

/** It is used if the environment has a DISPLAY. */
export const installXclip = (cli: Cli): Promise<void> => installProgram(cli, 'xclip', xclip);

export async function installProgram(cli: Cli, name: string, script: string): Promise<void> {
  await writeFile(join(cli.bin, name), script);
  await chmod(join(cli.bin, name), 0o755);
}

/** Writes atomically, so that no reader sees a partial text. */
export async function copy(cli: Cli, text: string | Uint8Array): Promise<void> {
  await writeFile(join(cli.home, 'copied'), text);
  await rename(join(cli.home, 'copied'), join(cli.home, 'clipboard'));
}

export const pasted = (cli: Cli) => readFile(join(cli.home, 'clipboard'), 'utf8').catch(() => undefined);

export const holds = (cli: Cli, text: string) =>
  eventually(`the clipboard holds ${text}`, async () => (await pasted(cli)) === text);
