/** The room that was chosen for what another app shared. */

let chosen: { code: string; shareId: string } | undefined;

export function sendShareTo(code: string, shareId: string): void {
  chosen = { code, shareId };
}

/** The id of the share that is for this room; once. */
export function shareFor(code: string): string | undefined {
  if (chosen?.code !== code) return undefined;
  const { shareId } = chosen;
  chosen = undefined;
  return shareId;
}
