/** Ids that are unique over restarts and cheap to make: a random name of this run, which is no secret, and a number. */

export function createRequestIds(): () => string {
  const run = Math.random().toString(36).slice(2, 10).padEnd(8, '0');
  let number = 0;
  return () => {
    number += 1;
    return `${run}-${number.toString(36)}`;
  };
}
