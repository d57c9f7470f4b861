/** `poproom completion`: prints a script by which a shell completes commands and options. */
import type { Command, Input } from './command.ts';
import { bashScript } from './completion/bash.ts';
import { fishScript } from './completion/fish.ts';
import { zshScript } from './completion/zsh.ts';
import { UsageError } from './usage-error.ts';

const scripts = new Map<string | undefined, (commands: readonly Command[]) => string>([
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
]);

/** The table of commands loads this file, and so hands itself over. */
export const completionOf =
  (commands: readonly Command[]) =>
  async ({ args }: Input): Promise<void> => {
    const script = args.length === 1 ? scripts.get(args[0]) : undefined;
    if (!script) throw new UsageError('Which shell? Say one: poproom completion bash, zsh or fish.');
    console.log(script(commands));
  };
