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
