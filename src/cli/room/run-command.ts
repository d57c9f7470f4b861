/** Runs a command in the user's shell. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { environmentWith, readEnvironment } from '../environment.ts';

export interface ShellCommand {
  command: string;
  /** Written to its standard input. */
  input: string;
  env: Readonly<Record<string, string>>;
  /** Terminates the command. */
  signal: AbortSignal;
}

/** Exit code of a shell that cannot find the command. */
const notFound = 127;

/** Returns the exit code; if a signal ended the command, 128 plus its number, as shells do. */
export function runCommand({ command, input, env, signal }: ShellCommand): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, {
      shell: readEnvironment().shell,
      env: environmentWith(env),
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    const terminate = () => void child.kill('SIGTERM');
    signal.addEventListener('abort', terminate, { once: true });
    const settle = (code: number) => {
      signal.removeEventListener('abort', terminate);
      resolve(code);
    };
    child.on('error', () => settle(notFound));
    child.on('close', (code, signal) => settle(code ?? 128 + constants.signals[signal ?? 'SIGTERM']));
    // The command may end without reading its input.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
