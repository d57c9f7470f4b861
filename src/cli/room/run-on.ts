/** Runs a command of the person's in their shell. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { environmentWith, readEnvironment } from '../environment.ts';

export interface Run {
  command: string;
  env: Readonly<Record<string, string>>;
  /** Ends it. */
  signal: AbortSignal;
}

/** What its shell says when there is no such command. */
const notFound = 127;

/** With the text on its standard input; answers its exit code, or what a shell says for the signal that ended it. */
export function runOn(text: string, { command, env, signal }: Run): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, {
      shell: readEnvironment().shell,
      env: environmentWith(env),
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    const end = () => void child.kill('SIGTERM');
    signal.addEventListener('abort', end, { once: true });
    const settle = (code: number) => {
      signal.removeEventListener('abort', end);
      resolve(code);
    };
    child.on('error', () => settle(notFound));
    child.on('close', (code, signal) => settle(code ?? 128 + constants.signals[signal ?? 'SIGTERM']));
    // It need not read what it is given.
    child.stdin.on('error', () => undefined);
    child.stdin.end(text);
  });
}
