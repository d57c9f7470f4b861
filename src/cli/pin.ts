/** PINs come from a prompt or the environment, never from an argument, which the shell history would keep. */
import { PoproomError } from '../client/index.ts';
import type { Environment } from './environment.ts';
import { isPin } from './pin-argument.ts';
import { printable } from './printable.ts';
import { askHidden } from './question.ts';
import { UsageError } from './usage-error.ts';

export function pinFromEnvironment({ pin }: Environment): string | undefined {
  if (pin === undefined || isPin(pin)) return pin;
  throw new UsageError('POPROOM_PIN must be four digits.');
}

export function newPinFromEnvironment({ newPin }: Environment): string | undefined {
  if (newPin === undefined || isPin(newPin)) return newPin;
  throw new UsageError('POPROOM_NEW_PIN must be four digits.');
}

/** Prompts twice for a new PIN, because it is not shown. */
export async function choosePin(question: string, explainDifference: string, variable?: string): Promise<string> {
  const pin = await promptForPin(question, variable);
  if (pin === (await promptForPin('Repeat the PIN: '))) return pin;
  throw new UsageError(explainDifference);
}

export async function promptForPin(question: string, variable = 'POPROOM_PIN'): Promise<string> {
  const pin = await askPin(question);
  if (pin === undefined) throw new UsageError(`Cannot prompt for the PIN without a terminal; set ${variable}.`);
  return pin;
}

/** Prompts for another PIN if the error is about the PIN. Throws any other error. */
export async function retryPin(error: unknown, code: string): Promise<string> {
  if (!(error instanceof PoproomError)) throw error;
  const isWrong = error.code === 'PIN_INCORRECT' && error.details.lockedFor === undefined;
  if (!isWrong && error.code !== 'PIN_REQUIRED') throw error;
  if (isWrong) process.stderr.write(`${printable(error.message)}\n`);
  const pin = await askPin(`PIN of room ${code}: `);
  if (pin !== undefined) return pin;
  // The message of the server is about headers.
  throw new PoproomError('PIN_REQUIRED', 'This room is protected by a PIN; set POPROOM_PIN.');
}

/** Rejects invalid input locally, so that it does not use up a try. */
async function askPin(question: string): Promise<string | undefined> {
  for (;;) {
    const pin = await askHidden(question);
    if (pin === undefined || isPin(pin)) return pin;
    process.stderr.write('A PIN has four digits.\n');
  }
}
