/** Ids that are unique over restarts and cheap to make: a random name of this run, and a number. */
import { randomBytes } from 'node:crypto';

export function createRequestIds(): () => string {
  const run = randomBytes(6).toString('base64url');
  let number = 0;
  return () => {
    number += 1;
    return `${run}-${number.toString(36)}`;
  };
}
