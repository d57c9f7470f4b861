/** A clipboard that is not there, or does not work; the sentence says what to do. */
export class ClipboardError extends Error {}
