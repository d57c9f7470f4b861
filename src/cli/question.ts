/** Prompts on the terminal, even if standard input is a pipe. */
import { openSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { ExitError, interrupted } from './failure.ts';

/** Reads a line without echo. Returns undefined if there is no terminal. */
export function askHidden(question: string): Promise<string | undefined> {
  return ask(question, () => {});
}

/** Asks a yes-or-no question. Returns undefined if there is no terminal. */
export async function confirm(question: string): Promise<boolean | undefined> {
  const answer = await ask(`${question} [y/N] `, (echo) => process.stderr.write(echo));
  return answer === undefined ? undefined : /^y(es)?$/i.test(answer.trim());
}

/** The same, but Enter means yes. */
export async function confirmByDefault(question: string): Promise<boolean | undefined> {
  const answer = await ask(`${question} [Y/n] `, (echo) => process.stderr.write(echo));
  return answer === undefined ? undefined : !/^no?$/i.test(answer.trim());
}

async function ask(question: string, show: (echo: string) => void): Promise<string | undefined> {
  const terminal = openTerminal();
  if (!terminal) return undefined;
  terminal.setRawMode(true);
  process.stderr.write(question);
  try {
    return await typedLine(terminal, show);
  } finally {
    terminal.setRawMode(false);
    terminal.destroy();
    process.stderr.write('\n');
  }
}

function openTerminal(): ReadStream | undefined {
  try {
    return new ReadStream(openSync(process.platform === 'win32' ? 'CONIN$' : '/dev/tty', 'r'));
  } catch {
    return undefined;
  }
}

const ctrlC = '\x03';
const ctrlD = '\x04';
const enter = ['\r', '\n'];
const erase = ['\x7f', '\b'];

/** Ctrl-C, Ctrl-D and a closed terminal end the command. */
function typedLine(terminal: ReadStream, show: (echo: string) => void): Promise<string> {
  terminal.setEncoding('utf8');
  let line = '';
  return new Promise((resolve, reject) => {
    const cancel = () => reject(new ExitError(interrupted));
    terminal.on('error', cancel).on('end', cancel);
    terminal.on('data', (keys: string) => {
      // Arrow keys and the like arrive as escape sequences.
      if (keys.startsWith('\x1b')) return;
      for (const key of keys) {
        if (key === ctrlC || key === ctrlD) return cancel();
        if (enter.includes(key)) return resolve(line);
        if (!erase.includes(key)) {
          line += key;
          show(key);
        } else if (line !== '') {
          line = line.slice(0, -1);
          show('\b \b');
        }
      }
    });
  });
}
