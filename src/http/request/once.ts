/** Whether an upload is a one-time file: the same values in a query, a form and the metadata of tus. */
import { PoproomError } from '../../core/errors.ts';

/** An HTML checkbox sends `on`, and a flag without a value is empty. */
const values: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  on: true,
  '': true,
  false: false,
  '0': false,
};

/** Rejects unknown values, because ignoring one would make the file public to the room. */
export function parseOnce(text: string | null | undefined): boolean {
  if (text === null || text === undefined) return false;
  const isOnce = Object.hasOwn(values, text) ? values[text] : undefined;
  if (isOnce !== undefined) return isOnce;
  throw new PoproomError('VALIDATION_FAILED', '"once" must be true or false.', { details: { field: 'once' } });
}
