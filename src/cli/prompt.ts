/** Reads the user's input: answers, PINs and room keys at the terminal, and texts on standard input. */
import { isUtf8 } from 'node:buffer';
import { fstatSync, openSync, readFileSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { EncryptionError, PoproomError, parseLinkId } from '../client/index.ts';
import { type Input, isPin, keyIn } from './command.ts';
import type { Environment } from './environment.ts';
import { ExitError, exitCode, UsageError } from './errors.ts';
import { printable } from './output.ts';

/** Reads a line without echo. Returns undefined if there is no terminal. */
export const askHidden = (question: string): Promise<string | undefined> => ask(question, () => {});

/** Ends the command unless the user agrees. Scripts and `--yes` are not asked. `prepare` may fail before the prompt. */
export async function mustConfirm(input: Input, question: string, prepare?: () => Promise<unknown>): Promise<void> {
  if (!process.stdin.isTTY || input.isSet('yes')) return;
  await prepare?.();
  const answer = await ask(`${question} [y/N] `, echoToTerminal);
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) throw new ExitError(exitCode.other);
}

/** Asks a yes-or-no question where Enter means yes. Returns undefined if there is no terminal. */
export async function confirmByDefault(question: string): Promise<boolean | undefined> {
  const answer = await ask(`${question} [Y/n] `, echoToTerminal);
  return answer === undefined ? undefined : !/^no?$/i.test(answer.trim());
}

const echoToTerminal = (echo: string) => void process.stderr.write(echo);

/** On the terminal, even if standard input is a pipe. */
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

const cancelKeys = ['\x03', '\x04'];
const enter = ['\r', '\n'];
const erase = ['\x7f', '\b'];

/** Ctrl-C, Ctrl-D and a closed terminal end the command. */
function typedLine(terminal: ReadStream, show: (echo: string) => void): Promise<string> {
  terminal.setEncoding('utf8');
  let line = '';
  return new Promise((resolve, reject) => {
    const cancel = () => reject(new ExitError(exitCode.interrupted));
    terminal.on('error', cancel).on('end', cancel);
    terminal.on('data', (keys: string) => {
      // Arrow keys and the like arrive as escape sequences.
      if (keys.startsWith('\x1b')) return;
      for (const key of keys) {
        if (cancelKeys.includes(key)) return cancel();
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

/** PINs come from a prompt or the environment, never from an argument, which the shell history would keep. */
export const pinFromEnvironment = ({ pin }: Environment) => pinIn('POPROOM_PIN', pin);
export const newPinFromEnvironment = ({ newPin }: Environment) => pinIn('POPROOM_NEW_PIN', newPin);

function pinIn(variable: string, pin: string | undefined): string | undefined {
  if (pin === undefined || isPin(pin)) return pin;
  throw new UsageError(`${variable} must be four digits.`);
}

/** Prompts twice for a new PIN, because it is not shown. `effect` is that of two different ones. */
export async function choosePin(name: string, effect: string, variable?: string): Promise<string> {
  const pin = await promptForPin(`${name} (four digits): `, variable);
  if (pin === (await promptForPin('Repeat the PIN: '))) return pin;
  throw new UsageError(`The two PINs differ; ${effect}.`);
}

export const promptForPin = (question: string, variable = 'POPROOM_PIN'): Promise<string> =>
  askPin(question, new UsageError(`Cannot prompt for the PIN without a terminal; set ${variable}.`));

type Secrets = { pin?: string | undefined; key?: string | undefined };

/**
 * Prompts for the PIN or the key if the error says that it is missing or wrong. Throws any other error. `given` was set by
 * a script, which cannot answer a prompt.
 */
export async function askAgain(error: unknown, code: string, given: Secrets): Promise<Secrets> {
  if (!(error instanceof PoproomError)) throw error;
  const [, secret, problem] = /^(PIN|KEY)_(REQUIRED|INCORRECT)$/.exec(error.code) ?? [];
  const isGiven = given.key !== undefined || (secret === 'PIN' && given.pin !== undefined);
  if (secret === undefined || isGiven || error.details.lockedFor !== undefined) throw error;
  if (problem === 'INCORRECT') process.stderr.write(`${printable(error.message)}\n`);
  if (secret === 'KEY') return { key: await requireKey(code) };
  // The message of the server is about headers.
  const required = new PoproomError('PIN_REQUIRED', 'This room is protected by a PIN; set POPROOM_PIN.');
  return { pin: await askPin(`PIN of room ${code}: `, required) };
}

/** Rejects invalid input locally, so that it does not use up a try. */
async function askPin(question: string, withoutTerminal: Error): Promise<string> {
  for (;;) {
    const pin = await askHidden(question);
    if (pin === undefined) throw withoutTerminal;
    if (isPin(pin)) return pin;
    process.stderr.write('A PIN has four digits.\n');
  }
}

/**
 * Prompts for the key of an encrypted room, or for the keys of a link to one. Accepts a key or a link. A typo is detected
 * locally, so that it does not use up a try. Fails without a terminal.
 */
export async function requireKey(code: string): Promise<string> {
  const { parseRoomKey } = await import('../client/crypto/room-key.ts');
  const { parseFragment } = await import('../client/crypto/keys.ts');
  const isLink = parseLinkId(code) !== undefined;
  for (;;) {
    const text = await askHidden(isLink ? 'Whole link, with the part after #: ' : `Key of room ${code}: `);
    if (text === undefined) throw new PoproomError('KEY_REQUIRED', isLink ? linkKeysRequired : roomKeyRequired);
    const key = keyIn(text);
    try {
      if (!isLink) return parseRoomKey(key);
      parseFragment(key);
      return key;
    } catch (error) {
      if (!(error instanceof EncryptionError)) throw error;
      process.stderr.write(`${error.message}\n`);
    }
  }
}

const roomKeyRequired = 'This room is encrypted; set POPROOM_ROOM_KEY to its room key.';
const linkKeysRequired =
  'This link is to an encrypted room, and its part after # is missing; pass - and pipe in the whole link, or set POPROOM_ROOM_KEY to it.';

/** No server accepts more. Without a limit, a device such as /dev/zero would never end. */
const maxBytes = 64 * 1024 ** 2;

/** Whether standard input is a pipe, a file or a socket, not a terminal or nothing. */
export function isPiped(): boolean {
  const input = fstatSync(0);
  return input.isFIFO() || input.isFile() || input.isSocket();
}

/**
 * Whether another program has read a part of the file that is standard input, as the `read` of a shell loop does. The rest
 * of the file is then for that program. Only Linux shows the position in a file, and a pipe has none.
 */
export function isPartlyRead(): boolean {
  try {
    return fstatSync(0).isFile() && !/^pos:\s+0$/m.test(readFileSync('/proc/self/fdinfo/0', 'utf8'));
  } catch {
    return false;
  }
}

export async function readInputText(): Promise<string> {
  if (fstatSync(0).isDirectory()) throw new UsageError('Standard input is a folder.');
  const bytes = await firstBytes(process.stdin, maxBytes);
  if (bytes.length > maxBytes) throw new PoproomError('CONTENT_TOO_LARGE', 'A text may have at most 64 MiB.');
  // The end of a typed text is not shown, so the shell prompt would follow on the same line.
  if (process.stdin.isTTY && process.stderr.isTTY && bytes.at(-1) !== 10) process.stderr.write('\n');
  if (isUtf8(bytes)) return bytes.toString();
  throw new UsageError('Standard input is not UTF-8 text; use "poproom send" for other files.');
}

/** All bytes, or one more than the maximum if there are more. */
export async function firstBytes(stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, most: number) {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > most) break;
  }
  return Buffer.concat(chunks).subarray(0, most + 1);
}
