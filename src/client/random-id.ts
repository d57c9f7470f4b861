/** Ids of devices and texts that the program did not name. */

/** 16 letters and digits. `crypto.randomUUID` is not available on pages without TLS. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join('');
}
