/** The room that was chosen for what another app shared. */

let chosen: string | undefined;

export function sendSharedTo(code: string): void {
  chosen = code;
}

/** Says so once. */
export function isDestination(code: string): boolean {
  const isIt = chosen === code;
  if (isIt) chosen = undefined;
  return isIt;
}
