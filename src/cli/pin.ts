/** PINs: four digits that are asked for, never said on the command line, where the history would keep them. */
import { PoproomError } from '../client/index.ts';
import type { Environment } from './environment.ts';
import { isPin } from './pin-argument.ts';
import { printable } from './printable.ts';
import { askHidden } from './question.ts';
import { UsageError } from './usage-error.ts';

/** That of the environment. */
export function givenPin({ pin }: Environment): string | undefined {
  if (pin === undefined || isPin(pin)) return pin;
  throw new UsageError('POPROOM_PIN must be four digits.');
}

export async function mustAskPin(question: string): Promise<string> {
  const pin = await askPin(question);
  if (pin === undefined) throw new UsageError('There is no terminal to ask for the PIN: set POPROOM_PIN.');
  return pin;
}

/** Asks for another one where that may help; else what was wrong is thrown. */
export async function betterPin(error: unknown, code: string): Promise<string> {
  if (!(error instanceof PoproomError)) throw error;
  const isWrong = error.code === 'PIN_INCORRECT' && error.details.lockedFor === undefined;
  if (!isWrong && error.code !== 'PIN_REQUIRED') throw error;
  if (isWrong) process.stderr.write(`${printable(error.message)}\n`);
  const pin = await askPin(`PIN of room ${code}: `);
  if (pin !== undefined) return pin;
  // What the server says is for those who write requests.
  throw new PoproomError('PIN_REQUIRED', 'This room is protected by a PIN: set POPROOM_PIN.');
}

/** What cannot be a PIN is not worth one of the few tries. */
async function askPin(question: string): Promise<string | undefined> {
  for (;;) {
    const pin = await askHidden(question);
    if (pin === undefined || isPin(pin)) return pin;
    process.stderr.write('A PIN is four digits.\n');
  }
}
