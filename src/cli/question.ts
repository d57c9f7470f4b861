/** Questions to the person at the terminal, also where standard input is a pipe. */
import { openSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { Ended, interrupted } from './failure.ts';

/** What is typed, without showing it; undefined where nobody can be asked. */
export function askHidden(question: string): Promise<string | undefined> {
  return ask(question, () => {});
}

/** Whether the answer is yes; undefined where nobody can be asked. */
export async function askWhether(question: string): Promise<boolean | undefined> {
  const answer = await ask(`${question} [y/N] `, (echo) => process.stderr.write(echo));
  return answer === undefined ? undefined : /^y(es)?$/i.test(answer.trim());
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

/** Ctrl-C, Ctrl-D and a terminal that is closed all mean that no answer will come. */
function typedLine(terminal: ReadStream, show: (echo: string) => void): Promise<string> {
  terminal.setEncoding('utf8');
  let line = '';
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Ended(interrupted));
    terminal.on('error', giveUp).on('end', giveUp);
    terminal.on('data', (keys: string) => {
      // Arrows and the like come as an escape and what it means.
      if (keys.startsWith('\x1b')) return;
      for (const key of keys) {
        if (key === ctrlC || key === ctrlD) return giveUp();
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
