/** Request ids that are unique across restarts: a random prefix for this run, which is not secret, and a number. */

export function createRequestIds(): () => string {
  const run = Math.random().toString(36).slice(2, 10).padEnd(8, '0');
  let number = 0;
  return () => {
    number += 1;
    return `${run}-${number.toString(36)}`;
  };
}
