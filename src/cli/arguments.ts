/** Rejects arguments that a command does not take. */
import type { Input } from './command.ts';
import { UsageError } from './usage-error.ts';

export function assertOnlyCode(command: string, { args }: Input): void {
  if (args.length > 1)
    throw new UsageError(`"poproom ${command}" takes only a room code; unexpected argument "${args[1]}".`);
}
