/** The fingerprint of the server's secret, by which a start with another secret is noticed. */

export interface SecretRecord {
  find(): Promise<string | undefined>;
  /** Stores the fingerprint if there is none. Returns the stored one. */
  keep(fingerprint: string): Promise<string>;
  replace(fingerprint: string): Promise<void>;
}
