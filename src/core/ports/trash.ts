/** Bytes that no file references any more. */

/** Names of blobs. A room or a file that ends moves its blobs here, in the same step. */
export interface TrashStore {
  /** Blobs that no file references any more. */
  listTrash(limit: number): Promise<string[]>;
  /** Deletes the entries of removed blobs. */
  clearTrash(blobs: readonly string[]): Promise<void>;
  /** Which of these names of blobs, finished or not, belong to a file or are in the trash. */
  knownBlobs(names: readonly string[]): Promise<Set<string>>;
}

/** For a store that several nodes share. */
export interface TrashClaims {
  /** Claims blobs for removal, so that no other node removes them for a while. Returns those that were claimed. */
  claim(blobs: readonly string[], now: number): Promise<readonly string[]>;
  /** Releases the claim on blobs that could not be removed. */
  release(blobs: readonly string[]): Promise<void>;
}
