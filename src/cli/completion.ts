/** `poproom completion`: prints a shell completion script. */
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

/** Takes the commands as an argument, because commands.ts imports this file. */
export const completionOf =
  (commands: readonly Command[]) =>
  async ({ args }: Input): Promise<void> => {
    const script = args.length === 1 ? scripts.get(args[0]) : undefined;
    if (!script) throw new UsageError('Which shell? Run poproom completion with bash, zsh or fish.');
    console.log(script(commands));
  };
