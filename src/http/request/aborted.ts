/** Bodies that will not come whole: their sender left, sent what is none, or took too long. */
import type { IncomingMessage } from 'node:http';
import { PoproomError } from '../../core/errors.ts';

export const tookTooLong = 'The request took too long to arrive.';

/** Whoever reads a body listens here, and refuses it: a sender that is only slow is still there to be told. */
export function onAborted(raw: IncomingMessage, refuse: (reason: PoproomError) => void): void {
  const leave = () => refuse(new PoproomError('VALIDATION_FAILED', 'The request ended before its body did.'));
  // The sender's doing either way: no failure of ours. With `on`, since `once` costs more and each comes once.
  raw.on('error', leave).on('close', () => raw.complete || leave());
  raw.on('timeout', () => refuse(new PoproomError('VALIDATION_FAILED', tookTooLong)));
}
