/** The server's limits, which the server writes into index.html. */

interface Limits {
  /** Seconds. */
  roomTtl: number;
  roomMaxTtl: number;
  /** Bytes. */
  contentMax: number;
  fileMax: number;
}

export const limits: Limits = JSON.parse(
  document.querySelector<HTMLMetaElement>('meta[name="poproom-limits"]')?.content ?? '{}',
);

/** The choices for the lifetime of a room, in seconds: the server's default and common values up to its maximum. */
export const lifetimes = [...new Set([600, 3600, 86_400, 604_800, limits.roomTtl])]
  .filter((seconds) => seconds <= limits.roomMaxTtl)
  .sort((a, b) => a - b);
