/** The room that the user chose for content shared from another app. */

let chosen: { code: string; shareId: string } | undefined;

export function sendShareTo(code: string, shareId: string): void {
  chosen = { code, shareId };
}

/** The id of the share for this room. Returns it only once. */
export function shareFor(code: string): string | undefined {
  if (chosen?.code !== code) return undefined;
  const { shareId } = chosen;
  chosen = undefined;
  return shareId;
}

/** The service worker stores each share in this cache under its own URL, with the time in this header. */
export const shareCacheOf = (basePath: string): string => `poproom-share${basePath}`;
export const sharedAt = 'X-Shared-At';
