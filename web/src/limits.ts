/** The limits of this server, which it writes into the page. */

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
